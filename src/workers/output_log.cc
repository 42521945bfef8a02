#include "workers/output_log.h"

#include <fmt/core.h>

#include <utility>

namespace hone::workers {

namespace {
constexpr size_t kLongestLine = 1 << 16;
}  // namespace

OutputLog::OutputLog(int num_sources, int64_t max_bytes) : begun_(static_cast<size_t>(num_sources)), left_(max_bytes) {}

OutputLog::~OutputLog() {
  for (size_t source = 0; source < begun_.size(); ++source) {
    if (!begun_[source].empty()) write(static_cast<int>(source), begun_[source]);
  }
}

void OutputLog::open(const std::string& path) {
  const std::lock_guard lock(mutex_);
  file_.reset(path.empty() ? stderr : std::fopen(path.c_str(), "ae"));
  const std::string early = std::exchange(early_, {});
  if (file_ == nullptr || early.empty()) return;
  std::fwrite(early.data(), 1, early.size(), file_.get());
  std::fflush(file_.get());
}

void OutputLog::add(int source, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  std::string& line = begun_[static_cast<size_t>(source)];
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = bytes.find('\n', at);
    const std::string_view part = bytes.substr(at, end == std::string_view::npos ? end : end - at);
    line.append(part.substr(0, kLongestLine));
    at += part.size();
    if (end == std::string_view::npos && line.size() < kLongestLine) break;
    if (end != std::string_view::npos) ++at;
    write(source, line);
    line.clear();
  }
}

void OutputLog::write(int source, std::string_view line) {
  if (left_ <= 0) return;
  std::string text = fmt::format("[{}] {}\n", source, line);
  left_ -= static_cast<int64_t>(text.size());
  if (left_ <= 0) text += "[the rest is left out]\n";
  if (file_ == nullptr) {
    early_ += text;
    return;
  }
  std::fwrite(text.data(), 1, text.size(), file_.get());
  std::fflush(file_.get());
}

}  // namespace hone::workers
