#include "workers/worker.h"

#include <signal.h>

#include "core/error.h"

namespace hone::workers {

namespace {
constexpr size_t kErrorBytes = 2000;
constexpr double kSecondsToDie = 0.2;  // a process whose pipes are closed is about to end: then we know how
}  // namespace

Worker::Worker(WorkerOptions options)
    : options_(std::move(options)), activity_(options_.name), errors_(kErrorBytes, options_.on_output) {}

Worker::~Worker() {
  if (child_) drain_errors(*child_, errors_);
}

int64_t Worker::num_starts() const {
  const std::lock_guard lock(mutex_);
  return num_starts_;
}

pid_t Worker::pid() const {
  const std::lock_guard lock(mutex_);
  return child_ ? child_->pid() : -1;
}

void Worker::ensure_started() {
  if (child_ && !child_->ended()) return;
  if (child_) drain_errors(*child_, errors_);
  child_.reset();
  errors_.clear();
  try {
    child_ = std::make_unique<ChildProcess>(options_.argv, options_.memory_bytes, options_.environment);
  } catch (const Error& error) {
    throw WorkerError(fmt::format("{}: {}", options_.name, error.what()), options_.install_hint);
  }
  fresh_ = true;
  ++num_starts_;
}

template <class Raised>
void Worker::raise_ended(const std::string& what) {
  drain_errors(*child_, errors_);
  child_.reset();
  std::string said = errors_.text();
  while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.pop_back();
  if (said.size() > kErrorBytes) said = "..." + said.substr(said.size() - kErrorBytes);
  throw Raised(fmt::format("{} {}{}", options_.name, what, said.empty() ? "" : "; its error output:\n" + said));
}

io::Json Worker::request(const io::Json& question, double seconds) {
  const Doing doing("waiting for a worker");
  const std::lock_guard lock(mutex_);
  ensure_started();
  const Doing answering(activity_, "answering, process", child_->pid());
  const double allowed = seconds + (fresh_ ? options_.start_seconds : 0.0);
  const Deadline deadline = std::chrono::steady_clock::now() +
                            std::chrono::duration_cast<Deadline::duration>(std::chrono::duration<double>(allowed));
  std::string reply;
  int64_t reply_bytes = 0;
  switch (exchange(*child_, question.dump(), reply, options_.max_reply_bytes, reply_bytes, errors_, deadline)) {
    case Exchange::done:
      break;
    case Exchange::too_late:
      child_->kill();
      raise_ended<WorkerTimeout>(fmt::format("gave no answer within {:g} s and was ended", allowed));
    case Exchange::too_large:
      child_->kill();
      raise_ended(fmt::format("began an answer of {} bytes, the limit is {}; it was ended", reply_bytes,
                              options_.max_reply_bytes));
    case Exchange::closed:
      if (!child_->wait(kSecondsToDie)) {
        child_->kill();
        raise_ended("broke off the conversation and was ended");
      }
      // the process sets itself an alarm for the time of a request, in case we are gone
      if (child_->end_signal() == SIGALRM)
        raise_ended<WorkerTimeout>(fmt::format("gave no answer within {:g} s", seconds));
      raise_ended(fmt::format("ended with {}", child_->how_it_ended()));
  }
  fresh_ = false;
  try {
    return io::parse_json(reply, "answer of " + options_.name);
  } catch (const Error& error) {
    child_->kill();
    raise_ended(fmt::format("gave an answer that is not JSON: {}", error.what()));
  }
}

}  // namespace hone::workers
