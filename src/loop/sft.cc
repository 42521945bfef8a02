#include "loop/sft.h"

#include <limits>
#include <memory>

#include "io/file.h"
#include "loop/base_hash.h"
#include "loop/early_stopping.h"
#include "loop/model_inputs.h"
#include "loop/numeric_mode.h"
#include "loop/starting_weights.h"
#include "loop/step_metrics.h"
#include "prompts/row_order.h"
#include "prompts/sft_set.h"

namespace hone {

namespace {

struct Inputs : ModelInputs {
  std::string source;  // folder of config, tokenizer and, unless random, weights
  std::vector<TrainSequence> train, validation;
  uint64_t hash = 0;
};

// init_config is the older way to ask for random weights.
std::string load_format(const SftRecipe& recipe) {
  return recipe.model.init_config.empty() ? recipe.model.load_format : "dummy";
}

// Of the two keys one is given.
const std::string& source_of(const SftRecipe& recipe) {
  return recipe.model.partial_pretrain.empty() ? recipe.model.init_config : recipe.model.partial_pretrain;
}

InputOptions input_options(const SftRecipe& recipe, DType dtype, const RunFlags& flags) {
  InputOptions options;
  options.folder = source_of(recipe);
  options.load_format = load_format(recipe);
  options.needs_weight_files = flags.check_only || starts_from_model(recipe.trainer) || recipe.model.lora.is_on();
  options.custom_chat_template = recipe.model.custom_chat_template.value_or("");
  options.chat_arguments = recipe.data.apply_chat_template_kwargs;
  options.longest_key = "data.max_length";
  options.longest_sequence = recipe.data.max_length;
  options.dtype = dtype;
  options.trainer = trainer_options(recipe.optim, recipe.optim.clip_grad, recipe.data.max_token_len_per_gpu);
  options.lora = recipe.model.lora;
  options.recompute = recipe.model.recompute.choice();
  options.step_ids = static_cast<double>(recipe.data.train_batch_size) * static_cast<double>(recipe.data.max_length);
  // rows of the validation are not counted yet
  options.score_ids = recipe.data.val_files.empty() ? 0 : std::numeric_limits<double>::infinity();
  options.end_id_hint = "an answer has to end on an id that the model can learn";
  options.quiet = flags.quiet;
  return options;
}

SftSet load_rows(const SftRecipe& recipe, const Texts& files, int64_t max_samples, const Tokenizer& tokenizer,
                 const EndIds& end_ids, const ChatTemplate& chat, io::Faults& faults) {
  if (files.empty()) return {};
  SftSetOptions options;
  options.files = files;
  options.prompt_key = recipe.data.prompt_key;
  options.response_key = recipe.data.response_key;
  options.messages_key = recipe.data.messages_key;
  options.chat = {&chat, recipe.data.apply_chat_template_kwargs, recipe.data.tools_key, recipe.data.enable_thinking_key,
                  recipe.data.mask_history};
  options.max_length = recipe.data.max_length;
  options.truncation = *truncation(recipe.data.truncation);
  options.max_samples = max_samples;
  options.shuffle = recipe.data.shuffle;
  options.seed = recipe.data_seed();
  return load_sft_set(options, tokenizer, end_ids.ids.empty() ? 0 : end_ids.ids.front(), faults);
}

std::vector<TrainSequence> sequences_of(const SftSet& set) {
  std::vector<TrainSequence> sequences;
  for (const SftExample& example : set.examples) {
    TrainSequence s;
    s.ids = example.prompt_ids;
    s.ids.insert(s.ids.end(), example.response_ids.begin(), example.response_ids.end());
    s.num_prompt = static_cast<int64_t>(example.prompt_ids.size());
    s.loss_mask = example.loss_mask;
    sequences.push_back(std::move(s));
  }
  return sequences;
}

Inputs load_inputs(const SftRecipe& recipe, DType dtype, const RunFlags& flags) {
  const SftDataRecipe& data = recipe.data;
  SftSet train, validation;
  ModelInputs model = load_model_inputs(
      input_options(recipe, dtype, flags),
      [&](const Tokenizer& tokenizer, const EndIds& end_ids, const ChatTemplate& chat, io::Faults& faults) {
        train = load_rows(recipe, data.train_files, data.train_max_samples, tokenizer, end_ids, chat, faults);
        validation = load_rows(recipe, data.val_files, data.val_max_samples, tokenizer, end_ids, chat, faults);
      });
  if (const int64_t cut = train.num_truncated + validation.num_truncated; cut > 0 && !flags.quiet) {
    fmt::print("data: {} rows are cut at data.max_length = {}\n", cut, data.max_length);
  }
  return {std::move(model), source_of(recipe), sequences_of(train), sequences_of(validation),
          data_hash(train.examples)};
}

class SftTraining {
 public:
  SftTraining(const SftRecipe& recipe, const Inputs& inputs, kernels::Context& ctx, Run& run, DType dtype)
      : recipe_(recipe),
        inputs_(inputs),
        run_(run),
        order_(static_cast<int64_t>(inputs.train.size()), recipe.data.train_batch_size, recipe.data.shuffle,
               recipe.data_seed()),
        decoder_(starting_decoder(ctx, run.checkpoint(), inputs.source, load_format(recipe),
                                  static_cast<uint64_t>(recipe.trainer.seed), dtype, inputs.lora,
                                  recipe.model.lora.lora_adapter_path)),
        trainer_(ctx, *decoder_, inputs.trainer) {
    if (inputs.lora.rank > 0) run.set_base(base_hash(ctx, *decoder_));
    const EarlyStoppingRecipe& stopping = recipe.trainer.early_stopping;
    if (stopping.patience) stopping_.emplace(*stopping.patience, stopping.threshold);
    if (!run.checkpoint()) return;
    if (stopping_) stopping_->restore(state_folder(*run.checkpoint()));
    order_.restore(run.state().position);
    load_optimizer(*run.checkpoint(), *decoder_, run.state(), trainer_.optimizer());
    decoder_->publish(ctx, run.state().version);
  }

