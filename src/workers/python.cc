#include "workers/python.h"

#include <cstdlib>

#include "core/error.h"

namespace hone::workers {

extern const char* const kPythonProgram;  // made from python/hone_worker.py by the build

WorkerOptions python_worker(const std::string& name) {
  const char* chosen = std::getenv("HONE_PYTHON");
  const std::string interpreter = chosen != nullptr && *chosen != '\0' ? chosen : "python3";
  WorkerOptions options;
  options.name = name;
  options.argv = {interpreter, "-B", "-c", kPythonProgram};
  options.install_hint =
      "install Python 3 (Debian: apt-get install python3 python3-jinja2), or name an interpreter in HONE_PYTHON";
  return options;
}

io::Json ask_python(Worker& worker, const std::string& operation, io::Json question, double seconds) {
  question.set("operation", operation);
  question.set("seconds", seconds);
  io::Json reply = worker.request(question, seconds);
  if (const io::Json* module = reply.find("missing_module")) {
    throw WorkerError(
        fmt::format("{} is missing in the Python that runs it ({})", module->as_string(),
                    reply.at("python").as_string()),
        fmt::format("install the package python3-{0} (apt-get install python3-{0}), or name an interpreter that "
                    "has {0} in HONE_PYTHON",
                    module->as_string()));
  }
  if (const io::Json* error = reply.find("error")) throw Error(error->as_string());
  return reply;
}

}  // namespace hone::workers
