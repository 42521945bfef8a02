// Loggers: where the numbers of a step go beside metrics.jsonl, as trainer.logger names them.
//   console      the line of a step on standard output
//   file         verl's JSONL: {"step": N, "data": {...}}; VERL_FILE_LOGGER_PATH, or PROJECT/EXPERIMENT.jsonl under
//                VERL_FILE_LOGGER_ROOT, or file_logger.jsonl in the run folder
//   tensorboard  event files: TENSORBOARD_DIR, or tensorboard/ in the run folder
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/line_file.h"
#include "io/tensorboard.h"
#include "loop/metrics.h"

namespace hone {

struct LoggerOptions {
  std::vector<std::string> names;
  std::string project, experiment;
};

// Names that verl has beyond those three: accepted, the numbers are in metrics.jsonl.
bool is_foreign_logger(const std::string& name);
bool is_own_logger(const std::string& name);

class Loggers {
 public:
  // What the files hold of steps after last_step is cut off; without last_step they start anew.
  Loggers(const LoggerOptions& options, const std::string& run_folder, std::optional<int64_t> last_step);
  void log(const Metrics& metrics, int64_t global_step);
  bool console() const { return console_; }

 private:
  bool console_ = false;
  std::unique_ptr<io::LineFile> file_;
  std::unique_ptr<io::TensorBoardFile> tensorboard_;
};

}  // namespace hone
