// DAPO through the binary: dynamic sampling with its limit and its surplus, overlong shaping, the laws that hold for
// every run, and a reward that rises.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/learning.h"

namespace hone::test {
namespace {

struct Row {
  uint64_t draw = 0;
  int64_t num_ids = 0;
  double score = 0, reward = 0;
  int64_t oldest = 0, newest = 0;  // versions
};

class Dapo : public Taught {
 protected:
  // Steps of 4 prompts out of generation batches of 6, with all that DAPO is.
  static Arguments command(const std::string& name, const Arguments& more) {
    const std::string actor = "actor_rollout_ref.actor.", overlong = "reward_model.reward_kwargs.overlong_buffer_cfg.";
    return tiny_train(inputs_->path(), folder(name)) +
           Arguments{"actor_rollout_ref.model.path=" + last_checkpoint(folder("sft")),
                     "actor_rollout_ref.rollout.n=6",
                     "actor_rollout_ref.rollout.max_num_batched_tokens=2048",
                     "data.gen_batch_size=6",
                     "algorithm.filter_groups.enable=true",
                     "algorithm.filter_groups.metric=acc",
                     "algorithm.filter_groups.max_num_gen_batches=10",
                     "reward_model.reward_manager=dapo",
                     overlong + "enable=true",
                     overlong + "len=9",
                     overlong + "penalty_factor=1.0",
                     actor + "ppo_max_token_len_per_gpu=1000",
                     actor + "clip_ratio_low=0.2",
                     actor + "clip_ratio_high=0.28",
                     actor + "clip_ratio_c=10.0",
                     actor + "entropy_coeff=0",
                     actor + "optim.lr=1e-3"} +
           more;
  }
  static std::string run(const std::string& name, const Arguments& more, int code = 0) {
    const Result result = run_hone(inputs_->path(), command(name, more));
    EXPECT_EQ(result.code, code) << result.err;
    return folder(name);
  }
  static std::vector<Row> rows_of(const std::string& run, int64_t step) {
    std::vector<Row> rows;
    for (const io::Json& json : rollouts_of(run, step)) {
      Row& row = rows.emplace_back();
      row.draw = json.at("draw").as_uint();
      row.num_ids = static_cast<int64_t>(json.at("response_ids").as_array().size());
      row.score = row.reward = json.at("score").as_double();
      if (const io::Json* reward = json.find("reward")) row.reward = reward->as_double();
      row.oldest = json.at("versions").as_array().front().as_int();
      row.newest = json.at("versions").as_array().back().as_int();
    }
    return rows;
  }
  static std::set<uint64_t> draws_of(const std::string& run, int64_t step) {
    std::set<uint64_t> draws;
    for (const Row& row : rows_of(run, step)) draws.insert(row.draw);
    return draws;
  }
};

TEST_F(Dapo, TrainsOnTheFirstGroupsWhoseAnswersDifferAndDrawsUntilThereAreEnough) {
  const std::string whole = run("whole", {"trainer.total_training_steps=6"});
  const auto batches = metric(whole, "train/num_gen_batches"),
             kept = metric(whole, "training/filtered_groups/kept_ratio"),
             solved = metric(whole, "training/filtered_groups/solved_ratio"),
             unsolved = metric(whole, "training/filtered_groups/unsolved_ratio");
  ASSERT_EQ(batches.size(), 6u);
  EXPECT_GT(*std::max_element(batches.begin(), batches.end()), 1) << "one batch is not always enough";
  uint64_t drawn = 0;
  for (int64_t step = 1; step <= 6; ++step) {
    const auto index = static_cast<size_t>(step - 1);
    std::map<uint64_t, std::set<double>> scores;
    for (const Row& row : rows_of(whole, step)) scores[row.draw].insert(row.score);
    EXPECT_EQ(scores.size(), 4u);
    for (const auto& [draw, of_draw] : scores) {
      EXPECT_EQ(of_draw.size(), 2u) << "draw " << draw << " teaches nothing";
      EXPECT_GE(draw, drawn) << "what was left over is thrown away";
    }
    drawn += static_cast<uint64_t>(6 * batches[index]);
    EXPECT_LT(scores.rbegin()->first, drawn);
    EXPECT_NEAR(kept[index] + solved[index] + unsolved[index], 1.0, 1e-12);
    EXPECT_GE(kept[index] * 6 * batches[index] + 1e-9, 4);
  }
  EXPECT_EQ(io::read_json(last_checkpoint(whole) + "/training_state/state.json").at("draw").as_uint(), drawn);
  EXPECT_EQ(metric(whole, "training/flat_group_ratio"), std::vector<double>(6, 0.0));
  EXPECT_EQ(metric(whole, "training/num_updates"), std::vector<double>(6, 2.0)) << "schedules count these alone";
}

TEST_F(Dapo, OverlongAnswersLoseAShareOfTheirReward) {
  const std::string whole =
      run("overlong", {"trainer.total_training_steps=2", "reward_model.reward_kwargs.overlong_buffer_cfg.log=true"});
  int64_t shaped = 0;
  for (const Row& row : rows_of(whole, 1)) {
    const double expected = row.score - static_cast<double>(std::max<int64_t>(0, row.num_ids - 3)) / 9;
    EXPECT_FLOAT_EQ(static_cast<float>(row.reward), static_cast<float>(expected)) << row.num_ids << " ids";
    shaped += row.reward != row.score;
  }
  EXPECT_GT(shaped, 0);
  EXPECT_NE(io::read_file(whole + "/rollouts/1.jsonl").find("\"overlong_reward\":"), std::string::npos);
  const auto reward = metric(whole, "critic/rewards/mean"), score = metric(whole, "critic/score/mean"),
             penalty = metric(whole, "reward/overlong/mean");
  EXPECT_NEAR(reward[0], score[0] + penalty[0], 1e-6);
  EXPECT_LT(penalty[0], 0);
}

TEST_F(Dapo, SurplusIsTrainedOnInTheNextStepWhereAsked) {
  const std::string keep = "algorithm.filter_groups.keep_surplus=true";
  const std::string whole = run("surplus", {keep, "data.gen_batch_size=16", "trainer.total_training_steps=5"});
  const auto in = metric(whole, "rollout/num_carried_in"), out = metric(whole, "rollout/num_carried_out"),
             old = metric(whole, "rollout/old_token_ratio");
  std::set<uint64_t> draws;
  int64_t of_older = 0;
  for (int64_t step = 1; step <= 5; ++step) {
    const auto index = static_cast<size_t>(step - 1);
    for (const uint64_t draw : draws_of(whole, step)) EXPECT_TRUE(draws.insert(draw).second) << draw << " comes twice";
    EXPECT_EQ(in[index], step == 1 ? 0 : out[index - 1]);
    for (const Row& row : rows_of(whole, step)) {
      EXPECT_EQ(row.oldest, row.newest) << "a group is whole when it is left over";
      of_older += row.newest < 2 * (step - 1);
    }
    EXPECT_EQ(old[index] > 0, step > 1 && in[index] > 0);
  }
  EXPECT_GT(of_older, 0);
  const io::Json left = io::read_json(last_checkpoint(whole) + "/training_state/unfinished.json");
  EXPECT_EQ(left.at("groups").as_array().size(), static_cast<size_t>(out[4]));
  for (const io::Json& group : left.at("groups").as_array()) EXPECT_FALSE(draws.contains(group.at("draw").as_uint()));
  EXPECT_EQ(draws_of(whole, 1),
            draws_of(run("thrown", {"data.gen_batch_size=16", "trainer.total_training_steps=1"}), 1));
}

TEST_F(Dapo, KilledAndResumedAndWithOtherThreadsARunIsTheSameBits) {
  const std::pair<const char*, Arguments> forms[] = {
      {"plain", {}},
      {"all",
       {"algorithm.filter_groups.keep_surplus=true", "data.gen_batch_size=8",
        "data.sampler.class_name=LengthAwareEpochSampler", "data.sampler.bucket_size=2",
        "actor_rollout_ref.rollout.early_stop.enable=true", "actor_rollout_ref.rollout.early_stop.factor=1.5",
        "actor_rollout_ref.rollout.early_stop.min_tokens=9", "actor_rollout_ref.rollout.over_sample_rate=0.5",
        "actor_rollout_ref.rollout.max_num_seqs=9"}},
  };
  for (const auto& [form, options] : forms) {
    SCOPED_TRACE(form);
    const std::string name = form;
    const Arguments more = options + Arguments{"trainer.total_training_steps=8", "trainer.save_freq=3",
                                               "algorithm.filter_groups.max_num_gen_batches=0"};
    const auto expected = bits_of(run(name + "_undisturbed", more));
    EXPECT_EQ(expected.contains("training_state/unfinished.json"), name == "all");
    EXPECT_EQ(difference(expected, bits_of(run(name + "_threads", more + Arguments{"trainer.num_threads=2"}))), "");
    for (const int64_t lines : {2, 5}) {
      Command killed(inputs_->path(), command(name + "_killed", more));
      ASSERT_TRUE(killed.wait_until([&] { return num_lines(folder(name + "_killed") + "/metrics.jsonl") >= lines; }));
      killed.send(SIGKILL);
      ASSERT_EQ(killed.wait(), 1000 + SIGKILL);
    }
    EXPECT_EQ(difference(expected, bits_of(run(name + "_killed", more))), "");
  }
}

// Case P3.
TEST_F(Dapo, WhereEveryPromptIsAlwaysSolvedTheRunEndsWithTheSharesAndItsLastStepSaved) {
  const std::string rows = io::read_file(*inputs_ / "train.jsonl");
  io::write_file(*inputs_ / "two.jsonl", rows.substr(0, rows.find('\n', rows.find('\n') + 1) + 1));
  const Arguments base{"data.train_files=" + *inputs_ / "two.jsonl",
                       "data.shuffle=false",
                       "data.train_batch_size=2",
                       "data.gen_batch_size=2",
                       "trainer.total_training_steps=200",
                       "algorithm.filter_groups.max_num_gen_batches=3",
                       "actor_rollout_ref.rollout.n=12",
                       "actor_rollout_ref.actor.optim.lr=3e-3"};
  // two sums, which are soon solved by every answer
  const std::string name = "solved";
  const Result result = run_hone(inputs_->path(), command(name, base));
  EXPECT_EQ(result.code, 4) << result.err;
  EXPECT_NE(result.err.find("3 generation batches gave"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("algorithm.filter_groups.max_num_gen_batches allows no more"), std::string::npos);
  const auto saved = list_checkpoints(folder(name) + "/checkpoints");
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(static_cast<size_t>(saved[0]), metrics_of(folder(name)).size()) << "the last whole step";
  EXPECT_NE(result.err.find(fmt::format("step {}: ", saved[0] + 1)), std::string::npos) << result.err;
  const Result again = run_hone(inputs_->path(), command(name, base));
  EXPECT_EQ(again.code, 4) << "the same from what is saved";
}

TEST_F(Dapo, EndsWithTheStepThatUsesUpTheLastEpoch) {
  // 20 rows in batches of 6: three an epoch
  const std::string name = "epochs";
  const Result result = run_hone(inputs_->path(), command(name, {"trainer.total_epochs=3"}));
  ASSERT_EQ(result.code, 0) << result.err;
  double batches = 0, last = 0;
  for (const double of_step : metric(folder(name), "train/num_gen_batches")) batches += last = of_step;
  EXPECT_GE(batches, 9);
  EXPECT_LT(batches - last, 9) << "no step more than needed";
  const auto steps = static_cast<int64_t>(metrics_of(folder(name)).size());
  EXPECT_LT(steps, 9);
  EXPECT_EQ(list_checkpoints(folder(name) + "/checkpoints"), std::vector<int64_t>{steps});
  const Result again = run_hone(inputs_->path(), command(name, {"trainer.total_epochs=3"}));
  EXPECT_EQ(again.code, 3) << again.err;
}

TEST_F(Dapo, OptionsThatDoNotFitAreRefused) {
  const auto refused = [&](const Arguments& more, const std::string& says) {
    const Result result = run_hone(inputs_->path(), command("refused", more + Arguments{"--check"}));
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
  };
  refused({"algorithm.filter_groups.metric=null"}, "algorithm.filter_groups.metric: expected acc, score, seq_reward");
  refused({"algorithm.filter_groups.enable=false"}, "data.gen_batch_size = 6: expected data.train_batch_size = 4");
  refused({"reward_model.reward_manager=naive"}, "expected reward_model.reward_manager = dapo, found naive");
  refused({"reward_model.reward_kwargs.overlong_buffer_cfg.len=13"}, "len = 13: expected 1 to 12");
  refused({"data.gen_batch_size=21"}, "20 rows of data do not fill one batch of 21");
  const Result sizes = run_hone(inputs_->path(), command("sizes", {"--check", "trainer.total_epochs=2"}));
  EXPECT_NE(sizes.out.find("at most 6 steps of 4 prompts x 6 answers, out of generation batches of 6 prompts, updates "
                           "of 2 prompts, 2 a step"),
            std::string::npos)
      << sizes.out;
}

// By validation: what is trained on is solved half of the time by its choice.
TEST_F(Dapo, RewardRises) {
  const std::string val = "actor_rollout_ref.rollout.val_kwargs.";
  const std::string learnt =
      run("learnt", {"data.train_batch_size=8", "data.gen_batch_size=16", "actor_rollout_ref.rollout.n=8",
                     "actor_rollout_ref.actor.ppo_mini_batch_size=4", "trainer.total_training_steps=30",
                     "data.val_files=" + *inputs_ / "train.jsonl", "trainer.test_freq=30", val + "n=8",
                     val + "do_sample=true", val + "temperature=1"});
  const auto score = metric(learnt, "val-core/hone/arithmetic/reward/mean@8");
  ASSERT_EQ(score.size(), 2u);
  EXPECT_GT(score[1], score[0] + 0.25) << score[0];
}

}  // namespace
}  // namespace hone::test
