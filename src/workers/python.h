// Hone's own Python program (python/hone_worker.py, carried inside the binary) as a worker: what Hone does with
// jinja2 and other Python packages happens there and never in our address space.
#pragma once

#include <functional>
#include <memory>

#include "workers/worker.h"

namespace hone::workers {

// `name` is what messages call it. The interpreter is $HONE_PYTHON, or python3 of the PATH.
WorkerOptions python_worker(const std::string& name);

// Asks for `operation`, with `seconds` to do it in. Raises Error with what the program says went wrong; a missing
// Python package is named with the command that installs it.
io::Json ask_python(Worker& worker, const std::string& operation, io::Json question, double seconds);

// What `ask` gives. When the worker that it asks fails, other than by being late, it is called once more: a process
// that is killed from outside changes nothing.
io::Json ask_twice(const std::function<io::Json()>& ask);

}  // namespace hone::workers
