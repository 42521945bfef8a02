// Timing of one thing or of two by turns, so that a noisy machine is noisy for both.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace hone::bench {

inline double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 != 0 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

struct Medians {
  double ours = 0, peers = 0;
};

// Threads of the other side keep spinning for a while after their work and would take a core from this one.
inline void let_spinners_sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }

// Each repetition: wake, ours, wake_peer, peers; the order of the two alternates. peers may be empty.
inline Medians medians_by_turns(int repetitions, const std::function<void()>& wake, const std::function<void()>& ours,
                                const std::function<void()>& wake_peer, const std::function<void()>& peers) {
  std::vector<double> our_times, peer_times;
  for (int i = 0; i < repetitions; ++i) {
    for (int turn = 0; turn < 2; ++turn) {
      const bool is_ours = (turn == 0) == (i % 2 == 0);
      if (!is_ours && !peers) continue;
      let_spinners_sleep();
      (is_ours ? wake : wake_peer)();
      (is_ours ? our_times : peer_times).push_back(seconds_of(is_ours ? ours : peers));
    }
  }
  return {median(our_times), peers ? median(peer_times) : 0};
}

}  // namespace hone::bench
