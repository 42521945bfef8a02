#include "loop/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

#include "io/atomic_file.h"
#include "io/file.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "io/system_calls.h"
#include "io/yaml.h"
#include "weights/adapter_folder.h"
#include "weights/hf_folder.h"

namespace hone {

namespace {

constexpr int64_t kFormatVersion = 1;
constexpr const char* kFirstForm = "all weights, float32 moments";  // of checkpoints that do not say
constexpr std::string_view kPrefix = "global_step_";

std::string moments_path(const std::string& folder) { return io::join_path(folder, "optimizer.safetensors"); }
std::string config_path(const std::string& checkpoint) {
  return io::join_path(state_folder(checkpoint), "config.yaml");
}

std::string speculation_path(const std::string& checkpoint) {
  return io::join_path(state_folder(checkpoint), "speculation.json");
}

bool is_complete(const std::string& checkpoint) {
  return io::exists(io::join_path(state_folder(checkpoint), "complete"));
}

// Moments carry the name of the parameter's first tensor: q_proj stands for q, k and v.
std::string moments_name(const Parameter& parameter) { return parameter.pieces().front().name; }

// A checkpoint has to be worth going on from.
void check_finite(const Decoder& decoder) {
  for (const Parameter& parameter : decoder.trained()) {
    constexpr int64_t kTogether = 1 << 16;
    std::vector<float> w(static_cast<size_t>(std::min(parameter.size(), kTogether)));
    bool finite = true;
    for (int64_t begin = 0; begin < parameter.size() && finite; begin += kTogether) {
      const int64_t size = std::min(kTogether, parameter.size() - begin);
      parameter.read(begin, size, w.data());
      finite = std::all_of(w.begin(), w.begin() + size, [](float x) { return std::isfinite(x); });
    }
    if (finite) continue;
    throw Error(fmt::format("{}: weights are not finite, so nothing is saved", parameter.pieces().front().name),
                "go on from an older checkpoint with a lower learning rate", 4);
  }
}

io::Json to_json(const TrainingState& s) {
  io::Json json;
  json.set("format_version", kFormatVersion);
  json.set("kind", s.kind);
  json.set("global_step", s.global_step);
  json.set("epoch", s.position.epoch);
  json.set("epoch_index", s.position.index);
  json.set("draw", s.position.draw);
  json.set("version", int64_t{s.version});
  json.set("optimizer_steps", s.optimizer_steps);
  if (s.critic_steps) json.set("critic_steps", *s.critic_steps);
  json.set("form", s.form);
  json.set("numeric_mode", s.numeric_mode);
  json.set("data_hash", s.data_hash);
  if (!s.scorer_hash.empty()) json.set("scorer_hash", s.scorer_hash);
  if (!s.base_hash.empty()) json.set("base_hash", s.base_hash);
  return json;
}

}  // namespace

std::string state_folder(const std::string& checkpoint) { return io::join_path(checkpoint, "training_state"); }

std::string checkpoint_path(const std::string& folder, int64_t global_step) {
  return io::join_path(folder, fmt::format("{}{}", kPrefix, global_step));
}

std::optional<int64_t> step_of_checkpoint(const std::string& path) {
  const size_t last = path.find_last_not_of('/');
  if (last == std::string::npos) return std::nullopt;
  const size_t slash = path.rfind('/', last);
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  const std::string name = path.substr(begin, last + 1 - begin);
  int64_t step = 0;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + kPrefix.size(), end, step);
  if (parsed.ec != std::errc() || parsed.ptr != end || step < 0) return std::nullopt;
  return step;
}

