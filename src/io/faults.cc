#include "io/faults.h"

#include <unistd.h>

#include <filesystem>
#include <map>
#include <string_view>

#include "io/atomic_file.h"
#include "io/file.h"
#include "io/utf8.h"

namespace hone::io {
namespace {

constexpr size_t kShownOfFile = 50;

// "data.jsonl" of "data.jsonl:12:3: what"; what stands before the first ": " otherwise.
std::string_view file_of(std::string_view fault) {
  std::string_view file = fault.substr(0, fault.find(": "));
  while (true) {
    const size_t last = file.find_last_not_of("0123456789");
    if (last == std::string_view::npos || file[last] != ':' || last + 1 == file.size()) return file;
    file = file.substr(0, last);
  }
}

// All faults in a file; nothing when it cannot be written.
std::string write_list(const std::vector<std::string>& faults) {
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  if (error) return "";
  const std::string path = join_path(folder, fmt::format("hone-faults-{}.txt", ::getpid()));
  std::string text;
  for (const std::string& fault : faults) text += visible(fault) + "\n";
  try {
    write_file(path, text);
  } catch (const Error&) {
    return "";
  }
  return path;
}

}  // namespace

void Faults::add(const std::string& fault) { faults_.push_back(visible(fault)); }

void Faults::add(const Error& error) {
  if (const auto* list = dynamic_cast<const FaultError*>(&error)) {
    faults_.insert(faults_.end(), list->faults().begin(), list->faults().end());
    return;
  }
  const std::string text = error.hint().empty() ? error.what() : fmt::format("{} ({})", error.what(), error.hint());
  faults_.push_back(visible_lines(text));
}

std::string Faults::text(bool* is_cut) const {
  std::map<std::string_view, size_t> of_file;
  for (const std::string& fault : faults_) ++of_file[file_of(fault)];
  std::map<std::string_view, size_t> shown;
  std::string text;
  for (const std::string& fault : faults_) {
    const std::string_view file = file_of(fault);
    const size_t number = ++shown[file], total = of_file[file];
    if (number <= kShownOfFile) text += "\n  " + fault;
    if (number == kShownOfFile && total > number) {
      text += fmt::format("\n  {}: and {} more", file, total - number);
      *is_cut = true;
    }
  }
  return text;
}

void Faults::raise_if_any(const std::string& title, const std::string& hint) const {
  if (faults_.empty()) return;
  bool is_cut = false;
  std::string message = fmt::format("{}: {} fault{}", title, size(), size() == 1 ? "" : "s") + text(&is_cut);
  if (is_cut) {
    if (const std::string path = write_list(faults_); !path.empty()) message += "\n  all of them: " + path;
  }
  throw FaultError(message, hint, faults_);
}

}  // namespace hone::io
