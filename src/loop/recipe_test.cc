#include "loop/recipe.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "config/load.h"
#include "config/print.h"
#include "core/error.h"
#include "loop/sft_recipe.h"

namespace hone {
namespace {

// Sizes that fit together, so that a case shows its own fault alone.
const std::vector<std::string> kBase = {"data.train_files=a.jsonl", "actor_rollout_ref.model.path=m",
                                        "actor_rollout_ref.rollout.n=4"};

std::string error_of(std::vector<std::string> arguments, std::vector<std::string> base = kBase) {
  base.insert(base.end(), arguments.begin(), arguments.end());
  try {
    std::vector<std::string> notes;
    load_recipe("", base, notes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Recipe, HasVerlsDefaults) {
  std::vector<std::string> notes;
  const Recipe r = load_recipe("", kBase, notes);
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(r.data.train_batch_size, 1024);
  EXPECT_EQ(r.actor.ppo_mini_batch_size, 256);
  EXPECT_EQ(r.actor.optim.lr, 1e-6);
  EXPECT_EQ(r.actor.low(), 0.2);
  EXPECT_EQ(r.actor.high(), 0.2);
  EXPECT_EQ(r.actor.loss_agg_mode, "token-mean");
  EXPECT_EQ(r.trainer.total_epochs, 30);
  EXPECT_EQ(r.trainer.default_local_dir, "runs/hone/grpo");
  EXPECT_EQ(r.actor.optim.warmup_steps(100), 0);
}

TEST(Recipe, TakesAScriptWrittenForVerl) {
  std::vector<std::string> notes;
  const Recipe r = load_recipe("",
                               {"algorithm.adv_estimator=grpo",
                                "data.train_files=['a.jsonl','b.jsonl']",
                                "data.val_files=c.jsonl",
                                "data.train_batch_size=64",
                                "data.max_prompt_length=512",
                                "data.max_response_length=1024",
                                "data.filter_overlong_prompts=True",
                                "data.truncation='error'",
                                "actor_rollout_ref.model.path=Qwen/Qwen3-0.6B",
                                "actor_rollout_ref.actor.optim.lr=1e-6",
                                "actor_rollout_ref.actor.optim.warmup_style=cosine",
                                "actor_rollout_ref.model.use_remove_padding=True",
                                "actor_rollout_ref.actor.ppo_mini_batch_size=16",
                                "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4",
                                "actor_rollout_ref.actor.use_kl_loss=False",
                                "actor_rollout_ref.actor.kl_loss_coef=0.001",
                                "actor_rollout_ref.actor.kl_loss_type=low_var_kl",
                                "actor_rollout_ref.actor.entropy_coeff=0",
                                "actor_rollout_ref.model.enable_gradient_checkpointing=True",
                                "actor_rollout_ref.actor.fsdp_config.param_offload=False",
                                "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=4",
                                "actor_rollout_ref.rollout.tensor_model_parallel_size=2",
                                "actor_rollout_ref.rollout.name=vllm",
                                "actor_rollout_ref.rollout.gpu_memory_utilization=0.6",
                                "actor_rollout_ref.rollout.n=5",
                                "+actor_rollout_ref.rollout.max_model_len=null",
                                "actor_rollout_ref.rollout.prompt_length=${data.max_prompt_length}",
                                "actor_rollout_ref.ref.fsdp_config.param_offload=True",
                                "algorithm.use_kl_in_reward=False",
                                "trainer.critic_warmup=0",
                                "trainer.logger=['console','wandb']",
                                "trainer.project_name='verl_grpo'",
                                "trainer.n_gpus_per_node=8",
                                "trainer.nnodes=1",
                                "trainer.save_freq=20",
                                "trainer.test_freq=5",
                                "trainer.total_epochs=15"},
                               notes);
  EXPECT_EQ(r.data.train_files, (Texts{"a.jsonl", "b.jsonl"}));
  EXPECT_EQ(r.rollout.n, 5);
  EXPECT_EQ(r.actor.optim.lr_scheduler_type, "cosine");
  EXPECT_EQ(r.trainer.logger, (Texts{"console", "wandb"}));
  EXPECT_EQ(r.trainer.default_local_dir, "runs/verl_grpo/grpo");
  EXPECT_EQ(notes.size(), 10u) << "one line for each key without a meaning, old name and missing logger";
}

TEST(Recipe, RefusesWithTheReason) {
  struct Case {
    std::vector<std::string> arguments;
    const char* fault;
  };
  const Case cases[] = {
      {{"learnign_rate=3e-4"}, "unknown key; the nearest known one is actor_rollout_ref.actor.optim.lr"},
      {{"actor_rollout_ref.actor.kl_loss_coef=0.02"}, "0.02 is refused: the KL it weighs is off"},
      {{"algorithm.use_kl_in_reward=true", "algorithm.kl_penalty=k3+"}, "a reward has no gradient for +"},
      {{"algorithm.kl_ctrl.kl_coef=0.5"}, "the KL it weighs is off"},
      {{"algorithm.filter_groups.enable=true"}, "algorithm.filter_groups.metric: expected acc, score"},
      {{"algorithm.adv_estimator=optimal_token_baseline"}, "the others are not there yet"},
      {{"actor_rollout_ref.actor.policy_loss.loss_mode=clip_cov", "actor_rollout_ref.actor.policy_loss.clip_cov_lb=5",
        "actor_rollout_ref.actor.policy_loss.clip_cov_ub=1"},
       "clip_cov_lb = 5: expected below clip_cov_ub = 1"},
      {{"actor_rollout_ref.actor.policy_loss.loss_mode=gsop"}, "expected one of vanilla, gspo, sapo"},
      {{"actor_rollout_ref.rollout.top_p=0.9"}, "training samples come from the whole distribution"},
      {{"actor_rollout_ref.rollout.top_k=50"}, "training samples come from the whole distribution"},
      {{"actor_rollout_ref.rollout.do_sample=false"}, "greedy answers of a group are all the same"},
      {{"actor_rollout_ref.model.target_modules=[lm_head]"}, "expected all-linear, or some of q_proj, k_proj"},
      {{"actor_rollout_ref.model.recompute=none", "actor_rollout_ref.model.enable_gradient_checkpointing=true"},
       "recompute = none: expected full, as actor_rollout_ref.model.enable_gradient_checkpointing = true says"},
      {{"reward.timeout=0"}, "expected above 0"},
      {{"reward_model.overlong_buffer.enable=True", "reward_model.overlong_buffer.len=512"},
       "expected reward_model.reward_manager = dapo, found naive"},
      {{"reward_model.reward_manager=mine"}, "reward managers of your own are not there yet"},
      {{"actor_rollout_ref.rollout.temperature=0"}, "expected at least 1e-04, at most 10000, found number 0"},
      {{"actor_rollout_ref.rollout.n=1"},
       "expected at least 2, because algorithm.adv_estimator = grpo compares the answers of a group"},
      {{"actor_rollout_ref.rollout.val_kwargs.do_sample=true"},
       "expected 0.0001 to 10000, because actor_rollout_ref.rollout.val_kwargs.do_sample"},
      {{"data.train_batch_size=8", "actor_rollout_ref.actor.ppo_mini_batch_size=16"}, "expected at least actor_"},
      {{"actor_rollout_ref.rollout.max_model_len=1000"}, "data.max_prompt_length + data.max_response_length = 1024"},
      {{"actor_rollout_ref.rollout.response_length=100"}, "expected the value of data.max_response_length"},
      {{"actor_rollout_ref.actor.ppo_max_token_len_per_gpu=1000"}, "expected at least 1024"},
      {{"actor_rollout_ref.actor.optim.betas=[0.9]"}, "expected two numbers, found 1"},
      {{"actor_rollout_ref.actor.optim.lr=fast"}, "actor_rollout_ref.actor.optim.lr: expected number, found text"},
      {{"trainer.resume_mode=resume_path"}, "expected trainer.resume_from_path, found none"},
      {{"trainer.test_freq=5"}, "expected data.val_files, found none"},
      {{"trainer.nnode=2"}, "the nearest known one is trainer.nnodes"},
  };
  for (const Case& c : cases) {
    const std::string error = error_of(c.arguments);
    EXPECT_NE(error.find(c.fault), std::string::npos) << c.arguments[0] << "\n" << error;
    EXPECT_NE(error.find(": 1 fault\n"), std::string::npos) << error;
  }
  EXPECT_NE(error_of({}, {}).find("3 faults"), std::string::npos) << error_of({}, {});
}

TEST(Recipe, AFaultyValueIsOneFault) {
  const std::string rollout = "actor_rollout_ref.rollout.", actor = "actor_rollout_ref.actor.";
  const std::vector<std::string> cases[] = {
      {rollout + "n=2.0"},
      {"data.train_batch_size=many", actor + "ppo_mini_batch_size=2000"},
      {"data.max_prompt_length=4.5", rollout + "max_model_len=600"},
      {"data.max_response_length=[1", rollout + "response_length=100"},
      {rollout + "val_kwargs.do_sample=maybe", rollout + "val_kwargs.n=4"},
      {rollout + "enable_chunked_prefill=of", rollout + "max_num_batched_tokens=2"},
  };
  for (const std::vector<std::string>& arguments : cases) {
    const std::string error = error_of(arguments);
    EXPECT_NE(error.find(": 1 fault\n"), std::string::npos) << error;
  }
}

TEST(Recipe, AValueWithoutEffectGetsALine) {
  const std::string actor = "actor_rollout_ref.actor.", val = "actor_rollout_ref.rollout.val_kwargs.",
                    correction = "algorithm.rollout_correction.";
  const std::vector<std::string> cases[] = {
      {"data.seed=3", "data.shuffle=false"},
      {"data.truncation=left", "data.filter_overlong_prompts=true"},
      {actor + "loss_scale_factor=3"},
      {actor + "clip_ratio=0.3", actor + "clip_ratio_low=0.1", actor + "clip_ratio_high=0.1"},
      {val + "temperature=0.5"},
      {val + "top_p=0.5"},
      {val + "top_k=5"},
      {"trainer.total_epochs=3", "trainer.total_training_steps=5"},
      {actor + "optim.lr_warmup_steps_ratio=0.1", actor + "optim.lr_warmup_steps=3"},
      {actor + "optim.min_lr_ratio=0.1"},
      {"trainer.critic_warmup=10"},
      {"critic.cliprange_value=0.2"},
      {"critic.optim.lr_warmup_steps_ratio=0.1"},
      {"critic.optim.lr_scheduler_type=cosine"},
      {"algorithm.kl_ctrl.type=adaptive"},
      {actor + "optim.num_cycles=1"},
      {actor + "tau_pos=2"},
      {actor + "policy_loss.clip_cov_lb=2"},
      {actor + "policy_loss.ppo_kl_coef=2"},
      {actor + "clip_ratio_c=4", actor + "policy_loss.loss_mode=gspo"},
      {actor + "clip_ratio_high=0.28", actor + "policy_loss.loss_mode=gpg"},
      {actor + "clip_ratio=0.3", actor + "policy_loss.loss_mode=sapo"},
      {actor + "clip_ratio_low=0.1", actor + "policy_loss.loss_mode=kl_cov"},
      {actor + "clip_ratio_c=4", correction + "bypass_mode=true", correction + "loss_type=reinforce"},
      {actor + "clip_ratio_high=0.4", correction + "bypass_mode=true", correction + "loss_type=reinforce"},
      {actor + "loss_agg_mode=seq-mean-token-sum", actor + "policy_loss.loss_mode=gspo"},
      {actor + "kl_loss_type=k2"},
      {"algorithm.gamma=0.9"},
      {"algorithm.norm_adv_by_std_in_grpo=false", "algorithm.adv_estimator=rloo"},
      {"algorithm.rollout_correction.rollout_is_threshold=3"},
      {"algorithm.rollout_correction.rollout_rs_threshold=3"},
      {actor + "optim.total_training_steps=100"},
  };
  for (const std::vector<std::string>& more : cases) {
    std::vector<std::string> arguments = kBase, notes;
    arguments.insert(arguments.end(), more.begin(), more.end());
    load_recipe("", arguments, notes);
    ASSERT_EQ(notes.size(), 1u) << more[0];
    const std::string key = more[0].substr(0, more[0].find('='));
    EXPECT_EQ(notes[0].find("argument 4: " + key), 0u) << notes[0];
    EXPECT_NE(notes[0].find(" has no effect: it has one when "), std::string::npos) << notes[0];
  }
  std::vector<std::string> arguments = kBase, notes;
  arguments.insert(arguments.end(),
                   {actor + "optim.lr_scheduler_type=cosine", actor + "optim.min_lr_ratio=0.1", "data.seed=3",
                    val + "do_sample=true", val + "temperature=0.7", actor + "policy_loss.loss_mode=gspo",
                    actor + "loss_agg_mode=seq-mean-token-mean"});
  load_recipe("", arguments, notes);
  EXPECT_TRUE(notes.empty()) << notes[0];
}

TEST(Recipe, TheTokenBudgetOfTheDefaultHoldsTheLongestAnswer) {
  EXPECT_EQ(error_of({"data.max_response_length=20000", "actor_rollout_ref.actor.use_dynamic_bsz=False"}), "");
  EXPECT_NE(error_of({"data.max_response_length=20000", "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=20000"}),
            "");
}

TEST(Recipe, SizesNeedNotDivide) {
  EXPECT_EQ(error_of({"data.train_batch_size=7", "actor_rollout_ref.rollout.n=3",
                      "actor_rollout_ref.actor.ppo_mini_batch_size=4"}),
            "");
}

template <class R>
void expect_whole(R recipe) {
  config::Schema schema = schema_of(recipe);
  std::set<std::string> keys;
  for (const config::Field& field : schema.fields()) {
    EXPECT_TRUE(keys.insert(field.key()).second) << field.key() << " is listed twice";
    EXPECT_FALSE(field.doc().empty()) << field.key();
  }
  for (const config::KeyRule& rule : schema.rules()) {
    EXPECT_TRUE(keys.insert(rule.pattern).second) << rule.pattern << " is listed twice";
    EXPECT_FALSE(rule.reason.empty()) << rule.pattern;
    for (const io::Json& value : rule.neutral) EXPECT_EQ(rule.fault_of(value), "") << rule.pattern;
  }
  for (const auto& [old_key, key] : schema.renames()) {
    EXPECT_TRUE(keys.insert(old_key).second) << old_key << " is listed twice";
    EXPECT_NE(schema.find(key), nullptr) << key;
  }
  for (const auto& [old_key, key] : schema.alternatives()) {
    EXPECT_TRUE(keys.contains(old_key) && keys.contains(key)) << old_key;
  }
  // The effective config reads back to itself.
  io::Faults faults;
  config::apply(schema, {{"trainer.num_threads", 3, "test"}}, faults);
  const std::string path = ::testing::TempDir() + "/hone_recipe_test.yaml";
  const std::string yaml = config::effective_yaml(schema);
  FILE* file = std::fopen(path.c_str(), "wb");
  std::fwrite(yaml.data(), 1, yaml.size(), file);
  std::fclose(file);
  R again;
  config::Schema second = schema_of(again);
  io::Faults none;
  config::apply(second, config::settings_of_file(path), none);
  EXPECT_EQ(config::effective_yaml(second), yaml);
  EXPECT_EQ(second.differences(schema.tree()), std::vector<std::string>());
  EXPECT_EQ(none.list(), faults.list()) << "only the missing required ones";
  std::remove(path.c_str());
}

TEST(Recipe, EveryKeyIsListedOnceAndTheEffectiveConfigReadsBack) {
  expect_whole(Recipe());
  expect_whole(SftRecipe());
}

TEST(Recipe, WhatDecidesWhichScoresAreAbsentChangesResults) {
  Recipe recipe;
  config::Schema schema = schema_of(recipe);
  const io::Json saved = schema.tree();
  io::Faults faults;
  config::apply(schema,
                {{"reward.timeout", 5, "test"},
                 {"reward.memory_limit_mb", 64, "test"},
                 {"reward.http.retries", 1, "test"},
                 {"reward.num_workers", 2, "test"}},
                faults);
  EXPECT_EQ(schema.differences(saved), (std::vector<std::string>{"reward.timeout: saved 60.0, now 5.0",
                                                                 "reward.memory_limit_mb: saved null, now 64",
                                                                 "reward.http.retries: saved 3, now 1"}));
}

TEST(SftRecipe, TakesVerlsKeysAndRefusesWithTheReason) {
  std::vector<std::string> notes;
  const std::vector<std::string> base = {"data.train_files=a.jsonl", "model.init_config=tiny",
                                         "optim.warmup_steps_ratio=0.2", "data.micro_batch_size_per_gpu=4"};
  const SftRecipe r = load_sft_recipe("", base, notes);
  EXPECT_EQ(r.optim.warmup_steps(50), 10);
  EXPECT_EQ(r.optim.lr, 1e-5);
  EXPECT_EQ(r.trainer.default_local_dir, "runs/hone/sft");
  EXPECT_EQ(notes.size(), 2u);
  const auto error = [&](const std::string& argument) -> std::string {
    std::vector<std::string> arguments = base;
    arguments.push_back(argument);
    try {
      load_sft_recipe("", arguments, notes);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(error("model.partial_pretrain=m").find("found both"), std::string::npos);
  EXPECT_NE(error("model.init_config=''").find("found neither"), std::string::npos);
  EXPECT_NE(error("data.max_length=9000").find("expected at least data.max_length = 9000"), std::string::npos);
  EXPECT_NE(error("learning_rate=1").find("nearest known one is optim.lr"), std::string::npos);
}

}  // namespace
}  // namespace hone
