#include "loop/starting_weights.h"

#include "io/file.h"
#include "io/gguf.h"
#include "loop/checkpoint.h"
#include "text/companions.h"
#include "weights/adapter_folder.h"
#include "weights/hf_config.h"
#include "weights/hf_folder.h"
#include "weights/model_files.h"

namespace hone {

namespace {
bool has_weight_files(const std::string& folder) {
  return io::is_gguf(folder) || io::exists(io::join_path(folder, "model.safetensors")) ||
         io::exists(io::join_path(folder, "model.safetensors.index.json"));
}

// What the weights and the ids of a checkpoint mean: config.json, and tokenizer.json, whose vocabulary is the support
// of every softmax and whose texts are scored.
void check_same_model(const std::string& checkpoint, const std::string& folder) {
  const auto differs = [&](const std::string& name) {
    throw Error(
        fmt::format("{}: expected the model of {}, found another one", text::companion_place(folder, name), checkpoint),
        "undo the change of the model's folder, or train the other model in a run folder of its own");
  };
  if (weights::load_config(checkpoint) != weights::load_config(folder)) differs("config.json");
  const std::string name = "tokenizer.json", saved = io::join_path(checkpoint, name);
  if (!io::exists(saved) || io::read_file(saved) == text::read_companion(folder, name)) return;
  // what was written of a GGUF file, or by another program, may be laid out otherwise
  const auto own = text::read_companion_json(folder, name);
  if (!own || !(io::read_json(saved) == *own)) differs(name);
}
}  // namespace

bool starts_from_model(const RunRecipe& run) {
  return run.resume_mode != "resume_path" &&
         list_checkpoints(io::join_path(run.default_local_dir, "checkpoints")).empty();
}

void check_weight_files(const std::string& folder, const std::string& load_format, bool must_exist) {
  if (load_format == "dummy" || (!must_exist && !has_weight_files(folder))) return;
  weights::check_model_files(folder);
}

std::unique_ptr<Decoder> starting_decoder(kernels::Context& ctx, const std::optional<std::string>& checkpoint,
                                          const std::string& folder, const std::string& load_format, uint64_t seed,
                                          DType dtype, const LoraConfig& lora,
                                          const std::optional<std::string>& adapter_path) {
  const Doing doing("loading the model");
  if (checkpoint) check_same_model(*checkpoint, folder);
  const bool is_lora = lora.rank > 0, is_random = load_format == "dummy" && (is_lora || !checkpoint);
  std::unique_ptr<Decoder> decoder;
  if (is_random) {
    const ModelConfig config = weights::load_config(folder);
    decoder = std::make_unique<Decoder>(config, dtype, lora);
    decoder->initialize(ctx, seed);
  } else if (is_lora) {
    decoder = weights::load_adapted_decoder(ctx, folder, dtype, lora);
  } else {
    decoder = weights::load_decoder(ctx, checkpoint.value_or(folder), dtype);
  }
  if (is_lora && (checkpoint || adapter_path)) {
    weights::load_adapter(ctx, *decoder, checkpoint ? *checkpoint : *adapter_path);
  } else if (is_lora) {
    decoder->initialize_adapters(ctx, seed);
  }
  decoder->publish(ctx, 0);
  return decoder;
}

}  // namespace hone