  int loop() {
    if (stopping_ && stopping_->is_over()) throw Error("nothing left to do: " + stop_text(), kGoOnHint, 3);
    const int exit_code = run_.loop([&](int64_t global_step) { return step(global_step); },
                                    [&](TrainingState& state, const std::string& folder) {
                                      state.position = order_.position();
                                      state.version = decoder_->version();
                                      state.optimizer_steps = trainer_.optimizer().num_steps();
                                      save_checkpoint(folder, state, *decoder_, trainer_.optimizer(),
                                                      {inputs_.source, recipe_.model.lora.lora_save_merged},
                                                      [&](const std::string& more) {
                                                        if (stopping_) stopping_->save(more);
                                                      });
                                    },
                                    [&](const Metrics& m) { return line(m); });
    if (stopping_ && stopping_->is_over()) fmt::print("{}\n", stop_text());
    return exit_code;
  }

 private:
  static constexpr const char* kGoOnHint = "raise trainer.early_stopping.patience to go on";

  Metrics step(int64_t global_step);
  double validation_loss();
  // How the validations ended the run, and where the best weights are.
  std::string stop_text() const {
    const std::string best = checkpoint_path(run_.checkpoints_folder(), stopping_->best_step());
    return fmt::format(
        "val/loss has not fallen below {:.4f} of step {} for {} validations; the checkpoint of that step "
        "{} {}",
        stopping_->best_loss(), stopping_->best_step(), *recipe_.trainer.early_stopping.patience,
        io::exists(best) ? "is" : "was not kept:", best);
  }
  std::string line(const Metrics& m) const {
    return fmt::format("step {:>4}/{}  loss {:.4f}{}  grad {:.3f}  lr {:.2e}  {:.0f} tok/s  {:.2f} s",
                       m.get("training/global_step"), run_.total_steps(), m.get("train/loss"),
                       m.has("val/loss") ? fmt::format("  val {:.4f}", m.get("val/loss")) : "",
                       m.get("train/grad_norm"), m.get("train/lr"), m.get("perf/throughput"), m.get("timing_s/step"));
  }

