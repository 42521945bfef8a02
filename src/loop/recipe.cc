#include "loop/recipe.h"

#include "config/load.h"
#include "core/error.h"
#include "loop/recipe_algorithms.h"
#include "loop/recipe_critic.h"
#include "loop/recipe_rollout.h"
#include "loop/recipe_scoring.h"
#include "reward/code_scorer.h"
#include "reward/scorer.h"

namespace hone {
namespace {

using config::Effect;
using config::Field;
using config::Schema;

void add_data(Schema& s, DataRecipe& d, const FilterGroupsRecipe& filter) {
  add_rows_fields(s, d, "Files of prompts (JSONL, JSON, Parquet), in this order.",
                  "Files of held-out prompts; without any there is no validation.");
  s.field("data.prompt_key", &d.prompt_key, "Field of a row that holds the prompt.");
  s.field("data.reward_fn_key", &d.reward_fn_key, "Field of a row that names its scorer.");
  s.field("data.default_data_source", &d.default_data_source,
          "Data source of rows that have no such field; null = they are at fault.");
  s.field("data.answer_key", &d.answer_key,
          "Field of a row that holds the ground truth, dots for fields of fields; null = reward_model.ground_truth, or "
          "of rows without reward_model the first of ground_truth, answer, solution.")
      .also_called({"ground_truth_key", "label_key"});
  s.field("data.text_prompts", &d.text_prompts,
          "Prompts that are one text: plain = encoded as they stand; message = a message of the user, as instruct "
          "models expect it.")
      .one_of({"plain", "message"});
  s.field("data.prompt_suffix", &d.prompt_suffix, "Put behind prompts that are one text, after a blank.");
  s.field("data.max_prompt_length", &d.max_prompt_length, "Longest prompt, in tokens.").at_least(1);
  s.field("data.max_response_length", &d.max_response_length, "Longest answer, in tokens.")
      .at_least(1)
      .also_called({"max_new_tokens", "max_tokens", "max_completion_length"});
  s.field("data.train_batch_size", &d.train_batch_size, "Prompts of a step.").at_least(1).also_called({"batch_size"});
  s.field("data.gen_batch_size", &d.gen_batch_size,
          "Prompts of a generation batch; null = data.train_batch_size, which it must equal without dynamic sampling.")
      .at_least(1)
      .effect(Effect::nothing)
      .results_when("algorithm.filter_groups.enable is true", [&filter] { return filter.enable; });
  s.field("data.filter_overlong_prompts", &d.filter_overlong_prompts,
          "Leave out prompts beyond max_prompt_length, and say how many.");
  s.field("data.truncation", &d.truncation, "What happens to a prompt beyond max_prompt_length.")
      .one_of({"error", "left", "right", "middle"})
      .when("filter_overlong_prompts is false", [&d] { return !d.filter_overlong_prompts; });
  s.field("data.apply_chat_template_kwargs", &d.apply_chat_template_kwargs,
          "Arguments of the chat template, e.g. data.apply_chat_template_kwargs.enable_thinking=false.");
}

void add_sampler(Schema& s, SamplerRecipe& d, const EarlyStopRecipe& stop) {
  const std::string p = "data.sampler.";
  s.field(p + "class_name", &d.class_name,
          "LengthAwareEpochSampler: batches of prompts whose answers are expected to be about equally long, from the "
          "second epoch on; null = the order of data.shuffle.")
      .one_of({"LengthAwareEpochSampler"})
      .because("samplers of your own are not there yet");
  s.field(p + "class_path", &d.class_path, "Where scripts find that class: a path of length_bucket_sampler.")
      .effect(Effect::nothing)
      .when("data.sampler.class_name is set", [&d] { return d.class_name.has_value(); });
  const char* when = "data.sampler.class_name is set";
  const auto is_on = [&d] { return d.class_name.has_value(); };
  s.field(p + "bucket_size", &d.bucket_size, "Expected lengths that differ by less count as equal, in tokens.")
      .at_least(1)
      .when(when, is_on);
  s.field(p + "order_in_bucket", &d.order_in_bucket,
          "random; length sorts by the expected length itself, as the published sampler does.")
      .one_of({"random", "length"})
      .when(when, is_on);
  s.field(p + "shuffle_batch_blocks", &d.shuffle_batch_blocks, "Take the batches of an epoch in random order.")
      .when(when, is_on);
  const char* learnt = "data.sampler.class_name is set or actor_rollout_ref.rollout.early_stop.enable is true";
  const auto learns = [&d, &stop] { return d.class_name.has_value() || stop.enable; };
  s.field(p + "ema_decay", &d.ema_decay,
          "Weight of the old estimate when a prompt's answers are measured again; the mean of the new ones has the "
          "rest.")
      .at_least(0)
      .below(1)
      .when(learnt, learns);
  s.field(p + "default_length", &d.default_length,
          "Expected length of answers to prompts never answered before; null = half of data.max_response_length.")
      .at_least(1)
      .when(learnt, learns);
}

void add_actor(Schema& s, ActorRecipe& a) {
  const std::string p = "actor_rollout_ref.actor.";
  s.field(
       p + "ppo_mini_batch_size", &a.ppo_mini_batch_size,
       "Prompts of an optimizer step; a step draws train_batch_size prompts and makes as many updates as that needs.")
      .at_least(1)
      .also_called({"mini_batch_size"});
  s.field(
       p + "ppo_max_token_len_per_gpu", &a.ppo_max_token_len_per_gpu,
       "Tokens of a micro-batch: memory against speed. The loss is the same but for the rounding of sums. The default "
       "is raised to the longest prompt and answer. Micro-batches are balanced.")
      .at_least(1);
  s.field(p + "use_dynamic_bsz", &a.use_dynamic_bsz, "Micro-batches hold as many answers as the tokens allow.");
  s.field(p + "ppo_micro_batch_size_per_gpu", &a.ppo_micro_batch_size_per_gpu,
          "Answers of a micro-batch, at most, beside the bound of ppo_max_token_len_per_gpu; null = any number.")
      .at_least(1)
      .when("use_dynamic_bsz is false", [&a] { return !a.use_dynamic_bsz; });
  s.renamed(p + "ppo_micro_batch_size", p + "ppo_micro_batch_size_per_gpu");
  s.field(p + "use_prefix_grouper", &a.use_prefix_grouper,
          "Updates compute a prompt once for all its answers in a micro-batch. The loss is the same; gradients are but "
          "for the rounding of sums.");
  s.field(p + "entropy_coeff", &a.entropy_coeff, "Weight of the entropy that is added to the objective.");
  s.field(p + "ppo_epochs", &a.ppo_epochs, "Passes over the answers of a step.")
      .at_least(1)
      .at_most(1000)
      .because("each pass makes the answers staler");
  s.field(p + "shuffle", &a.shuffle, "Deal the prompts of a step to its updates in random order.");
  s.field(p + "grad_clip", &a.grad_clip, "Largest norm of the whole gradient; 0 = no clipping.")
      .at_least(0)
      .also_called({"max_grad_norm", "clip_grad"});
}

void add_filter_groups(Schema& s, FilterGroupsRecipe& f) {
  const std::string p = "algorithm.filter_groups.";
  const char* when = "filter_groups.enable is true";
  const auto on = [&f] { return f.enable; };
  s.field(p + "enable", &f.enable,
          "Dynamic sampling (DAPO): train on groups whose answers differ in the metric, and draw generation batches "
          "until there are data.train_batch_size of them.");
  s.field(p + "metric", &f.metric,
          "What has to differ: acc (the scorer's acc, else its number), score (its number), seq_reward (with overlong "
          "shaping), seq_final_reward (all that advantages are made from).")
      .one_of({"acc", "score", "seq_reward", "seq_final_reward"})
      .when(when, on);
  s.field(
       p + "max_num_gen_batches", &f.max_num_gen_batches,
       "End with exit code 4, the last step saved, when so many generation batches are not enough for a step; 0 = no "
       "limit but a pass over the data without a single group to train on.")
      .at_least(-1)
      .when(when, on);
  s.field(p + "keep_surplus", &f.keep_surplus,
          "Train on the groups that a step does not need in the next one, as older weights drew them, in place of "
          "throwing them away as verl does.")
      .when(when, on);
}

void add_overlong(Schema& s, RewardRecipe& r) {
  s.field("reward_model.reward_manager", &r.reward_manager,
          "naive takes the scorer's number, as do batch and prime; dapo allows overlong shaping of it.")
      .one_of({"naive", "dapo", "batch", "prime"})
      .because("reward managers of your own are not there yet")
      .effect(Effect::nothing);
  const std::string p = "reward_model.reward_kwargs.", o = p + "overlong_buffer_cfg.";
  const char* when = "overlong_buffer_cfg.enable is true";
  const auto on = [&r] { return r.overlong.enable; };
  s.field(p + "max_resp_len", &r.max_resp_len, "Overlong shaping: longest answer; null = data.max_response_length.")
      .at_least(1)
      .when(when, on);
  s.field(
      o + "enable", &r.overlong.enable,
      "Overlong shaping (DAPO): take from the reward of an answer that uses the last len tokens before max_resp_len "
      "the used share of them times penalty_factor.");
  s.field(o + "len", &r.overlong.len, "Length of that buffer, in tokens.").at_least(0).when(when, on);
  s.field(o + "penalty_factor", &r.overlong.penalty_factor, "What an answer of full length loses.")
      .at_least(0)
      .when(when, on);
  s.field(o + "log", &r.overlong.log, "Put overlong_reward and overlong into the dumps of samples.")
      .effect(Effect::nothing)
      .when(when, on);
}

void add_scoring(Schema& s, RewardRecipe& r) {
  s.field("reward.scorers", &r.scorers,
          "Scorers of data sources that have none of their own, or another one (hone score --list), e.g. "
          "reward.scorers.my_rows=math; a name may end in *.");
  s.field("reward.answer_weight", &r.answer_weight, "The reward is this times the scorer's number, ...").at_least(0);
  s.field("reward.format_weight", &r.format_weight, "... plus this where the answer has the format, ...");
  s.field("reward.length_weight", &r.length_weight,
          "... plus this times the share of data.max_response_length that a right answer leaves.");
  std::vector<std::string> formats;
  for (const std::string_view name : format_names()) formats.emplace_back(name);
  s.field(
       "reward.format", &r.format,
       "That format: boxed, hashes (#### and a number), answer_line (Answer: ...), think_boxed or think_answer (tags).")
      .one_of(formats)
      .when("reward.format_weight is not 0", [&r] { return r.format_weight != 0; });
}

void add_rest(Schema& s, Recipe& r) {
  s.field("actor_rollout_ref.model.path", &r.model.path, "Hugging Face folder or GGUF file to start from.")
      .required()
      .path()
      .effect(Effect::nothing)
      .also_called({"model", "model_name_or_path", "model_path"});
  s.field("actor_rollout_ref.model.load_format", &r.model.load_format,
          "auto reads the weights of the folder; dummy starts from random ones (trainer.seed) for its config.json.")
      .one_of({"auto", "dummy"})
      .effect(Effect::nothing);
  s.field("actor_rollout_ref.model.custom_chat_template", &r.model.custom_chat_template,
          "Chat template in place of the model's own: a built-in format (hone render --list), a template or a file.")
      .also_called({"chat_template"});
  add_recompute_fields(s, "actor_rollout_ref.model.", r.model.recompute);
  add_lora_fields(s, "actor_rollout_ref.model.", r.model.lora);
  add_algorithm_fields(s, r.algorithm);
  add_filter_groups(s, r.algorithm.filter_groups);
  add_overlong(s, r.reward);
  add_scoring(s, r.reward);
  add_custom_scorer_fields(s, r.reward);
  s.field("reward.max_absent_ratio", &r.reward.max_absent_ratio,
          "End with exit code 4 when a larger share of a step's answers is without a score; 1 = never.")
      .at_least(0)
      .at_most(1)
      .effect(Effect::length);
  s.field("reward.shuffle", &r.reward.shuffle,
          "Control run: deal the rewards of a step out at random, so that nothing can be learnt from them.");
}

void add_trainer(Schema& s, TrainerRecipe& t) {
  add_run_fields(s, t);
  s.field("trainer.max_actor_ckpt_to_keep", &t.max_actor_ckpt_to_keep, "Keep so many newest checkpoints; null = all.")
      .at_least(1)
      .effect(Effect::nothing);
  s.field("trainer.val_before_train", &t.val_before_train, "Validate before the first step.")
      .effect(Effect::nothing)
      .when("data.val_files is set");
  s.field("trainer.val_only", &t.val_only, "Validate and stop; only the samples are written, as of any validation.")
      .effect(Effect::nothing);
  s.field("trainer.rollout_data_dir", &t.rollout_data_dir,
          "Folder for the samples of step N as N.jsonl, beside rollouts/ of the run folder.")
      .path()
      .effect(Effect::nothing);
  s.field("trainer.validation_data_dir", &t.validation_data_dir,
          "The same for the samples of validation, beside validation/ of the run folder.")
      .path()
      .effect(Effect::nothing);
  s.field("trainer.log_val_generations", &t.log_val_generations, "Print so many samples of each validation.")
      .at_least(0)
      .effect(Effect::nothing);
}

// Of validation. `expect(condition, fault)` notes what does not hold.
template <class Expect>
void validate_sampling(const ValidationSampling& v, const Expect& expect) {
  const std::string p = "actor_rollout_ref.rollout.val_kwargs.";
  if (!v.do_sample) {
    expect(v.n == 1,
           fmt::format("{}n = {}: expected 1, because {}do_sample is false: greedy answers to a prompt are all "
                       "the same",
                       p, v.n, p));
    return;
  }
  expect(v.temperature >= 1e-4 && v.temperature <= 1e4,
         fmt::format("{}temperature = {}: expected 0.0001 to 10000, because {}do_sample is true", p, v.temperature, p));
}

template <class Expect>
void validate_scorers(const Recipe& r, const Expect& expect) {
  for (const auto& [source, name] : r.reward.scorers.as_object()) {
    const bool known =
        name.is_string() && (find_scorer(name.as_string()) != nullptr || name.as_string() == kCodeScorer);
    expect(known,
           fmt::format("reward.scorers.{}: expected a scorer (hone score --list), found {}", source, name.describe()));
  }
}

template <class Expect>
void validate_dapo(const Recipe& r, const Expect& expect) {
  const FilterGroupsRecipe& filter = r.algorithm.filter_groups;
  expect(filter.enable || r.gen_batch_size() == r.data.train_batch_size,
         fmt::format("data.gen_batch_size = {}: expected data.train_batch_size = {}, because "
                     "algorithm.filter_groups.enable is false",
                     r.gen_batch_size(), r.data.train_batch_size));
  expect(!filter.enable || filter.metric.has_value(),
         "algorithm.filter_groups.metric: expected acc, score, seq_reward or seq_final_reward, because "
         "algorithm.filter_groups.enable is true, found none");
  const OverlongRecipe& overlong = r.reward.overlong;
  if (!overlong.enable) return;
  const std::string p = "reward_model.reward_kwargs.overlong_buffer_cfg.";
  expect(
      r.reward.reward_manager == "dapo",
      fmt::format("{}enable = true: expected reward_model.reward_manager = dapo, found {}, which does not look at it",
                  p, r.reward.reward_manager));
  expect(overlong.len >= 1 && overlong.len <= r.max_resp_len(),
         fmt::format("{}len = {}: expected 1 to {} (reward_model.reward_kwargs.max_resp_len, else "
                     "data.max_response_length)",
                     p, overlong.len, r.max_resp_len()));
}

}  // namespace

Schema schema_of(Recipe& recipe) {
  Schema schema;
  add_data(schema, recipe.data, recipe.algorithm.filter_groups);
  add_sampler(schema, recipe.data.sampler, recipe.rollout.early_stop);
  schema.find("data.seed")->when("data.shuffle is true or data.sampler.class_name is set", [&d = recipe.data] {
    return d.shuffle || d.sampler.class_name.has_value();
  });
  add_rest(schema, recipe);
  add_actor(schema, recipe.actor);
  add_policy_loss_fields(schema, recipe);
  add_optim_fields(schema, "actor_rollout_ref.actor.optim.", recipe.actor.optim, "lr_scheduler_type");
  add_critic_fields(schema, recipe);
  add_rollout_fields(schema, recipe.rollout);
  add_speculation_fields(schema, recipe.rollout.speculative_config);
  add_trainer(schema, recipe.trainer);
  add_verl_rules(schema);
  return schema;
}

void validate(const Recipe& r, io::Faults& faults) {
  const int64_t longest = r.data.max_prompt_length + r.data.max_response_length;
  const auto expect = [&](bool condition, const std::string& fault) {
    if (!condition) faults.add(fault);
  };
  expect(r.data.train_batch_size >= r.actor.ppo_mini_batch_size,
         fmt::format("data.train_batch_size = {}: expected at least actor_rollout_ref.actor.ppo_mini_batch_size = {}",
                     r.data.train_batch_size, r.actor.ppo_mini_batch_size));
  validate_dapo(r, expect);
  validate_scorers(r, expect);
  validate_custom_scorer(r.reward, expect);
  validate_algorithms(r, faults);
  validate_sampling(r.rollout.val_kwargs, expect);
  const std::string class_path = r.data.sampler.class_path.value_or("");
  expect(class_path.empty() || class_path.find("length_bucket_sampler") != std::string::npos,
         fmt::format("data.sampler.class_path = {}: expected a path of length_bucket_sampler, because samplers of your "
                     "own are not there yet",
                     class_path));
  expect(r.rollout.prompt_length.value_or(r.data.max_prompt_length) == r.data.max_prompt_length,
         "actor_rollout_ref.rollout.prompt_length: expected the value of data.max_prompt_length");
  expect(r.rollout.response_length.value_or(r.data.max_response_length) == r.data.max_response_length,
         "actor_rollout_ref.rollout.response_length: expected the value of data.max_response_length");
  const int64_t context = r.rollout.max_model_len.value_or(longest);
  expect(context >= longest,
         fmt::format("actor_rollout_ref.rollout.max_model_len = {}: expected at least data.max_prompt_length + "
                     "data.max_response_length = {}",
                     context, longest));
  expect(
      r.rollout.enable_chunked_prefill || r.rollout.max_num_batched_tokens >= longest,
      fmt::format("actor_rollout_ref.rollout.max_num_batched_tokens = {}: expected at least data.max_prompt_length + "
                  "data.max_response_length = {}, because actor_rollout_ref.rollout.enable_chunked_prefill is false",
                  r.rollout.max_num_batched_tokens, longest));
  expect(
      r.rollout.over_sample_rate == 0 || !r.rollout.speculative_config.method.has_value(),
      "actor_rollout_ref.rollout.engine_kwargs.vllm.speculative_config.method: expected null, because "
      "over_sample_rate is above 0: drafts follow from measured times, and would decide which groups a step trains on");
  const bool budget_given = r.actor.ppo_max_token_len_per_gpu != ActorRecipe().ppo_max_token_len_per_gpu;
  expect(!budget_given || r.actor.ppo_max_token_len_per_gpu >= longest,
         fmt::format(
             "actor_rollout_ref.actor.ppo_max_token_len_per_gpu = {}: expected at least {}, the longest prompt and "
             "answer (data.max_prompt_length + data.max_response_length)",
             r.actor.ppo_max_token_len_per_gpu, longest));
  expect(!r.trainer.val_only || !r.data.val_files.empty(),
         "trainer.val_only = true: expected data.val_files, found none");
  validate_optim("actor_rollout_ref.actor.optim.", r.actor.optim, faults);
  validate_optim("critic.optim.", r.critic.optim, faults);
  validate_recompute("actor_rollout_ref.model.", r.model.recompute, faults);
  validate_lora("actor_rollout_ref.model.", r.model.lora, faults);
  validate_run(r.trainer, !r.data.val_files.empty(), faults);
}

Recipe load_recipe(const std::string& path, const std::vector<std::string>& arguments,
                   std::vector<std::string>& notes) {
  Recipe recipe;
  Schema schema = schema_of(recipe);
  notes = config::load(schema, path, arguments, [&](io::Faults& faults) { validate(recipe, faults); });
  note_foreign_loggers(recipe.trainer, notes);
  return recipe;
}

}  // namespace hone
