#include "core/team.h"

#include <sched.h>

#include <algorithm>

#include "core/error.h"

namespace hone {

namespace {
// A step of the model has hundreds of short parallel parts: spinning for about 50 µs spares the wake-up of a sleeper.
// With more threads than cores a spinning thread would keep a working one off its core.
constexpr int kSpins = 5000;

inline void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

int count_cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  return static_cast<int>(std::thread::hardware_concurrency());  // more processors than the set has bits
}
}  // namespace

int num_cores() {
  static const int cores = std::max(count_cores(), 1);
  return cores;
}

int resolve_threads(int64_t wanted) {
  if (wanted <= 0) wanted = num_cores();
  return static_cast<int>(std::clamp<int64_t>(wanted, 1, 1024));
}

Team::Team(int num_threads) {
  HONE_CHECK(num_threads >= 1, "{} threads", num_threads);
  spins_ = num_threads <= num_cores() ? kSpins : 0;
  for (int t = 1; t < num_threads; ++t) threads_.emplace_back([this, t] { work(t); });
}

Team::~Team() {
  {
    std::lock_guard lock(mutex_);
    stop_.store(true);
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Team::take_tasks(int thread, Activity& activity) {
  activity.begin(what_);
  for (;;) {
    const int64_t task = next_task_.fetch_add(1, std::memory_order_relaxed);
    if (task >= num_tasks_) break;
    activity.beat();
    try {
      call_(body_, task, thread);
    } catch (...) {
      std::lock_guard lock(error_mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
  activity.end();
}

void Team::run_erased(int64_t num_tasks, Call call, const void* body, const char* what) {
  num_tasks_ = num_tasks;
  call_ = call;
  body_ = body;
  what_ = what;
  next_task_.store(0, std::memory_order_relaxed);
  const bool alone = threads_.empty() || num_tasks == 1;
  if (!alone) {
    busy_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
    round_.fetch_add(1);  // sequentially consistent with sleepers_ in work(): no wake-up is lost
    if (sleepers_.load() > 0) {
      { std::lock_guard lock(mutex_); }
      wake_.notify_all();
    }
  }
  Activity& activity = Activity::of_this_thread();
  take_tasks(0, activity);
  if (!alone) {
    activity.begin("waiting for the team");
    for (int spins = 0; busy_.load(std::memory_order_acquire) > 0; ++spins) {
      if (spins < spins_) {
        pause_cpu();
      } else {
        std::this_thread::yield();
      }
    }
    activity.end();
  }
  if (error_) {
    std::exception_ptr error;
    std::swap(error, error_);
    std::rethrow_exception(error);
  }
}

void Team::work(int thread) {
  Activity activity(fmt::format("team thread {}", thread));
  uint64_t seen = 0;
  for (;;) {
    for (int spins = 0; spins < spins_ && round_.load(std::memory_order_acquire) == seen && !stop_.load(); ++spins) {
      pause_cpu();
    }
    if (round_.load(std::memory_order_acquire) == seen) {
      std::unique_lock lock(mutex_);
      sleepers_.fetch_add(1);
      wake_.wait(lock, [&] { return stop_.load() || round_.load() != seen; });
      sleepers_.fetch_sub(1);
      if (round_.load() == seen) return;  // stop
    }
    ++seen;
    take_tasks(thread, activity);
    busy_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace hone
