// Error: what the outside world did wrong (file, config, user), with a hint; caught in cli/.
// HONE_CHECK: a bug of ours, with the values; both are exceptions so that libraries never abort.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace hone {

// Exit code 2 by default. `message` says file, place, expected and found; `hint` says what to do.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string hint = "", int exit_code = 2)
      : std::runtime_error(message), hint_(std::move(hint)), exit_code_(exit_code) {}
  const std::string& hint() const { return hint_; }
  int exit_code() const { return exit_code_; }

 private:
  std::string hint_;
  int exit_code_;
};

// A broken promise inside Hone. Exit code 1.
class Bug : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void raise_bug(const char* file, int line, const char* condition, const std::string& detail);

}  // namespace hone

// HONE_CHECK(condition, "format", values...): raises Bug when the condition does not hold.
#define HONE_CHECK(condition, ...)                                                 \
  do {                                                                             \
    if (!(condition)) [[unlikely]]                                                 \
      ::hone::raise_bug(__FILE__, __LINE__, #condition, fmt::format(__VA_ARGS__)); \
  } while (false)
