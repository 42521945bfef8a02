// TaskQueue: work beside the calling thread, on one thread of its own, in the order in which it was added. A task
// writes to its own place alone, so that when it is done changes no result (law 2).
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace hone {

class TaskQueue {
 public:
  // `what` is for the watchdog: a literal. Without a thread the tasks run in wait(), on the caller's.
  TaskQueue(const char* what, bool with_thread);
  ~TaskQueue();  // ends the task that runs and leaves the others
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  void add(std::function<void()> task);
  // Until every task is done. Raises the first exception of a task again; those behind it are left out.
  void wait();
  // Of the tasks of the last wait(): seconds of theirs that nobody waited for.
  double hidden_seconds() const { return hidden_seconds_; }

 private:
  void work();
  void run_alone();

  const char* what_;
  double hidden_seconds_ = 0;  // of the caller
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::deque<std::function<void()>> tasks_;  // this and what follows: under the mutex
  bool busy_ = false, stop_ = false;
  double task_seconds_ = 0;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace hone
