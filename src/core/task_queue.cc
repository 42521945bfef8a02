#include "core/task_queue.h"

#include <algorithm>
#include <utility>

#include "core/activity.h"

namespace hone {

TaskQueue::TaskQueue(const char* what, int num_threads) : what_(what) {
  for (int i = 0; i < num_threads; ++i) threads_.emplace_back([this] { work(); });
}

TaskQueue::~TaskQueue() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
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
  if (threads_.empty()) return run_alone();
  const auto begin = Clock::now();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return tasks_.empty() && num_busy_ == 0; });
  const double waited = std::chrono::duration<double>(Clock::now() - begin).count();
  hidden_seconds_ = std::max(0.0, std::exchange(busy_seconds_, 0.0) - waited);
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
    if (num_busy_++ == 0) busy_since_ = Clock::now();
    lock.unlock();
    std::exception_ptr error;
    try {
      const Doing doing(activity, what_);
      task();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (--num_busy_ == 0) busy_seconds_ += std::chrono::duration<double>(Clock::now() - busy_since_).count();
    if (error && !error_) {
      error_ = error;
      tasks_.clear();
    }
    done_.notify_all();
  }
}

}  // namespace hone
