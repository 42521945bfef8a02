// ModelInputs: what a training run knows before its model is loaded, and the checks of `hone train` and `hone sft` on
// the way there: the model's folder, the memory of the run and the rows of its data, their faults in one list.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "io/faults.h"
#include "loop/run_recipe.h"
#include "models/model_config.h"
#include "rollout/engine.h"
#include "text/chat_template.h"
#include "text/end_ids.h"
#include "text/tokenizer.h"
#include "train/trainer.h"

namespace hone {

// Another model that trains, with a head of one value.
struct CriticInputOptions {
  std::string folder;  // what it begins with
  MomentForm moments = MomentForm::f32;
  double step_ids = 0;  // as TrainerWork has them
};

struct InputOptions {
  std::string folder;       // of config.json, tokenizer and, unless load_format is dummy, weights
  std::string load_format;  // as starting_weights.h takes it
  bool needs_weight_files = true;
  std::string custom_chat_template;  // empty: the model's own
  io::Json chat_arguments;           // data.apply_chat_template_kwargs
  std::string longest_key;           // what makes the longest sequence, for messages
  int64_t longest_sequence = 0;
  DType dtype = DType::f32;
  TrainerOptions trainer;              // all but valid_vocab and recompute
  std::optional<Recompute> recompute;  // nothing: the first that fits the memory
  LoraRecipe lora;
  double step_ids = 0, score_ids = 0;  // as TrainerWork has them
  bool reference = false;              // the starting weights stay in memory as a second model
  std::optional<CriticInputOptions> critic;
  std::optional<EngineOptions> engine;     // of a run that samples; its KV blocks are what it could use
  double kv_share = 1;                     // of the machine's memory: at most so much for the KV cache
  std::optional<std::string> end_id_hint;  // what to do without an end id; nothing where none is needed
  bool quiet = false;
};

struct ModelInputs {
  ModelConfig config;
  std::optional<ModelConfig> critic;
  Tokenizer tokenizer;
  EndIds end_ids;
  TrainerOptions trainer;  // whole
  LoraConfig lora;
  int64_t trained_parameters = 0;
  // What a checkpoint holds; for people.
  int64_t saved_parameters(bool merged) const { return merged ? config.num_parameters() : trained_parameters; }
  std::string parameters_text() const;
  std::optional<EngineOptions> engine;  // with the KV blocks that it gets
};

// Reads the rows of a run; what is wrong with them goes to the faults. Without an end id `end_ids` is empty here.
using LoadRows = std::function<void(const Tokenizer& tokenizer, const EndIds& end_ids, const ChatTemplate& chat,
                                    io::Faults& faults)>;

// Raises one Error with every fault, exit code 2. Prints, unless quiet, arguments that the chat template does not look
// at and a note where no file names the end ids.
ModelInputs load_model_inputs(const InputOptions& options, const LoadRows& load_rows);

}  // namespace hone