  const SftRecipe& recipe_;
  const Inputs& inputs_;
  Run& run_;
  RowOrder order_;
  std::unique_ptr<Decoder> decoder_;
  Trainer trainer_;
  std::optional<EarlyStopping> stopping_;
};

Metrics SftTraining::step(int64_t global_step) {
  Metrics metrics;
  metrics.set("training/global_step", static_cast<double>(global_step));
  metrics.set("training/epoch", static_cast<double>(order_.position().epoch));
  std::vector<TrainSequence> batch;
  for (const DrawnRow& drawn : order_.next_batch()) batch.push_back(inputs_.train[drawn.row]);
  const double lr = learning_rate(lr_schedule(recipe_.optim, run_.total_steps()), global_step - 1);
  int64_t num_ids = 0;
  for (const TrainSequence& sequence : batch) num_ids += static_cast<int64_t>(sequence.ids.size());
  const TrainStep done = trainer_.step(batch, Objective{}, lr);
  metrics.set("train/loss", done.loss);
  metrics.set("train/grad_norm", done.optimizer.grad_norm);
  metrics.set("train/lr", lr);
  metrics.set("training/num_updates", done.optimizer.outcome == StepOutcome::applied);
  metrics.set("training/num_steps_not_finite", done.optimizer.outcome == StepOutcome::not_finite);
  metrics.set("training/num_steps_zero_gradient", done.optimizer.outcome == StepOutcome::zero_gradient);
  metrics.set("perf/total_num_tokens", static_cast<double>(num_ids));
  const int64_t test_freq = recipe_.trainer.test_freq;
  if (!inputs_.validation.empty() && test_freq > 0 && (global_step % test_freq == 0 || run_.is_last(global_step))) {
    Timed timed(metrics, "testing");
    const double loss = validation_loss();
    metrics.set("val/loss", loss);
    if (stopping_ && stopping_->observe(loss, global_step)) run_.save_with(global_step);
    if (stopping_ && stopping_->is_over()) run_.end_with(global_step);
  }
  return metrics;
}

double SftTraining::validation_loss() {
  Spread loss;
  const auto scored = trainer_.score(inputs_.validation);
  for (size_t s = 0; s < scored.size(); ++s) {
    for (size_t i = 0; i < scored[s].size(); ++i) {
      if (inputs_.validation[s].has_loss(static_cast<int64_t>(i))) loss.add(-double{scored[s][i]});
    }
  }
  return loss.mean();
}

}  // namespace

int train_sft(SftRecipe recipe, const RunFlags& flags) {
  kernels::Context ctx(resolve_threads(recipe.trainer.num_threads));
  const DType dtype = resolve_dtype(recipe.model.dtype, ctx.target);
  const Inputs inputs = load_inputs(recipe, dtype, flags);
  const RowOrder order(static_cast<int64_t>(inputs.train.size()), recipe.data.train_batch_size, recipe.data.shuffle,
                       recipe.data_seed());
  RunOptions options = run_options(recipe.trainer, schema_of(recipe), order.batches_per_epoch(), flags);
  options.kind = "sft";
  options.max_to_keep = recipe.trainer.max_ckpt_to_keep.value_or(0);
  options.data_hash = fmt::format("{:016x}", inputs.hash);
  options.numeric_mode = numeric_mode(dtype, ctx.target);
  options.num_parameters = inputs.saved_parameters(recipe.model.lora.lora_save_merged);
  options.form = training_form(inputs.lora, inputs.trainer.optimizer.moments);
  options.summary =
      fmt::format("{} steps of {} rows out of {}; {}, {} on {}, {} threads, recomputing {}", options.total_steps,
                  recipe.data.train_batch_size, inputs.train.size(), inputs.parameters_text(), options.numeric_mode,
                  ctx.target.name, ctx.team.num_threads(), name(inputs.trainer.recompute));
  if (flags.check_only) return tell_checked(options);
  Run run(std::move(options));
  SftTraining training(recipe, inputs, ctx, run, dtype);
  return training.loop();
}

}  // namespace hone
