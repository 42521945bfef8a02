// Every honoured option does something, and only what its effect says: runs of a few steps with and without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/tiny_run.h"

namespace hone::test {
namespace {

constexpr const char* kActor = "actor_rollout_ref.actor.";
constexpr const char* kRollout = "actor_rollout_ref.rollout.";

class Effects : public ::testing::Test {
 protected:
  Effects() { write_tiny_inputs(inputs_.path(), 10, 4); }

  // Runs to its end; the folder of the run.
  std::string run(const Arguments& more, const std::string& name = "") {
    const std::string folder = inputs_ / (name.empty() ? "run" + std::to_string(number_++) : name);
    const Result result = run_hone(inputs_.path(), tiny_train(inputs_.path(), folder) + base_ + more);
    EXPECT_EQ(result.code, 0) << result.err;
    return folder;
  }
  // All of a run but how many steps its engine took, and drafts.
  static std::map<std::string, std::string> results_of(const std::string& run) {
    std::map<std::string, std::string> bits = bits_of(run);
    for (auto& [name, text] : bits) {
      if (!name.starts_with("metrics line")) continue;
      io::Json kept = io::Json::object();
      const io::Json all = io::parse_json(text, name);
      for (const auto& [key, value] : all.as_object()) {
        if (!key.starts_with("rollout/num_") && !key.starts_with("speculative_decoding/")) kept.set(key, value);
      }
      text = kept.dump();
    }
    return bits;
  }

