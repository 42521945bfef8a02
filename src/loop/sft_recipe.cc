#include "loop/sft_recipe.h"

#include "config/load.h"
#include "core/error.h"
#include "loop/recipe_verl.h"

namespace hone {
namespace {

using config::Effect;
using config::Schema;

void add_data(Schema& s, SftDataRecipe& d) {
  add_rows_fields(s, d, "Files of questions and answers (JSONL, JSON, Parquet), in this order.",
                  "Files for the validation loss; without any there is none.");
  s.field("data.prompt_key", &d.prompt_key, "Field of a row that holds the question.");
  s.field("data.response_key", &d.response_key,
          "Field of a row that holds the answer; of rows without it, TRL's completion.");
  s.field("data.messages_key", &d.messages_key,
          "Field of a row that holds a conversation; rows that have it need no question and answer.");
  s.field("data.tools_key", &d.tools_key, "Field of a row that holds the tools of its conversation.");
  s.field("data.enable_thinking_key", &d.enable_thinking_key,
          "Field of a row that sets the template's argument enable_thinking.");
  s.field("data.mask_history", &d.mask_history,
          "Conversations: true = loss on the last turn of the assistant alone, false = on all of them.")
      .also_called({"assistant_only_loss", "train_on_last_turn", "train_on_inputs"});
  s.field("data.apply_chat_template_kwargs", &d.apply_chat_template_kwargs,
          "Arguments of the chat template, e.g. data.apply_chat_template_kwargs.enable_thinking=false.");
  s.field("data.train_batch_size", &d.train_batch_size, "Rows of an optimizer step.")
      .at_least(1)
      .also_called({"batch_size"});
  s.field("data.max_length", &d.max_length, "Longest row, question and answer, in tokens.").at_least(2);
  s.field("data.truncation", &d.truncation, "What happens to a longer row.").one_of({"error", "left", "right"});
  s.field("data.max_token_len_per_gpu", &d.max_token_len_per_gpu,
          "Tokens of a micro-batch: memory against speed. The loss is the same but for the rounding of sums.")
      .at_least(1);
}

void add_model(Schema& s, SftModelRecipe& m) {
  s.field("model.partial_pretrain", &m.partial_pretrain, "Hugging Face folder or GGUF file to start from.")
      .path()
      .effect(Effect::nothing)
      .also_called({"path", "model_name_or_path"});
  s.field("model.init_config", &m.init_config,
          "Folder with config.json and a tokenizer to start from random weights (trainer.seed) instead.")
      .path()
      .effect(Effect::nothing);
  s.field(
       "model.load_format", &m.load_format,
       "auto reads the weights of partial_pretrain; dummy starts from random ones (trainer.seed) for its config.json.")
      .one_of({"auto", "dummy"})
      .effect(Effect::nothing);
  s.field("model.custom_chat_template", &m.custom_chat_template,
          "Chat template in place of the model's own: a built-in format (hone render --list), a template or a file.")
      .also_called({"chat_template"});
  s.field("model.dtype", &m.dtype,
          "Inputs of products; auto = bfloat16 on processors with BF16 dot products, else float32.")
      .one_of({"auto", "bfloat16", "float32"});
  add_recompute_fields(s, "model.", m.recompute);
  add_lora_fields(s, "model.", m.lora);
}

// verl's keys of SFT beyond the honoured ones; those of the older and of the newer trainer.
void add_rules(Schema& s) {
  using config::ValueKind;
  verl::accept(s, "trainer.", verl::kDevices, {{"nnodes", 1}, {"n_gpus_per_node", 8}, {"device", "cuda"}});
  verl::accept(s, "data.", verl::kDevices, {{"balance_dp_token", false}});
  verl::accept(s, "", verl::kDevices, {{"ulysses_sequence_parallel_size", 1}, {"engine.*", ValueKind::any}});
  verl::accept(s, "data.", "micro-batches are cut by max_token_len_per_gpu",
               {{"micro_batch_size", ValueKind::integer}, {"micro_batch_size_per_gpu", 4}, {"use_dynamic_bsz", true}});
  s.alternatives("data.micro_batch_size", "data.micro_batch_size_per_gpu");
  s.accepted("data.multiturn.enable", false, "rows with messages are conversations, others are not");
  verl::accept(s, "data.", verl::kOff, {{"ignore_input_ids_mismatch", false}, {"custom_cls.name", ValueKind::text}});
  s.accepted("data.pad_mode", "no_padding", "nothing is padded");
  s.accepted("data.use_shm", false, "files are mapped");
  s.refused("data.custom_cls.path", ValueKind::text, "data sets of your own are not there yet");
  s.refused("data.prompt_dict_keys", ValueKind::list, "fields within fields are not there yet");
  s.refused("data.response_dict_keys", ValueKind::list, "fields within fields are not there yet");
  verl::add_model(s, "model.");
  verl::accept(s, "model.", verl::kSharded, {{"strategy", "fsdp"}});
  verl::add_fsdp(s, "model.fsdp_config.");
  verl::add_optimizer(s, "optim.");
  verl::add_checkpoint(s, "checkpoint.");
  verl::add_checkpoint(s, "trainer.checkpoint.");
  s.accepted("use_remove_padding", false, "nothing is padded");
  verl::accept(s, "", "there is no Hydra: a recipe is one file",
               {{"hydra.*", ValueKind::any}, {"defaults", ValueKind::any}});
  s.refused("trainer.default_hdfs_dir", ValueKind::text, "checkpoints are written to local folders");
  s.refused("trainer.resume_path", ValueKind::text,
            "trainer.resume_mode = resume_path and trainer.resume_from_path are the keys");
  s.renamed("data.multiturn.messages_key", "data.messages_key");
  s.renamed("data.multiturn.tools_key", "data.tools_key");
  s.renamed("data.multiturn.enable_thinking_key", "data.enable_thinking_key");
  s.renamed("data.chat_template", "model.custom_chat_template");
  s.renamed("optim.warmup_steps_ratio", "optim.lr_warmup_steps_ratio");
  s.renamed("optim.lr_scheduler_type", "optim.lr_scheduler");
  s.renamed("optim.warmup_style", "optim.lr_scheduler");
  s.renamed("model.path", "model.partial_pretrain");
}

}  // namespace

Schema schema_of(SftRecipe& recipe) {
  Schema s;
  add_data(s, recipe.data);
  add_model(s, recipe.model);
  add_optim_fields(s, "optim.", recipe.optim, "lr_scheduler");
  s.field("optim.clip_grad", &recipe.optim.clip_grad, "Largest norm of the whole gradient; 0 = no clipping.")
      .at_least(0)
      .also_called({"max_grad_norm", "grad_clip"});
  add_run_fields(s, recipe.trainer);
  s.field("trainer.max_ckpt_to_keep", &recipe.trainer.max_ckpt_to_keep, "Keep so many newest checkpoints; null = all.")
      .at_least(1)
      .effect(Effect::nothing);
  EarlyStoppingRecipe& stopping = recipe.trainer.early_stopping;
  s.field("trainer.early_stopping.patience", &stopping.patience,
          "End the run when val/loss has not fallen below its best for so many validations in a row; the step of every "
          "new best is saved. null = never.")
      .at_least(1)
      .effect(Effect::length)
      .also_called({"early_stopping_patience"});
  s.field("trainer.early_stopping.threshold", &stopping.threshold, "What val/loss has to fall by to count, in nats.")
      .at_least(0)
      .effect(Effect::length)
      .when("trainer.early_stopping.patience is set", [&stopping] { return stopping.patience.has_value(); })
      .also_called({"early_stopping_threshold"});
  add_rules(s);
  return s;
}

void validate(const SftRecipe& r, io::Faults& faults) {
  const int given = int{!r.model.partial_pretrain.empty()} + int{!r.model.init_config.empty()};
  if (given != 1) {
    faults.add(fmt::format("expected one of model.partial_pretrain and model.init_config, found {}",
                           given == 0 ? "neither" : "both"));
  }
  if (r.data.max_token_len_per_gpu < r.data.max_length) {
    faults.add(fmt::format("data.max_token_len_per_gpu = {}: expected at least data.max_length = {}",
                           r.data.max_token_len_per_gpu, r.data.max_length));
  }
  if (r.trainer.early_stopping.patience && r.trainer.test_freq <= 0) {
    faults.add(
        fmt::format("trainer.early_stopping.patience = {}: expected trainer.test_freq above 0, found {}: it looks at "
                    "validations",
                    *r.trainer.early_stopping.patience, r.trainer.test_freq));
  }
  validate_optim("optim.", r.optim, faults);
  validate_recompute("model.", r.model.recompute, faults);
  validate_lora("model.", r.model.lora, faults);
  validate_run(r.trainer, !r.data.val_files.empty(), faults);
}

SftRecipe load_sft_recipe(const std::string& path, const std::vector<std::string>& arguments,
                          std::vector<std::string>& notes) {
  SftRecipe recipe;
  Schema schema = schema_of(recipe);
  notes = config::load(schema, path, arguments, [&](io::Faults& faults) { validate(recipe, faults); });
  note_foreign_loggers(recipe.trainer, notes);
  return recipe;
}

}  // namespace hone
