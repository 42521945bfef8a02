#include "loop/loggers.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "io/file.h"
#include "io/json.h"
#include "prompts/data_hash.h"

namespace hone {

namespace {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == 0) return {};
  return value;
}

std::string file_logger_path(const LoggerOptions& options, const std::string& run_folder) {
  if (const auto path = environment("VERL_FILE_LOGGER_PATH")) return *path;
  if (const auto root = environment("VERL_FILE_LOGGER_ROOT")) {
    return io::join_path(io::join_path(*root, options.project), options.experiment + ".jsonl");
  }
  return io::join_path(run_folder, "file_logger.jsonl");
}

std::string log_line(const Metrics& metrics, int64_t global_step) {
  io::Json line = io::Json::object();
  line.set("step", global_step);
  line.set("data", metrics.json());
  return line.dump();
}

}  // namespace

bool is_own_logger(const std::string& name) { return name == "console" || name == "file" || name == "tensorboard"; }

bool is_foreign_logger(const std::string& name) {
  constexpr const char* kNames[] = {"wandb", "mlflow", "swanlab", "vemlp_wandb", "clearml", "trackio"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](const char* known) { return name == known; });
}

Loggers::Loggers(const LoggerOptions& options, const std::string& run_folder, std::optional<int64_t> last_step) {
  const auto wanted = [&](const char* name) {
    return std::find(options.names.begin(), options.names.end(), name) != options.names.end();
  };
  console_ = wanted("console");
  if (wanted("file")) {
    const std::string path = file_logger_path(options, run_folder);
    if (const auto parent = std::filesystem::path(path).parent_path().string(); !parent.empty()) {
      io::make_folders(parent);
    }
    io::cut_back_to(path, [&](std::string_view line) {
      return last_step && io::JsonAt(io::parse_json(line, path), path)["step"].as_int() <= *last_step;
    });
    file_ = std::make_unique<io::LineFile>(path);
  }
  if (wanted("tensorboard")) {
    // several runs may share TENSORBOARD_DIR: the place of the run folder tells their files apart
    DataHash place;
    place.add(std::filesystem::weakly_canonical(run_folder).string());
    const std::string owner = fmt::format("hone{:016x}", place.value());
    const std::string folder = environment("TENSORBOARD_DIR").value_or(io::join_path(run_folder, "tensorboard"));
    tensorboard_ = std::make_unique<io::TensorBoardFile>(folder, owner, last_step);
  }
}

void Loggers::log(const Metrics& metrics, int64_t global_step) {
  if (file_ != nullptr) file_->write_line(log_line(metrics, global_step));
  if (tensorboard_ != nullptr) tensorboard_->write(global_step, metrics.values());
}

}  // namespace hone