  TemporaryFolder inputs_{"effects"};
  // a large step, so that ratios leave their bounds
  Arguments base_ = {"trainer.total_training_steps=2", "actor_rollout_ref.rollout.n=24", "data.max_response_length=3",
                     "actor_rollout_ref.actor.ppo_epochs=2", "actor_rollout_ref.actor.optim.lr=0.05"};
  int number_ = 0;
};

TEST_F(Effects, OptionsOfTheResultChangeIt) {
  // a model some of whose answers are right: without a reward there is no advantage to clip or to norm
  write_answers(inputs_ / "train.jsonl", inputs_ / "answers.jsonl");
  const std::string taught = inputs_ / "taught";
  const Result result = run_hone(inputs_.path(), tiny_sft(inputs_.path(), taught) +
                                                     Arguments{"data.train_files=" + inputs_.path() + "/answers.jsonl",
                                                               "trainer.total_training_steps=20"});
  ASSERT_EQ(result.code, 0) << result.err;
  base_ = base_ + Arguments{"actor_rollout_ref.model.path=" + last_checkpoint(taught), "data.max_response_length=4"};
  const std::string first = run({});
  const auto plain = bits_of(first);
  const double score = metric(first, "critic/score/mean").at(0);
  EXPECT_GT(score, 0.02);
  EXPECT_LT(score, 0.98);
  const std::string actor = kActor, rollout = kRollout, bypass = "algorithm.rollout_correction.";
  const Arguments cases[] = {
      {"data.seed=5"},
      {"data.shuffle=false"},
      {"data.train_max_samples=4"},
      {"data.max_response_length=2"},
      {"data.train_batch_size=5"},
      {"trainer.seed=2"},
      {rollout + "temperature=0.8"},
      {rollout + "n=20"},
      {rollout + "ignore_eos=true"},
      {rollout + "over_sample_rate=0.5"},
      {rollout + "early_stop.enable=true", rollout + "early_stop.min_tokens=1", "data.sampler.default_length=1"},
      {actor + "ppo_mini_batch_size=4"},
      {actor + "ppo_epochs=1"},
      {actor + "shuffle=true"},
      {actor + "clip_ratio=0.01"},
      {actor + "clip_ratio_low=0.01"},
      {actor + "clip_ratio_high=0.01"},
      {actor + "loss_agg_mode=seq-mean-token-sum"},
      {actor + "loss_agg_mode=seq-mean-token-mean"},
      {actor + "loss_agg_mode=seq-mean-token-sum-norm"},
      {actor + "entropy_coeff=0.1"},
      {actor + "grad_clip=1e-3"},
      {actor + "optim.lr=0.04"},
      {actor + "optim.lr_warmup_steps=2"},
      {actor + "optim.lr_warmup_steps_ratio=1"},
      {actor + "optim.weight_decay=0.5"},
      {actor + "optim.betas=[0.5,0.9]"},
      {actor + "optim.lr_scheduler_type=cosine"},
      {actor + "optim.moments=bfloat16"},
      {actor + "optim.moments=8bit"},
      {"actor_rollout_ref.model.lora_rank=3"},
      {"algorithm.norm_adv_by_std_in_grpo=false"},
      {"algorithm.adv_estimator=rloo"},
      {"algorithm.adv_estimator=remax"},
      {"algorithm.adv_estimator=gae"},
      {actor + "policy_loss.loss_mode=gspo"},
      {actor + "use_kl_loss=true"},
      {bypass + "bypass_mode=true", bypass + "loss_type=reinforce"},
      {"reward_model.reward_manager=dapo", "reward_model.reward_kwargs.overlong_buffer_cfg.enable=true",
       "reward_model.reward_kwargs.overlong_buffer_cfg.len=3",
       "reward_model.reward_kwargs.overlong_buffer_cfg.penalty_factor=1"},
      {"reward.shuffle=true"},
      {"reward.scorers.*=exact_match"},
      {"reward.answer_weight=2"},
      {"reward.format_weight=1", "reward.format=hashes"},
      {"reward.length_weight=0.5"},
  };
  for (const Arguments& more : cases) {
    EXPECT_NE(difference(plain, bits_of(run(more))), "") << more[0] << " changes nothing";
  }
  // those that look at another option
  const std::string norm = actor + "loss_agg_mode=seq-mean-token-sum-norm",
                    cosine = actor + "optim.lr_scheduler_type=cosine";
  const std::string lora = "actor_rollout_ref.model.lora_rank=3", model = "actor_rollout_ref.model.";
  // answers that older weights began
  const std::string stale = rollout + "over_sample_rate=0.5";
  const std::string gae = "algorithm.adv_estimator=gae", kl = "algorithm.use_kl_in_reward=true";
  const Arguments gentle{actor + "optim.lr=1e-3", "algorithm.filter_groups.metric=acc"},  // it solves some for longer
      filter = gentle + Arguments{"algorithm.filter_groups.enable=true"},
      overlong{"reward_model.reward_manager=dapo", "reward_model.reward_kwargs.overlong_buffer_cfg.enable=true",
               "reward_model.reward_kwargs.overlong_buffer_cfg.len=3",
               "reward_model.reward_kwargs.overlong_buffer_cfg.penalty_factor=1"};
  const std::pair<Arguments, std::string> pairs[] = {
      {{lora}, model + "lora_alpha=9"},
      {{lora}, model + "target_modules=[q_proj,v_proj]"},
      {{lora}, model + "exclude_modules=[down_proj]"},
      {{norm}, actor + "loss_scale_factor=7"},
      {{cosine}, actor + "optim.min_lr_ratio=0.5"},
      {{stale}, bypass + "rollout_is=token"},
      {{gae}, "algorithm.lam=0.5"},
      {{gae}, "critic.optim.lr=1e-3"},
      {{gae}, "critic.ppo_epochs=3"},
      {{gae}, "critic.ppo_mini_batch_size=4"},
      {{gae}, "critic.shuffle=true"},
      {{gae}, "critic.loss_agg_mode=seq-mean-token-sum"},
      {{gae, "critic.optim.lr=1e-2"}, "critic.cliprange_value=0.001"},
      {{gae}, "critic.grad_clip=1e-6"},
      {{gae}, "trainer.critic_warmup=2"},
      {{kl, "algorithm.kl_ctrl.kl_coef=0.1", actor + "optim.lr=1e-3"}, "algorithm.kl_penalty=abs"},
      {{kl}, "algorithm.kl_ctrl.kl_coef=0.5"},
      {{stale}, actor + "recompute_old_log_prob=true"},
      {{cosine}, actor + "optim.num_cycles=1.5"},
      {{cosine}, actor + "optim.total_training_steps=8"},
      {gentle, "algorithm.filter_groups.enable=true"},
      {filter, "data.gen_batch_size=8"},
      {filter + Arguments{"data.gen_batch_size=8"}, "algorithm.filter_groups.keep_surplus=true"},
      {filter + overlong + Arguments{rollout + "n=2"}, "algorithm.filter_groups.metric=seq_reward"},
      {overlong, "reward_model.reward_kwargs.max_resp_len=5"},
      {overlong, "reward_model.reward_kwargs.overlong_buffer_cfg.penalty_factor=0.5"},
  };
  for (const auto& [with, more] : pairs) {
    EXPECT_NE(difference(bits_of(run(with)), bits_of(run(with + Arguments{more}))), "") << more << " changes nothing";
  }
}

TEST_F(Effects, OptionsOfSpeedAndPlaceAloneChangeNoResult) {
  const auto plain = results_of(run({}));
  const std::string rollout = kRollout, speculation = rollout + "engine_kwargs.vllm.speculative_config.";
  const Arguments cases[] = {
      {"actor_rollout_ref.model.recompute=none"},
      {"actor_rollout_ref.model.recompute=selective"},
      {"actor_rollout_ref.model.recompute=full"},
      {"actor_rollout_ref.model.enable_gradient_checkpointing=true"},
      {rollout + "max_num_batched_tokens=16"},
      {rollout + "max_num_seqs=3"},
      {rollout + "max_model_len=11"},
      {rollout + "prompt_length=8", rollout + "response_length=3"},
      {rollout + "enable_chunked_prefill=false"},
      {rollout + "enable_prefix_caching=false"},
      {speculation + "method=sam"},
      {speculation + "method=sam", speculation + "num_speculative_tokens=2", speculation + "disable_by_batch_size=4",
       speculation + "from_group=false", speculation + "from_history=false"},
      {speculation + "method=sam", speculation + "max_history_tokens=9"},
      {rollout + "task_queue=0"},
      {"trainer.num_threads=2"},
      {"trainer.save_freq=1"},
      {"trainer.project_name=x", "trainer.experiment_name=y", "trainer.logger=[console,file]"},
      {"data.gen_batch_size=4"},
      {"reward_model.reward_manager=dapo"},
      // accepted without a meaning
      {"data.val_batch_size=2", "trainer.nnodes=4", "actor_rollout_ref.actor.fsdp_config.param_offload=True",
       "actor_rollout_ref.actor.use_dynamic_bsz=True", "critic.optim.lr=1", "algorithm.gamma=0.5"},
  };
  for (const Arguments& more : cases) EXPECT_EQ(difference(plain, results_of(run(more))), "") << more[0];
}

TEST_F(Effects, LongPromptsAreRefusedLeftOutOrCut) {
  const Arguments shorter = {"data.max_prompt_length=3"};
  const Result error = run_hone(inputs_.path(), tiny_train(inputs_.path(), inputs_ / "error") + base_ + shorter);
  EXPECT_EQ(error.code, 2);
  EXPECT_NE(error.err.find("train.jsonl"), std::string::npos) << error.err;
  std::map<std::string, std::string> forms;
  for (const std::string mode : {"left", "right", "middle"}) {
    forms[mode] = io::read_file(run(shorter + Arguments{"data.truncation=" + mode}) + "/rollouts/1.jsonl");
  }
  EXPECT_NE(forms["left"], forms["right"]);
  EXPECT_NE(forms["left"], forms["middle"]);
  EXPECT_NE(forms["right"], forms["middle"]);
  const Result filtered = run_hone(inputs_.path(), tiny_train(inputs_.path(), inputs_ / "filtered") + base_ + shorter +
                                                       Arguments{"data.filter_overlong_prompts=true"});
  EXPECT_EQ(filtered.code, 2) << "none is left";
}

TEST_F(Effects, ValidationGoesWhereItIsSentAndIsAsLargeAsAsked) {
  const Arguments val = {"data.val_files=" + inputs_ / "val.jsonl"};
  const std::string plain = run(val + Arguments{"trainer.test_freq=1"});
  EXPECT_EQ(num_lines(plain + "/validation/0.jsonl"), 4) << "before training, a row an answer";
  EXPECT_EQ(num_lines(plain + "/validation/1.jsonl"), 4);
  EXPECT_EQ(num_lines(run(val + Arguments{"trainer.val_before_train=false"}) + "/validation/0.jsonl"), -1);
  EXPECT_EQ(num_lines(run(val + Arguments{"data.val_max_samples=3"}) + "/validation/0.jsonl"), 3);
  EXPECT_EQ(num_lines(run(val + Arguments{"actor_rollout_ref.rollout.val_kwargs.n=2",
                                          "actor_rollout_ref.rollout.val_kwargs.do_sample=true",
                                          "actor_rollout_ref.rollout.val_kwargs.temperature=1"}) +
                      "/validation/0.jsonl"),
            8);
  const std::string only = run(val + Arguments{"trainer.val_only=true"});
  EXPECT_EQ(num_lines(only + "/validation/0.jsonl"), 4);
  EXPECT_EQ(list_checkpoints(only + "/checkpoints").size(), 0u);
  const std::string apart =
      run(val + Arguments{"trainer.rollout_data_dir=" + inputs_ / "r", "trainer.validation_data_dir=" + inputs_ / "v"});
  EXPECT_EQ(num_lines(inputs_ / "r/2.jsonl"), 4 * 24);
  EXPECT_EQ(num_lines(inputs_ / "v/0.jsonl"), 4);
  EXPECT_EQ(num_lines(apart + "/rollouts/1.jsonl"), 4 * 24) << "beside those of the run folder";
}

TEST_F(Effects, ValidationMayDrawFromTheLikeliestTokensAlone) {
  const std::string val = "actor_rollout_ref.rollout.val_kwargs.";
  const Arguments sampled{val + "do_sample=true", val + "temperature=1.0"};
  const auto outputs = [&](const Arguments& more) {
    const std::string folder =
        run(Arguments{"data.val_files=" + inputs_ / "val.jsonl", "trainer.val_only=true"} + more);
    std::string all;
    std::istringstream lines(io::read_file(folder + "/validation/0.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      all += io::parse_json(line, "validation").at("output").as_string() + "|";
    }
    return all;
  };
  const std::string greedy = outputs({});
  EXPECT_NE(outputs(sampled), greedy);
  EXPECT_EQ(outputs(sampled + Arguments{val + "top_k=1"}), greedy);
  EXPECT_EQ(outputs(sampled + Arguments{val + "top_p=0.000001"}), greedy);
}

// As in verl, where data.shuffle is of both data sets.
TEST_F(Effects, ASubsetOfTheValidationRowsIsDrawnBySeedOrTheFirstOnes) {
  const auto inputs_of = [&](const Arguments& more) {
    const std::string folder =
        run(Arguments{"data.val_files=" + inputs_ / "val.jsonl", "trainer.val_only=true"} + more);
    std::string inputs;
    std::istringstream lines(io::read_file(folder + "/validation/0.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      inputs += io::parse_json(line, "validation").at("input").as_string() + " ";
    }
    return inputs;
  };
  const Arguments two{"data.val_max_samples=2"};
  std::string first = inputs_of({});
  first.resize(inputs_of(two + Arguments{"data.shuffle=false"}).size());
  EXPECT_EQ(inputs_of(two + Arguments{"data.shuffle=false"}), first);
  std::set<std::string> drawn;
  for (const char* seed : {"1", "2", "3", "4"})
    drawn.insert(inputs_of(two + Arguments{std::string("data.seed=") + seed}));
  EXPECT_GT(drawn.size(), 1u);
}

TEST_F(Effects, CheckpointsAreSavedAndKeptAsAsked) {
  const Arguments four = {"trainer.total_training_steps=4"};
  const auto steps = [&](const Arguments& more) { return list_checkpoints(run(four + more) + "/checkpoints"); };
  EXPECT_EQ(steps({}), std::vector<int64_t>{4});
  EXPECT_EQ(steps({"trainer.save_freq=0"}), std::vector<int64_t>{4});
  EXPECT_EQ(steps({"trainer.save_freq=1"}), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(steps({"trainer.save_freq=3"}), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(steps({"trainer.save_freq=1", "trainer.max_actor_ckpt_to_keep=1"}), std::vector<int64_t>{4});
  EXPECT_EQ(steps({"trainer.save_freq=1", "trainer.max_actor_ckpt_to_keep=3"}), (std::vector<int64_t>{2, 3, 4}));
}

TEST_F(Effects, OptionsOfSftDoWhatTheySay) {
  const Arguments two = {"trainer.total_training_steps=2", "data.val_files=" + inputs_ / "sft.jsonl",
                         "trainer.test_freq=1"};
  const auto sft = [&](const Arguments& more) {
    const std::string folder = inputs_ / ("sft" + std::to_string(number_++));
    const Result result = run_hone(inputs_.path(), tiny_sft(inputs_.path(), folder) + two + more);
    EXPECT_EQ(result.code, 0) << result.err;
    return folder;
  };
  const auto plain = bits_of(sft({}));
  const Arguments changing[] = {
      {"data.seed=5"},
      {"data.shuffle=false"},
      {"data.train_max_samples=5"},
      {"data.val_max_samples=2"},
      {"data.prompt_key=response"},
      {"data.train_batch_size=5"},
      {"data.max_length=12", "data.truncation=left"},
      {"data.max_length=12", "data.truncation=right"},
      {"optim.lr=2e-2"},
      {"optim.lr_warmup_steps=2"},
      {"optim.lr_warmup_steps_ratio=1"},
      {"optim.weight_decay=0.5"},
      {"optim.betas=[0.5,0.9]"},
      {"optim.lr_scheduler=constant"},
      {"optim.min_lr_ratio=0.5"},
      {"optim.num_cycles=1.5"},
      {"optim.total_training_steps=20"},
      {"optim.clip_grad=1e-3"},
      {"trainer.seed=3"},
  };
  for (const Arguments& more : changing) {
    EXPECT_NE(difference(plain, bits_of(sft(more))), "") << more[0] << " changes nothing";
  }
  const Arguments still[] = {
      {"trainer.num_threads=2"},
      {"trainer.save_freq=1"},
      {"trainer.project_name=x"},
      {"data.micro_batch_size_per_gpu=1", "model.fsdp_config.cpu_offload=True", "use_remove_padding=True"},
  };
  for (const Arguments& more : still) EXPECT_EQ(difference(plain, bits_of(sft(more))), "") << more[0];
  EXPECT_EQ(metric(sft({"trainer.test_freq=0"}), "val/loss").size(), 0u);
  EXPECT_EQ(metric(sft({"trainer.test_freq=2"}), "val/loss").size(), 1u);
  EXPECT_EQ(list_checkpoints(sft({"trainer.save_freq=1", "trainer.max_ckpt_to_keep=1"}) + "/checkpoints"),
            std::vector<int64_t>{2});
}

// Where a run goes on from, for every mode and every state of the folders.
class Start : public Effects {
 protected:
  Result go_on(const std::string& folder, const Arguments& more) {
    return run_hone(inputs_.path(),
                    tiny_train(inputs_.path(), folder) + base_ + Arguments{"trainer.total_training_steps=3"} + more);
  }
  void expect_refused(const Result& result, const std::string& said) {
    EXPECT_EQ(result.code, 2) << said;
    EXPECT_NE(result.err.find(said), std::string::npos) << said << "\n" << result.err;
  }
};

TEST_F(Start, ResumeModesDoWhatTheySay) {
  const std::string first = run({"trainer.save_freq=1"}, "first");
  const std::string one = first + "/checkpoints/global_step_1";
  EXPECT_EQ(go_on(first, {}).code, 0) << "auto goes on";
  EXPECT_EQ(metric(first, "training/global_step"), (std::vector<double>{1, 2, 3}));
  expect_refused(go_on(first, {"trainer.resume_mode=disable"}), "holds checkpoints of an earlier run");
  EXPECT_EQ(go_on(inputs_ / "new", {"trainer.resume_mode=disable"}).code, 0);
  for (const char* form : {"", "/", "//"}) {  // from another run's folder, in any spelling
    const std::string folder = inputs_ / ("from" + std::to_string(number_++));
    const Arguments named = {"trainer.resume_mode=resume_path", "trainer.resume_from_path=" + one + form,
                             "trainer.save_freq=1", "trainer.max_actor_ckpt_to_keep=1"};
    const Result result = go_on(folder, named);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(metric(folder, "training/global_step"), (std::vector<double>{2, 3})) << form;
    EXPECT_EQ(list_checkpoints(folder + "/checkpoints"), std::vector<int64_t>{3});
    EXPECT_TRUE(io::exists(one + "/training_state/complete")) << "another run's folder is not pruned";
  }
}

TEST_F(Start, WhatCannotBeGoneOnFromIsFoundEarly) {
  const std::string folder = run({"trainer.save_freq=1"}, "run");
  const auto at = [&](int step) { return folder + "/checkpoints/global_step_" + std::to_string(step); };
  const auto named = [](const std::string& path) {
    return Arguments{"trainer.resume_mode=resume_path", "trainer.resume_from_path=" + path};
  };
  expect_refused(go_on(folder, {"trainer.resume_mode=resume_path"}), "expected trainer.resume_from_path, found none");
  expect_refused(go_on(folder, named(folder)), "expected a folder global_step_N");
  expect_refused(go_on(folder, named(at(9))), "expected a folder, found nothing at");
  expect_refused(go_on(folder, named(at(1) + "/actor")), "expected a folder global_step_N");
  expect_refused(go_on(folder, {"trainer.resume_from_path=" + at(1)}), "expected trainer.resume_mode = resume_path");

  // the newest is damaged: named, with the newest good one, at --check too
  const std::string weights = at(2) + "/model.safetensors", whole = io::read_file(weights);
  io::write_file(weights, whole.substr(0, whole.size() / 2));
  for (const Arguments& more : {Arguments{}, Arguments{"--check"}}) {
    const Result damaged = go_on(folder, more);
    expect_refused(damaged, "the newest checkpoint is damaged: " + weights);
    EXPECT_NE(damaged.err.find("trainer.resume_from_path=" + at(1)), std::string::npos) << damaged.err;
  }
  expect_refused(go_on(folder, named(at(2))), weights);
  io::write_file(weights, whole);

  const std::string state = at(2) + "/training_state/state.json", text = io::read_file(state);
  io::write_file(state, std::string(text).replace(text.find("\"global_step\": 2"), 16, "\"global_step\": 1"));
  expect_refused(go_on(folder, {}), "global_step: expected 2, the step of the folder's name, found 1");
  io::write_file(state, text);

  // files where folders are due
  for (const char* name : {"", "/checkpoints", "/rollouts", "/validation"}) {
    const std::string other = inputs_ / ("other" + std::to_string(number_++));
    if (*name != '\0') io::make_folders(other);
    io::write_file(other + name, "text");
    expect_refused(go_on(other, {}), other + name + ": expected a folder, found a file");
    expect_refused(go_on(other, {"--check"}), "expected a folder, found a file");
  }
  EXPECT_EQ(go_on(folder, {}).code, 0) << "nothing of this harmed the run";
}

}  // namespace
}  // namespace hone::test
