#include "io/faults.h"

#include "core/error.h"

namespace hone::io {
namespace {
constexpr size_t kShown = 50;
}

void Faults::raise_if_any(const std::string& title, const std::string& hint) const {
  if (faults_.empty()) return;
  std::string text = fmt::format("{}: {} fault{}", title, faults_.size(), faults_.size() == 1 ? "" : "s");
  for (size_t i = 0; i < faults_.size() && i < kShown; ++i) text += "\n  " + faults_[i];
  if (faults_.size() > kShown) text += fmt::format("\n  and {} more", faults_.size() - kShown);
  throw Error(text, hint);
}

}  // namespace hone::io
