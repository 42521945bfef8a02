#include "config/override.h"

#include <algorithm>

#include "config/spaces.h"
#include "core/error.h"
#include "io/yaml.h"

namespace hone::config {
namespace {

using io::Json;

constexpr int kDeepestValue = 100;

// Recursive descent over the text of a value.
class ValueReader {
 public:
  explicit ValueReader(std::string_view text) : text_(text) {}

  Json whole() {
    skip_spaces();
    if (at_end()) return "";
    Json value = read("", 0);
    skip_spaces();
    if (at_end()) return value;
    if (text_[at_] == ',') fail("a comma outside of [ ]: write [a,b] for a list, 'a,b' in quotes for a text");
    fail(fmt::format("text after the value: {}", text_.substr(at_)));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("at character {}: {}", at_ + 1, what));
  }
  bool at_end() const { return at_ >= text_.size(); }
  void skip_spaces() {
    while (!at_end() && is_space(text_[at_])) ++at_;
  }

  // `ends`: what ends a plain scalar here, besides the end.
  Json read(std::string_view ends, int depth) {
    if (depth > kDeepestValue) fail(fmt::format("nested deeper than {} levels", kDeepestValue));
    skip_spaces();
    const char c = at_end() ? '\0' : text_[at_];
    if (c == '[') return read_list(depth);
    if (c == '{') return read_object(depth);
    if (c == '\'' || c == '"') return read_quoted();
    return io::plain_scalar(read_plain(ends));
  }

  Json read_list(int depth) {
    Json::Array items;
    ++at_;
    skip_spaces();
    if (take(']')) return items;
    for (;;) {
      skip_spaces();
      if (at_end()) fail("[ has no closing ]");
      if (text_[at_] == ',' || text_[at_] == ']') fail("an empty item of a list");
      items.push_back(read(",]", depth + 1));
      skip_spaces();
      if (take(']')) return items;
      if (!take(',')) fail(at_end() ? "[ has no closing ]" : "expected , or ] after an item of a list");
    }
  }

  Json read_object(int depth) {
    Json object = Json::object();
    ++at_;
    skip_spaces();
    if (take('}')) return object;
    for (;;) {
      skip_spaces();
      if (at_end()) fail("{ has no closing }");
      const bool quoted = text_[at_] == '\'' || text_[at_] == '"';
      const std::string key = quoted ? read_quoted() : std::string(read_plain(":,}"));
      if (key.empty()) fail("expected a key");
      if (object.find(key) != nullptr) fail(fmt::format("key {} comes twice", key));
      skip_spaces();
      if (!take(':')) fail(fmt::format("expected : after the key {}", key));
      object.set(key, read(",}", depth + 1));
      skip_spaces();
      if (take('}')) return object;
      if (!take(',')) fail(at_end() ? "{ has no closing }" : "expected , or } after a value");
    }
  }

  std::string read_quoted() {
    const char quote = text_[at_++];
    std::string result;
    while (!at_end()) {
      const char c = text_[at_++];
      if (c == quote) return result;
      const bool escape = c == '\\' && !at_end() && (text_[at_] == quote || text_[at_] == '\\');
      result += escape ? text_[at_++] : c;
    }
    fail("a quote that is not closed");
  }

  // Up to one of `ends` or, at the top, a comma; what stands in ${...} is passed over whole.
  std::string_view read_plain(std::string_view ends) {
    const size_t begin = at_;
    for (int braces = 0; !at_end(); ++at_) {
      const char c = text_[at_];
      if (c == '$' && at_ + 1 < text_.size() && text_[at_ + 1] == '{') {
        ++braces;
        ++at_;
      } else if (c == '}' && braces > 0) {
        --braces;
      } else if (braces == 0 && (ends.empty() ? c == ',' : ends.find(c) != std::string_view::npos)) {
        break;
      }
    }
    return trim(text_.substr(begin, at_ - begin));
  }

  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Override parse_override(std::string_view argument) {
  Override result;
  std::string_view rest = trim(argument);
  if (rest.starts_with("~")) {
    result.remove = true;
    rest.remove_prefix(1);
  } else {
    for (int i = 0; i < 2 && rest.starts_with("+"); ++i) rest.remove_prefix(1);
  }
  const size_t equals = rest.find('=');
  const std::string_view key = trim(rest.substr(0, equals));
  const bool named = !key.empty() && key.find_first_of(" \t\n+~[]{}'\",") == std::string_view::npos;
  if (!named || (equals == std::string_view::npos && !result.remove)) {
    throw Error(fmt::format("expected key=value, found {}", argument));
  }
  if (key.front() == '.' || key.back() == '.' || key.find("..") != std::string_view::npos) {
    throw Error(fmt::format("expected a key such as a.b.c, found {}", key));
  }
  if (io::find_broken_utf8(argument) != std::string_view::npos) {
    throw Error(fmt::format("{}: bytes that are not UTF-8", key));
  }
  result.key = key;
  result.has_value = equals != std::string_view::npos;
  if (!result.has_value) return result;
  try {
    result.value = ValueReader(rest.substr(equals + 1)).whole();
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", key, error.what()));
  }
  return result;
}

}  // namespace hone::config
