// Worker: a child process that answers requests, JSON in and JSON out, one after the other. Each request has a deadline
// and a largest reply; a child that misses them, or that dies, is ended and started anew for the next request. Any
// number of threads may ask; they take turns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/activity.h"
#include "core/error.h"
#include "io/json.h"
#include "workers/frames.h"

namespace hone::workers {

// The worker itself fails, not what it was asked: no use in asking it the same for every row.
class WorkerError : public Error {
 public:
  using Error::Error;
};

// It gave no answer in time.
class WorkerTimeout : public WorkerError {
 public:
  using WorkerError::WorkerError;
};

struct WorkerOptions {
  std::string name;                           // what messages call it: "the worker for chat templates"
  std::vector<std::string> argv;              // program and arguments; it speaks the frames of workers/frames.h
  std::vector<std::string> environment = {};  // NAME=value, beside ours
  std::string install_hint;                   // what to do when the program cannot be started
  int64_t memory_bytes = int64_t{1} << 30;
  int64_t max_reply_bytes = int64_t{64} << 20;
  double start_seconds = 30;                             // added to the deadline of the first request of a process
  std::function<void(std::string_view)> on_output = {};  // gets what it says on its error output, as it comes
};

class Worker {
 public:
  explicit Worker(WorkerOptions options);  // starts nothing yet
  ~Worker();

  // The reply. Raises WorkerError when there is none: the program cannot be started, the deadline passed, the process
  // died or said too much; the message ends with the last lines of its error output.
  io::Json request(const io::Json& question, double seconds);

  int64_t num_starts() const;
  pid_t pid() const;  // -1: none runs

 private:
  void ensure_started();
  // Of the child, and how it ended, with its last words.
  template <class Raised = WorkerError>
  [[noreturn]] void raise_ended(const std::string& what);

  WorkerOptions options_;
  mutable std::mutex mutex_;
  std::unique_ptr<ChildProcess> child_;
  bool fresh_ = false;  // no reply yet from this process
  int64_t num_starts_ = 0;
  Activity activity_;  // for the watchdog, under the same lock
  Tail errors_;
};

}  // namespace hone::workers
