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

namespace {

std::string how_to_install(const std::string& module) {
  if (module == "jinja2") {  // a package of Debian, which also Hone's setup installs
    return "install the package python3-jinja2 (apt-get install python3-jinja2), or name an interpreter that has "
           "jinja2 "
           "in HONE_PYTHON";
  }
  return fmt::format(
      "name an interpreter that has {0} in HONE_PYTHON; to make one: python3 -m venv ~/hone-python && "
      "~/hone-python/bin/pip install {0} jinja2 && export HONE_PYTHON=~/hone-python/bin/python",
      module);
}

}  // namespace

io::Json ask_python(Worker& worker, const std::string& operation, io::Json question, double seconds) {
  question.set("operation", operation);
  question.set("seconds", seconds);
  io::Json reply = worker.request(question, seconds);
  if (const io::Json* module = reply.find("missing_module")) {
    throw WorkerError(fmt::format("{} is missing in the Python that runs it ({})", module->as_string(),
                                  reply.at("python").as_string()),
                      how_to_install(module->as_string()));
  }
  if (const io::Json* error = reply.find("error")) throw Error(error->as_string());
  return reply;
}

io::Json ask_twice(const std::function<io::Json()>& ask) {
  try {
    return ask();
  } catch (const WorkerTimeout&) {
    throw;
  } catch (const WorkerError&) {
    return ask();
  }
}

}  // namespace hone::workers
