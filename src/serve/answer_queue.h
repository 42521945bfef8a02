// AnswerQueue: what the engine draws for one request, on its way to the thread that sends it. Neither side waits for
// the other: the engine puts and goes on. What can lie here is bounded by what the request may get, some bytes an id;
// text is made by the reader.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "records/trajectory.h"

namespace hone::serve {

struct AnswerPiece {   // one id
  int32_t choice = 0;  // prompt * n + sample
  int32_t id = 0;
  float logprob = 0;
  std::optional<FinishReason> finish;  // set: the choice's last id
  std::vector<TokenLogprob> top;
};

class AnswerQueue {
 public:
  // The engine's side.
  void put(std::vector<AnswerPiece>&& pieces) {
    if (pieces.empty()) return;
    const std::lock_guard lock(mutex_);
    if (left_) return;
    pieces_.insert(pieces_.end(), std::make_move_iterator(pieces.begin()), std::make_move_iterator(pieces.end()));
    changed_.notify_one();
  }
  // Nothing more will come. `failure`: why, when not all answers have ended.
  void close(const std::string& failure = "") {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    failure_ = failure;
    changed_.notify_one();
  }
  bool left() const {
    const std::lock_guard lock(mutex_);
    return left_;
  }

  // The reader's side: what has come, after waiting for it up to `time`. Sets `closed` when nothing more will come.
  std::vector<AnswerPiece> take(std::chrono::milliseconds time, bool& closed) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [&] { return !pieces_.empty() || closed_; });
    closed = closed_;
    return std::exchange(pieces_, {});
  }
  // The reader goes: the engine ends the answers and frees what they hold.
  void leave() {
    const std::lock_guard lock(mutex_);
    left_ = true;
    pieces_.clear();
  }
  std::string failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<AnswerPiece> pieces_;
  bool closed_ = false, left_ = false;
  std::string failure_;
};

}  // namespace hone::serve
