// Activity: what a thread or a child process is doing at this moment, for the watchdog to tell when nothing comes on.
// Saying it costs a few relaxed stores and no clock, so that every parallel part of a step can do it; who looks is on
// another thread and may see a moment that has just passed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace hone {

class alignas(64) Activity {
 public:
  static constexpr int64_t kNoNumber = -1;

  // Known under this name until its end. One thread writes it at a time.
  explicit Activity(std::string name);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
  // That of the calling thread, made when it is first asked for.
  static Activity& of_this_thread();
  void rename(std::string name);

  // What is begun inside of what was begun before. `what` lives for ever: a literal or the name of a function.
  void begin(const char* what, int64_t number = kNoNumber) {
    const int depth = depth_.load(std::memory_order_relaxed);
    if (depth < kMaxDepth) {
      const auto place = static_cast<size_t>(depth);
      frames_[place].what.store(what, std::memory_order_relaxed);
      frames_[place].number.store(number, std::memory_order_relaxed);
    }
    depth_.store(depth + 1, std::memory_order_relaxed);
    beat();
  }
  void end() {
    depth_.store(depth_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    beat();
  }
  // It has come on a little.
  void beat() { beats_.store(beats_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  struct State {
    uint64_t id = 0;     // never used again
    uint64_t beats = 0;  // another number: it has come on
    std::string name;
    std::string doing;  // "step 12 > gen > product"; "idle"
  };
  // Of all that are known, in the order in which they came to be.
  static std::vector<State> all();

 private:
  static constexpr int kMaxDepth = 8;
  struct Frame {
    std::atomic<const char*> what{nullptr};
    std::atomic<int64_t> number{kNoNumber};
  };
  std::string doing() const;

  std::atomic<int> depth_{0};
  std::atomic<uint64_t> beats_{0};
  std::array<Frame, kMaxDepth> frames_;
  uint64_t id_ = 0;
  std::string name_;  // under the lock of the registry
};

// Begins and ends something, in the calling thread unless told otherwise.
class Doing {
 public:
  explicit Doing(const char* what, int64_t number = Activity::kNoNumber)
      : Doing(Activity::of_this_thread(), what, number) {}
  Doing(Activity& activity, const char* what, int64_t number = Activity::kNoNumber) : activity_(activity) {
    activity_.begin(what, number);
  }
  ~Doing() { activity_.end(); }
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;

 private:
  Activity& activity_;
};

}  // namespace hone
