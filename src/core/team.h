// Team: a fixed set of threads that share out numbered tasks. Tasks are cut by shape, never by the number of threads,
// so which thread runs a task changes nothing (law 2).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/activity.h"

namespace hone {

// Processors that this process may use, by its affinity (taskset, cpusets, Slurm). Asked once, so that threads which
// are pinned afterwards change nothing.
int num_cores();

// What is wanted, or one for each core when that is 0 (or below); at least 1, at most 1,024.
int resolve_threads(int64_t wanted);

class Team {
 public:
  // The calling thread is one of num_threads.
  explicit Team(int num_threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int num_threads() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls body(task) for every task in [0, num_tasks), each once, on any thread, and waits.
  // body(task, thread) is offered the number of its thread for scratch of its own.
  // The first exception is raised again here. Not to be nested. `what` is for the watchdog: the caller's name.
  template <class Body>
  void run(int64_t num_tasks, const Body& body, const char* what = __builtin_FUNCTION()) {
    if (num_tasks <= 0) return;
    run_erased(
        num_tasks,
        [](const void* b, int64_t task, int thread) {
          if constexpr (std::is_invocable_v<const Body&, int64_t, int>) {
            (*static_cast<const Body*>(b))(task, thread);
          } else {
            (void)thread;
            (*static_cast<const Body*>(b))(task);
          }
        },
        &body, what);
  }

 private:
  using Call = void (*)(const void* body, int64_t task, int thread);
  void run_erased(int64_t num_tasks, Call call, const void* body, const char* what);
  void work(int thread);
  void take_tasks(int thread, Activity& activity);

  std::vector<std::thread> threads_;
  int spins_ = 0;
  std::atomic<uint64_t> round_{0};
  std::atomic<int> busy_{0};
  std::atomic<int64_t> next_task_{0};
  std::atomic<bool> stop_{false};
  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  int64_t num_tasks_ = 0;
  Call call_ = nullptr;
  const void* body_ = nullptr;
  const char* what_ = nullptr;
  std::mutex error_mutex_;
  std::exception_ptr error_;
};

}  // namespace hone
