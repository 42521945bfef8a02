// Scalars of YAML, both ways.
#include <charconv>
#include <cmath>

#include "io/yaml.h"

namespace hone::io {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// [-+]? digits; a leading zero makes 010 octal to some and decimal to others, so it is no number here.
bool is_integer(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return false;
  for (char c : text) {
    if (!is_digit(c)) return false;
  }
  return true;
}

// [-+]? (digits [. digits?] | . digits) ([eE] [-+]? digits)?
bool is_decimal(std::string_view text) {
  size_t i = 0;
  const auto digits = [&] {
    const size_t begin = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return i - begin;
  };
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  const size_t first = i;
  const size_t whole = digits();
  if (whole > 1 && text[first] == '0') return false;
  size_t fraction = 0;
  if (i < text.size() && text[i] == '.') {
    ++i;
    fraction = digits();
  }
  if (whole + fraction == 0) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

std::string quoted(const std::string& text) { return Json(text).dump(); }

std::string flow_text(const std::string& text) {
  const bool plain = !text.empty() && plain_scalar(text) == Json(text) &&
                     text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") ==
                         std::string::npos &&
                     text[0] != '-' && text[0] != '.';
  return plain ? text : quoted(text);
}

}  // namespace

Json plain_scalar(std::string_view text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return {};
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const std::string_view unsigned_text = text[0] == '+' ? text.substr(1) : text;
  if (is_integer(text)) {
    int64_t value = 0;
    const char* end = unsigned_text.data() + unsigned_text.size();
    if (std::from_chars(unsigned_text.data(), end, value).ec == std::errc()) return value;
    return Json::big_integer(std::string(unsigned_text));
  }
  if (is_decimal(text)) {
    double value = 0;
    const char* end = unsigned_text.data() + unsigned_text.size();
    const auto [last, error] = std::from_chars(unsigned_text.data(), end, value);
    if (error == std::errc() && last == end) return value;
  }
  return text;
}

std::string flow_yaml(const Json& value) {
  if (value.is_string()) return flow_text(value.as_string());
  if (value.is_array()) {
    std::string text = "[";
    for (const Json& item : value.as_array()) text += (text.size() > 1 ? ", " : "") + flow_yaml(item);
    return text + "]";
  }
  if (value.is_object()) {
    std::string text = "{";
    for (const Json::Member& member : value.as_object()) {
      text += (text.size() > 1 ? ", " : "") + flow_text(member.key) + ": " + flow_yaml(member.value);
    }
    return text + "}";
  }
  return value.dump();
}

}  // namespace hone::io
