// TaskQueue: work beside the calling thread, on threads of its own, begun in the order in which it was added. A task
// writes to its own place alone, so that when it is done changes no result (law 2).
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hone {

class TaskQueue {
 public:
  // `what` is for the watchdog: a literal. Without threads the tasks run in wait(), on the caller's. More than one
  // thread is for tasks that wait for other processes.
  TaskQueue(const char* what, int num_threads);
  ~TaskQueue();  // ends the tasks that run and leaves the others
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  void add(std::function<void()> task);
  // Until every task is done. Raises the first exception of a task again; those behind it are left out.
  void wait();
  // Of the tasks of the last wait(): seconds with a task at work that nobody waited for.
  double hidden_seconds() const { return hidden_seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  void work();
  void run_alone();

  const char* what_;
  double hidden_seconds_ = 0;  // of the caller
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::deque<std::function<void()>> tasks_;  // this and what follows: under the mutex
  int num_busy_ = 0;
  bool stop_ = false;
  Clock::time_point busy_since_;
  double busy_seconds_ = 0;  // with a task at work, but for those since busy_since_
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace hone
