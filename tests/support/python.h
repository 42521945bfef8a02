// The Python of this machine, as far as tests need one.
#pragma once

#include <cstdlib>
#include <string>

namespace hone::test {

constexpr const char* kNoPython = "there is no python3";

inline bool python_runs(const std::string& python, const std::string& program) {
  return std::system((python + " -c '" + program + "' >/dev/null 2>&1").c_str()) == 0;
}
inline bool has_python() {
  static const bool found = python_runs("python3", "import sys");
  return found;
}

// The interpreter of $HONE_PYARROW_PYTHON (`tools/setup.sh ci` makes one), else $HONE_PYTHON, else python3; empty when
// it has no pyarrow.
inline std::string python_with_pyarrow() {
  std::string python = "python3";
  for (const char* variable : {"HONE_PYTHON", "HONE_PYARROW_PYTHON"}) {
    const char* chosen = std::getenv(variable);
    if (chosen != nullptr && *chosen != '\0') python = chosen;
  }
  return python_runs(python, "import pyarrow") ? python : "";
}

}  // namespace hone::test