std::vector<int64_t> list_checkpoints(const std::string& folder) {
  std::vector<int64_t> steps;
  if (!io::is_folder(folder)) return steps;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const std::optional<int64_t> step = step_of_checkpoint(name);
    const bool plain = step && name == fmt::format("{}{}", kPrefix, *step);  // not global_step_007
    if (plain && is_complete(entry.path().string())) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

namespace {

void save_moments(const std::string& folder, const Decoder& decoder, const Optimizer& optimizer) {
  io::SafetensorsWriter writer;
  const auto& parameters = decoder.trained();
  for (size_t p = 0; p < parameters.size(); ++p) optimizer.moments()[p].add_to(writer, moments_name(parameters[p]));
  writer.write(moments_path(folder));
}

// The model may have been moved away since the run began: the newest checkpoint has what was copied out of it.
std::string source_of_files(const std::string& source, const std::string& folder) {
  if (source.empty() || io::exists(source)) return source;
  const std::vector<int64_t> steps = list_checkpoints(folder);
  return steps.empty() ? "" : checkpoint_path(folder, steps.back());
}

}  // namespace

std::string critic_folder(const std::string& state_folder) { return io::join_path(state_folder, "critic"); }

void save_beside(const std::string& folder, const Decoder& decoder, const Optimizer& optimizer) {
  check_finite(decoder);
  weights::save_model(decoder, folder, "");
  save_moments(folder, decoder, optimizer);
}

void save_checkpoint(const std::string& folder, const TrainingState& state, const Decoder& decoder,
                     const Optimizer& optimizer, const SaveOptions& options,
                     const std::function<void(const std::string& folder)>& more) {
  check_finite(decoder);
  io::make_folders(folder);
  io::AtomicFolder checkpoint(checkpoint_path(folder, state.global_step));
  const std::string files_of = source_of_files(options.source_folder, folder);
  if (decoder.lora().rank == 0) {
    weights::save_model(decoder, checkpoint.path(), files_of);
  } else {
    weights::save_adapter(decoder, checkpoint.path(), options.source_folder, files_of);
  }
  if (decoder.lora().rank > 0 && options.merged) {
    const std::string merged = io::join_path(checkpoint.path(), "merged");
    io::make_folders(merged);
    weights::save_model(decoder, merged, files_of);
  }
  io::make_folders(state_folder(checkpoint.path()));
  save_moments(state_folder(checkpoint.path()), decoder, optimizer);
  io::write_json(io::join_path(state_folder(checkpoint.path()), "state.json"), to_json(state));
  io::write_file(config_path(checkpoint.path()), state.config);
  if (!state.speculation.empty()) io::write_file(speculation_path(checkpoint.path()), state.speculation);
  if (more) more(state_folder(checkpoint.path()));
  io::write_file(io::join_path(state_folder(checkpoint.path()), "complete"), "");
  checkpoint.commit();
  name_latest(folder);
}

void name_latest(const std::string& folder) {
  const std::string path = io::join_path(folder, "latest_checkpointed_iteration.txt");
  const std::vector<int64_t> steps = list_checkpoints(folder);
  if (steps.empty()) return io::remove_tree(path);
  const std::string text = fmt::format("{}\n", steps.back());
  if (!io::exists(path) || io::read_file(path) != text) io::write_file(path, text);
}

TrainingState read_training_state(const std::string& checkpoint) {
  if (!is_complete(checkpoint)) {
    throw Error(fmt::format("{}: not a complete checkpoint", checkpoint), "name a folder global_step_N of a run");
  }
  const std::string path = io::join_path(state_folder(checkpoint), "state.json");
  const io::Json json = io::read_json(path);
  const io::JsonAt at(json, path);
  if (const int64_t found = at["format_version"].as_int(); found != kFormatVersion) {
    throw Error(fmt::format("{}: format_version: expected {}, found {}", path, kFormatVersion, found),
                "use the version of hone that wrote it");
  }
  TrainingState s;
  s.kind = at["kind"].as_string();
  s.global_step = at["global_step"].as_int();
  s.position = {at["epoch"].as_int(), at["epoch_index"].as_int(), at["draw"].value().as_uint()};
  s.version = static_cast<int32_t>(at["version"].as_int());
  s.optimizer_steps = at["optimizer_steps"].as_int();
  s.form = at.find("form") ? at["form"].as_string() : kFirstForm;
  s.numeric_mode = at["numeric_mode"].as_string();
  s.data_hash = at["data_hash"].as_string();
  if (at.find("critic_steps")) s.critic_steps = at["critic_steps"].as_int();
  if (at.find("scorer_hash")) s.scorer_hash = at["scorer_hash"].as_string();
  if (at.find("base_hash")) s.base_hash = at["base_hash"].as_string();
  if (const std::string config = config_path(checkpoint); io::exists(config)) s.config = io::read_file(config);
  if (const std::string path_of = speculation_path(checkpoint); io::exists(path_of)) {
    s.speculation = io::read_file(path_of);
  }
  const int64_t largest = int64_t{1} << 53;
  for (const char* key : {"global_step", "epoch", "epoch_index", "version", "optimizer_steps", "critic_steps"}) {
    if (key == std::string_view("critic_steps") && !s.critic_steps) continue;
    const int64_t value = at[key].as_int();
    const int64_t most = std::string_view(key) == "version" ? std::numeric_limits<int32_t>::max() : largest;
    if (value < 0 || value > most) at[key].fail(fmt::format("expected 0 to {}, found {}", most, value));
  }
  if (const auto step = step_of_checkpoint(checkpoint); step && *step != s.global_step) {
    at["global_step"].fail(fmt::format("expected {}, the step of the folder's name, found {}", *step, s.global_step));
  }
  return s;
}

TrainingState check_checkpoint(const std::string& checkpoint) {
  const TrainingState state = read_training_state(checkpoint);
  io::read_json(io::join_path(checkpoint, "config.json"));
  io::parse_yaml(state.config, config_path(checkpoint));
  const bool is_adapter = weights::is_adapter_folder(checkpoint);
  const io::SafetensorsReader weights(is_adapter ? io::join_path(checkpoint, "adapter_model.safetensors") : checkpoint);
  const io::SafetensorsReader moments(moments_path(state_folder(checkpoint)));
  if (state.critic_steps) {
    const std::string critic = critic_folder(state_folder(checkpoint));
    const io::SafetensorsReader critic_weights(critic), critic_moments(moments_path(critic));
  }
  for (const char* name : {"kl_controller.json", "early_stopping.json", "answer_lengths.json"}) {
    const std::string path = io::join_path(state_folder(checkpoint), name);
    if (io::exists(path)) io::read_json(path);
  }
  return state;
}

namespace {

bool is_sound(const std::string& checkpoint) {
  try {
    check_checkpoint(checkpoint);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::optional<int64_t> newest_sound_checkpoint(const std::string& folder, int64_t before) {
  const std::vector<int64_t> steps = list_checkpoints(folder);
  const auto sound = std::find_if(steps.rbegin(), steps.rend(), [&](int64_t step) {
    return step < before && is_sound(checkpoint_path(folder, step));
  });
  return sound == steps.rend() ? std::nullopt : std::optional(*sound);
}

void load_moments(const std::string& folder, const Decoder& decoder, Optimizer& optimizer) {
  const io::SafetensorsReader file(moments_path(folder));
  const auto& parameters = decoder.trained();
  for (size_t p = 0; p < parameters.size(); ++p) optimizer.moments()[p].read_from(file, moments_name(parameters[p]));
}

void load_optimizer(const std::string& checkpoint, const Decoder& decoder, const TrainingState& state,
                    Optimizer& optimizer) {
  load_moments(state_folder(checkpoint), decoder, optimizer);
  optimizer.set_num_steps(state.optimizer_steps);
}

void remove_old_checkpoints(const std::string& folder, int64_t keep) {
  if (keep <= 0) return;
  const std::vector<int64_t> steps = list_checkpoints(folder);
  size_t first_kept = steps.size();
  for (int64_t sound = 0; sound < keep && first_kept > 0; --first_kept) {
    sound += is_sound(checkpoint_path(folder, steps[first_kept - 1]));
  }
  for (size_t i = 0; i < first_kept; ++i) {
    io::remove_folder(checkpoint_path(folder, steps[i]));
  }
}

}  // namespace hone
