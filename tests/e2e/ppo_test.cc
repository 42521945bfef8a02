// PPO with a critic, ReMax and KL in the reward through the binary: what a step makes of them, the laws that hold for
// every run, and a reward that rises.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/learning.h"

namespace hone::test {
namespace {

class Ppo : public Taught {
 protected:
  static Arguments command(const std::string& name, const Arguments& more) {
    const std::string actor = "actor_rollout_ref.actor.";
    return tiny_train(inputs_->path(), folder(name)) +
           Arguments{"actor_rollout_ref.model.path=" + last_checkpoint(folder("sft")),
                     "actor_rollout_ref.rollout.max_num_batched_tokens=2048",
                     actor + "ppo_max_token_len_per_gpu=1000",
                     actor + "entropy_coeff=0",
                     actor + "optim.lr=1e-3",
                     "critic.optim.lr=1e-3"} +
           more;
  }
  static std::string run(const std::string& name, const Arguments& more) {
    const Result result = run_hone(inputs_->path(), command(name, more));
    EXPECT_EQ(result.code, 0) << result.err;
    return folder(name);
  }
  // What the undisturbed run has is what one that is killed after so many steps has at its end.
  static void expect_same_after_kill(const std::string& name, const Arguments& more, int64_t lines) {
    const auto expected = bits_of(run(name + "_undisturbed", more));
    EXPECT_EQ(difference(expected, bits_of(run(name + "_threads", more + Arguments{"trainer.num_threads=2"}))), "");
    Command killed(inputs_->path(), command(name + "_killed", more));
    ASSERT_TRUE(killed.wait_until([&] { return num_lines(folder(name + "_killed") + "/metrics.jsonl") >= lines; }));
    killed.send(SIGKILL);
    ASSERT_EQ(killed.wait(), 1000 + SIGKILL);
    EXPECT_EQ(difference(expected, bits_of(run(name + "_killed", more))), "");
  }
};

const Arguments kGae{"algorithm.adv_estimator=gae", "actor_rollout_ref.rollout.n=2", "algorithm.lam=0.9",
                     "algorithm.gamma=0.99"};

TEST_F(Ppo, ACriticBeginsAtTheValueZeroAndLearnsBeforeThePolicyWhereAsked) {
  const std::string whole = run("warmup", kGae + Arguments{"trainer.critic_warmup=4", "trainer.total_training_steps=6",
                                                           "trainer.save_freq=3", "critic.ppo_epochs=3"});
  const auto values = metric(whole, "critic/values/mean"), updates = metric(whole, "training/num_updates"),
             loss = metric(whole, "critic/vf_loss");
  ASSERT_EQ(values.size(), 6u);
  EXPECT_EQ(values[0], 0.0);
  EXPECT_GT(std::abs(values[5]), 0.01);
  EXPECT_LT(loss[5], loss[0]);
  EXPECT_EQ(updates, (std::vector<double>{0, 0, 0, 2, 2, 2}));
  EXPECT_EQ(metric(whole, "actor/pg_loss").size(), 3u);
  const auto weights = [](const std::string& path) { return io::read_file(path + "/model.safetensors"); };
  EXPECT_EQ(weights(checkpoint_path(whole + "/checkpoints", 3)), weights(last_checkpoint(folder("sft"))))
      << "the policy is as it was";
  EXPECT_NE(weights(checkpoint_path(whole + "/checkpoints", 6)), weights(last_checkpoint(folder("sft"))));
}

TEST_F(Ppo, KilledAndResumedARunWithACriticIsTheSameBits) {
  expect_same_after_kill("gae", kGae + Arguments{"trainer.total_training_steps=6", "trainer.save_freq=2"}, 3);
  // a checkpoint whose state does not count the critic's updates
  const std::string state = last_checkpoint(folder("gae_threads")) + "/training_state/state.json";
  io::Json without = io::Json::object();
  const io::Json saved = io::read_json(state);
  for (const auto& [key, value] : saved.as_object()) {
    if (key != "critic_steps") without.set(key, value);
  }
  io::write_json(state, without);
  const Result result =
      run_hone(inputs_->path(), command("gae_threads", kGae + Arguments{"trainer.total_training_steps=8"}));
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("its state has no critic_steps"), std::string::npos) << result.err;
}

TEST_F(Ppo, KlIsTakenFromTheRewardByAWeightThatFollowsItAndIsSaved) {
  const Arguments kl{"algorithm.adv_estimator=reinforce_plus_plus",
                     "algorithm.use_kl_in_reward=true",
                     "algorithm.kl_penalty=low_var_kl",
                     "algorithm.kl_ctrl.type=adaptive",
                     "algorithm.kl_ctrl.kl_coef=0.5",
                     "algorithm.kl_ctrl.target_kl=0.01",
                     "algorithm.kl_ctrl.horizon=100",
                     "trainer.total_training_steps=6",
                     "trainer.save_freq=2"};
  expect_same_after_kill("kl", kl, 3);
  const std::string whole = folder("kl_undisturbed");
  const auto measured = metric(whole, "actor/reward_kl_penalty"), coef = metric(whole, "actor/reward_kl_penalty_coeff"),
             reward = metric(whole, "critic/rewards/mean"), score = metric(whole, "critic/score/mean");
  ASSERT_EQ(coef.size(), 6u);
  EXPECT_EQ(measured[0], 0.0) << "the policy is the reference";
  EXPECT_EQ(coef[0], 0.5);
  EXPECT_DOUBLE_EQ(coef[1], 0.5 * (1 - 0.2 * 12 / 100)) << "12 answers, far below the target";
  for (size_t step = 1; step < 6; ++step) {
    EXPECT_GT(measured[step], 0.0);
    EXPECT_LT(reward[step], score[step]);
    const double error = std::clamp(measured[step - 1] / 0.01 - 1, -0.2, 0.2);
    EXPECT_NEAR(coef[step], coef[step - 1] * (1 + error * 12 / 100), 1e-12);
  }
}

TEST_F(Ppo, ReMaxComparesWithTheGreedyAnswerToThePrompt) {
  const Arguments remax{"algorithm.adv_estimator=remax", "actor_rollout_ref.rollout.n=1",
                        "trainer.total_training_steps=4", "trainer.save_freq=2"};
  expect_same_after_kill("remax", remax, 2);
  const std::string whole = folder("remax_undisturbed");
  const auto baseline = metric(whole, "critic/baseline/mean"), score = metric(whole, "critic/score/mean"),
             advantage = metric(whole, "critic/advantages/max");
  ASSERT_EQ(baseline.size(), 4u);
  EXPECT_GT(*std::max_element(baseline.begin(), baseline.end()), 0.0);
  std::istringstream lines(io::read_file(whole + "/rollouts/1.jsonl"));
  double difference = 0, count = 0;
  for (std::string line; std::getline(lines, line);) {
    const io::Json row = io::parse_json(line, "rollouts");
    difference += row.at("score").as_double() - row.at("advantage").as_double();
    count += 1;
  }
  EXPECT_NEAR(difference / count, baseline[0], 1e-6) << "score minus advantage is the baseline";
}

TEST_F(Ppo, RewardRisesWithACritic) {
  const std::string learnt =
      run("learnt", {"algorithm.adv_estimator=gae", "actor_rollout_ref.rollout.n=4", "data.train_batch_size=16",
                     "actor_rollout_ref.actor.ppo_mini_batch_size=8", "trainer.critic_warmup=3", "critic.optim.lr=3e-3",
                     "trainer.total_training_steps=40"});
  const auto score = metric(learnt, "critic/score/mean");
  ASSERT_EQ(score.size(), 40u);
  EXPECT_GT(mean(score, 37, 40), mean(score, 0, 3) + 0.2);
  EXPECT_GT(metric(learnt, "critic/vf_explained_var").back(), 0.1);
}

TEST_F(Ppo, OptionsThatDoNotFitAreRefused) {
  const auto refused = [&](const Arguments& more, const std::string& says) {
    SCOPED_TRACE(says);
    const Result result = run_hone(inputs_->path(), command("refused", more + Arguments{"--check"}));
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
  };
  refused({"algorithm.kl_ctrl.kl_coef=0.5"}, "algorithm.kl_ctrl.kl_coef: 0.5 is refused: the KL it weighs is off");
  refused({"algorithm.use_kl_in_reward=true", "algorithm.filter_groups.enable=true",
           "algorithm.filter_groups.metric=seq_final_reward"},
          "algorithm.filter_groups.metric = seq_final_reward: expected acc, score or seq_reward");
  refused(kGae + Arguments{"critic.model.path=" + *inputs_ / "nothing"}, "nothing/config.json: not found");
  const Arguments adaptive{"algorithm.use_kl_in_reward=true", "algorithm.kl_ctrl.type=adaptive"};
  refused(adaptive + Arguments{"algorithm.kl_ctrl.horizon=2.4"},
          "algorithm.kl_ctrl.horizon = 2.4: expected above 2.4, a fifth of the 12 answers of a step");
  refused(adaptive + Arguments{"algorithm.kl_ctrl.horizon=0"}, "algorithm.kl_ctrl.horizon: expected above 0");
  refused(adaptive + Arguments{"algorithm.kl_ctrl.target_kl=0"}, "algorithm.kl_ctrl.target_kl: expected above 0");
  refused(adaptive + Arguments{"algorithm.kl_penalty=full"}, "algorithm.kl_penalty: expected one of kl, k1");
  refused({"algorithm.use_kl_in_reward=true", "algorithm.kl_ctrl.type=x"}, "expected one of fixed, adaptive");
  refused(kGae + Arguments{"critic.ppo_epochs=0"}, "critic.ppo_epochs: expected at least 1");
  refused(kGae + Arguments{"critic.optim.betas=[0.9]"}, "critic.optim.betas: expected two numbers, found 1");
  refused(kGae + Arguments{"critic.loss_agg_mode=mean"}, "critic.loss_agg_mode: expected one of token-mean");
  // a critic of its own folder is counted by its own size
  io::make_folders(*inputs_ / "wide");
  for (const char* file : {"tokenizer.json", "tokenizer_config.json"}) {
    if (io::exists(*inputs_ / "model/" + file)) {
      io::write_file(*inputs_ / "wide/" + file, io::read_file(*inputs_ / "model/" + file));
    }
  }
  io::Json wide = io::read_json(*inputs_ / "model/config.json");
  for (const char* key : {"hidden_size", "intermediate_size"}) wide.set(key, 100000);
  io::write_json(*inputs_ / "wide/config.json", wide);
  const Arguments dummy{"actor_rollout_ref.model.load_format=dummy",
                        "actor_rollout_ref.model.path=" + *inputs_ / "model"};
  refused(kGae + dummy + Arguments{"critic.model.path=" + *inputs_ / "wide"}, "this run does not fit: it needs");
  refused(kGae + Arguments{"critic.cliprange_value=0"}, "critic.cliprange_value: expected above 0");
}

}  // namespace
}  // namespace hone::test
