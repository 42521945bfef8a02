// Frames: how requests and replies travel over the pipes of a child process. A frame is its length in bytes (4, little
// end first) and so many bytes. One request is written and one reply read at the same time, so neither side waits for
// the other's full pipe, within a deadline; what the child says on its error output is kept apart.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "workers/child_process.h"

namespace hone::workers {

using Deadline = std::chrono::steady_clock::time_point;

enum class Exchange {
  done,
  closed,     // the child closed its output, or its input before the request was through
  too_late,   // the deadline passed
  too_large,  // the reply is longer than the limit
};

// The last bytes of a stream, all of which `on_output` gets, if it is there.
class Tail {
 public:
  explicit Tail(size_t max_bytes, std::function<void(std::string_view)> on_output = {})
      : max_bytes_(max_bytes), on_output_(std::move(on_output)) {}
  void add(const char* bytes, size_t size);
  const std::string& text() const { return text_; }
  void clear() { text_.clear(); }

 private:
  size_t max_bytes_;
  std::function<void(std::string_view)> on_output_;
  std::string text_;
};

// After anything but `done` the stream cannot be used again. No SIGPIPE comes of it.
// `reply_bytes` gets the announced length also when it is too large.
Exchange exchange(ChildProcess& child, const std::string& request, std::string& reply, int64_t max_reply_bytes,
                  int64_t& reply_bytes, Tail& errors, Deadline deadline);

// What stands in the child's error output now.
void drain_errors(ChildProcess& child, Tail& errors);

}  // namespace hone::workers
