#include "loop/answer_mark.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "loop/numeric_mode.h"
#include "weights/adapter_folder.h"

namespace hone {

namespace {

// A file, or those of a folder.
std::vector<std::string> files_of(const std::filesystem::path& path) {
  std::vector<std::filesystem::directory_entry> entries{std::filesystem::directory_entry(path)};
  if (entries.front().is_directory()) entries.assign(std::filesystem::directory_iterator(path), {});
  std::vector<std::string> files;
  for (const auto& entry : entries) {
    if (!entry.is_regular_file()) continue;
    files.push_back(fmt::format("{} {} {}", entry.path().string(), entry.file_size(),
                                entry.last_write_time().time_since_epoch().count()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string mark_of_model(const std::string& model, const std::string& dtype) {
  const auto& target = kernels::cpu::default_target();
  std::string mark = numeric_mode(resolve_dtype(dtype, target), target);
  for (const std::string& file : files_of(std::filesystem::weakly_canonical(model))) mark += "\n" + file;
  if (weights::is_adapter_folder(model)) mark += "\n" + mark_of_model(weights::adapter_base(model), dtype);
  return mark;
}

std::string mark_of_filter(const kernels::Filter& f) {
  return fmt::format("{} {} {} {} {} {}", f.top_k, f.top_p, f.min_p, f.repetition_penalty, f.presence_penalty,
                     f.frequency_penalty);
}

}  // namespace hone
