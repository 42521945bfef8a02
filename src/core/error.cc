#include "core/error.h"

namespace hone {

void raise_bug(const char* file, int line, const char* condition, const std::string& detail) {
  throw Bug(fmt::format("{}:{}: expected {}: {}", file, line, condition, detail));
}

}  // namespace hone
