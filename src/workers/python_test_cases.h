// The Python of this machine, as far as tests need one. Hone runs without, so its tests do: they look at what a user is
// told then. Where HONE_NEED_PYTHON is set, as in continuous integration, nothing is passed over.
#pragma once

#include <cstdlib>
#include <string>

namespace hone::test {

constexpr const char* kNoPython =
    "Python 3 is optional, and this machine has none (Debian: apt-get install python3); HONE_NEED_PYTHON=1 makes it a "
    "failure";

inline bool python_runs(const std::string& python, const std::string& program) {
  return std::system((python + " -c '" + program + "' >/dev/null 2>&1").c_str()) == 0;
}
inline bool needs_python() { return std::getenv("HONE_NEED_PYTHON") != nullptr; }
inline bool has_python() {
  static const bool found = needs_python() || python_runs("python3", "import sys");
  return found;
}

}  // namespace hone::test
