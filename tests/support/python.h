// An interpreter with pyarrow, for tests of real Parquet files.
#pragma once

#include <cstdlib>
#include <string>

#include "workers/python_test_cases.h"

namespace hone::test {

// That of $HONE_PYARROW_PYTHON (`tools/setup.sh ci` makes one), else $HONE_PYTHON, else python3; empty when it has no
// pyarrow and the test may be passed over.
inline std::string python_with_pyarrow() {
  std::string python = "python3";
  for (const char* variable : {"HONE_PYTHON", "HONE_PYARROW_PYTHON"}) {
    const char* chosen = std::getenv(variable);
    if (chosen != nullptr && *chosen != '\0') python = chosen;
  }
  return needs_python() || python_runs(python, "import pyarrow") ? python : "";
}

}  // namespace hone::test
