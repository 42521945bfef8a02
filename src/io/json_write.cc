// The writer of Json, and what it shares with other text formats: shortest numbers, places in a text.
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "io/json.h"
#include "io/utf8.h"

namespace hone::io {
namespace {

enum class Style { hone, python };

void write_string(std::string& out, std::string_view text, Style style) {
  out += '"';
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t length = utf8_length(text, i);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      ++i;
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\b') {
      out += "\\b";
    } else if (c == '\f') {
      out += "\\f";
    } else if (c < 0x20 || (c == 0x7f && style == Style::hone)) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      out.append(text, i, length);
    }
    i += length;
  }
  out += '"';
}

struct Writer {
  std::string out;
  int indent;
  Style style;

  void new_line(int depth) {
    if (indent < 0) return;
    out += '\n';
    out.append(static_cast<size_t>(indent * depth), ' ');
  }

  void write(const Json& value, int depth) {
    switch (value.kind()) {
      case Json::Kind::null:
        out += "null";
        break;
      case Json::Kind::boolean:
        out += value.as_bool() ? "true" : "false";
        break;
      case Json::Kind::integer:
        out += std::to_string(value.as_int());
        break;
      case Json::Kind::big_integer:
        out += value.digits();
        break;
      case Json::Kind::number:
        out += style == Style::python ? python_float(value.as_double()) : shortest(value.as_double());
        break;
      case Json::Kind::string:
        write_string(out, value.as_string(), style);
        break;
      case Json::Kind::array:
        write_array(value.as_array(), depth);
        break;
      case Json::Kind::object:
        write_object(value.as_object(), depth);
        break;
    }
  }

  void write_array(const Json::Array& items, int depth) {
    out += '[';
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += indent < 0 ? ", " : ",";
      new_line(depth + 1);
      write(items[i], depth + 1);
    }
    if (!items.empty()) new_line(depth);
    out += ']';
  }

  void write_object(const Json::Object& members, int depth) {
    out += '{';
    for (size_t i = 0; i < members.size(); ++i) {
      if (i > 0) out += indent < 0 ? ", " : ",";
      new_line(depth + 1);
      write_string(out, members[i].key, style);
      out += ": ";
      write(members[i].value, depth + 1);
    }
    if (!members.empty()) new_line(depth);
    out += '}';
  }
};

}  // namespace

std::string shortest(double value) {
  HONE_CHECK(std::isfinite(value), "a number that is not finite cannot be written");
  char digits[32];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// fmt chooses between plain digits and an exponent as Python does.
std::string python_float(double value) {
  HONE_CHECK(std::isfinite(value), "a number that is not finite cannot be written");
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

namespace {

std::string write(const Json& value, int indent, Style style) {
  Writer writer{{}, indent, style};
  writer.write(value, 0);
  return std::move(writer.out);
}

}  // namespace

std::string Json::dump(int indent) const { return write(*this, indent, Style::hone); }
std::string Json::python_dump(int indent) const { return write(*this, indent, Style::python); }

std::pair<int64_t, int64_t> line_and_column(std::string_view text, size_t offset) {
  int64_t line = 1, column = 1;
  for (size_t i = 0; i < offset && i < text.size(); ++i) {
    ++column;
    if (text[i] == '\n') {
      ++line;
      column = 1;
    }
  }
  return {line, column};
}

}  // namespace hone::io
