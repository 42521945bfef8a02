#include "workers/frames.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/error.h"
#include "workers/no_sigpipe.h"

namespace hone::workers {

namespace {

constexpr size_t kHeader = 4;

bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

// Reads what is there; false at the end of the stream.
template <class Take>
bool read_some(int fd, const Take& take) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got > 0) {
    take(buffer.data(), static_cast<size_t>(got));
    return true;
  }
  return got < 0 && would_wait();
}

std::string frame(const std::string& payload) {
  HONE_CHECK(payload.size() <= 0xFFFFFFFFu, "a request of {} bytes", payload.size());
  std::string bytes;
  for (size_t i = 0; i < kHeader; ++i) bytes += static_cast<char>((payload.size() >> (8 * i)) & 0xFF);
  return bytes + payload;
}

int64_t frame_length(const std::string& received) {
  int64_t length = 0;
  for (size_t i = 0; i < kHeader; ++i) length |= int64_t{static_cast<unsigned char>(received[i])} << (8 * i);
  return length;
}

int milliseconds_to(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60'000));
}

}  // namespace

void Tail::add(const char* bytes, size_t size) {
  if (on_output_) on_output_({bytes, size});
  text_.append(bytes, size);
  if (text_.size() > 2 * max_bytes_) text_.erase(0, text_.size() - max_bytes_);
}

Exchange exchange(ChildProcess& child, const std::string& request, std::string& reply, int64_t max_reply_bytes,
                  int64_t& reply_bytes, Tail& errors, Deadline deadline) {
  const NoSigpipe no_sigpipe;
  const std::string out = frame(request);
  size_t sent = 0;
  std::string received;
  bool errors_open = true;
  reply_bytes = -1;
  for (;;) {
    // negative descriptors are passed over by poll
    std::array<pollfd, 3> fds{pollfd{child.output(), POLLIN, 0},
                              pollfd{sent < out.size() ? child.input() : -1, POLLOUT, 0},
                              pollfd{errors_open ? child.errors() : -1, POLLIN, 0}};
    const int ready = ::poll(fds.data(), fds.size(), milliseconds_to(deadline));
    if (ready < 0 && errno != EINTR) return Exchange::closed;
    if (ready > 0) {
      if (fds[2].revents != 0)
        errors_open = read_some(child.errors(), [&](const char* b, size_t n) { errors.add(b, n); });
      if (fds[1].revents != 0) {
        const ssize_t wrote = ::write(child.input(), out.data() + sent, out.size() - sent);
        if (wrote > 0) sent += static_cast<size_t>(wrote);
        if (wrote < 0 && !would_wait()) return Exchange::closed;
      }
      if (fds[0].revents != 0 && !read_some(child.output(), [&](const char* b, size_t n) { received.append(b, n); })) {
        return Exchange::closed;
      }
    }
    if (reply_bytes < 0 && received.size() >= kHeader) reply_bytes = frame_length(received);
    if (reply_bytes > max_reply_bytes) return Exchange::too_large;
    if (reply_bytes >= 0 && received.size() >= kHeader + static_cast<size_t>(reply_bytes)) {
      // one reply to one request: anything beyond it would be taken for the next reply
      if (received.size() > kHeader + static_cast<size_t>(reply_bytes) || sent < out.size()) return Exchange::closed;
      reply = received.substr(kHeader);
      return Exchange::done;
    }
    if (std::chrono::steady_clock::now() >= deadline) return Exchange::too_late;
  }
}

void drain_errors(ChildProcess& child, Tail& errors) {
  constexpr int kMost = 64;  // a child that goes on writing is not waited for
  for (int i = 0; i < kMost; ++i) {
    bool more = false;
    const bool open = read_some(child.errors(), [&](const char* bytes, size_t size) {
      errors.add(bytes, size);
      more = true;
    });
    if (!open || !more) return;
  }
}

}  // namespace hone::workers
