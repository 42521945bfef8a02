#include "core/task_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/activity.h"

namespace hone {

namespace {

using QueueClock = std::chrono::steady_clock;

double seconds_since(QueueClock::time_point begin) {
  return std::chrono::duration<double>(QueueClock::now() - begin).count();
}

}  // namespace

TaskQueue::TaskQueue(const char* what, bool with_thread) : what_(what) {
  if (with_thread) thread_ = std::thread([this] { work(); });
}

TaskQueue::~TaskQueue() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void TaskQueue::add(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void TaskQueue::run_alone() {
  const std::deque<std::function<void()>> tasks = std::exchange(tasks_, {});
  const Doing doing(what_);
  for (const std::function<void()>& task : tasks) task();
}

void TaskQueue::wait() {
  if (!thread_.joinable()) return run_alone();
  const auto begin = QueueClock::now();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return tasks_.empty() && !busy_; });
  hidden_seconds_ = std::max(0.0, std::exchange(task_seconds_, 0.0) - seconds_since(begin));
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void TaskQueue::work() {
  Activity activity(what_);
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
    if (stop_) return;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    busy_ = true;
    lock.unlock();
    const auto begin = QueueClock::now();
    std::exception_ptr error;
    try {
      const Doing doing(activity, what_);
      task();
    } catch (...) {
      error = std::current_exception();
    }
    const double seconds = seconds_since(begin);
    lock.lock();
    busy_ = false;
    task_seconds_ += seconds;
    if (error) {
      error_ = error;
      tasks_.clear();
    }
    done_.notify_all();
  }
}

}  // namespace hone
