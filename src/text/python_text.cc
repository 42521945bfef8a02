#include "text/python_text.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cstdlib>

#include "io/json.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace hone::text {

namespace {

// White_Space and the four separators U+001C to U+001F.
bool is_python_space(char32_t value) { return (value >= 0x1C && value <= 0x1F) || classify(value) == CharClass::space; }

void write_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}
  std::string take() { return std::move(out_); }

  void write(const io::Json& value, int depth) {
    switch (value.kind()) {
      case io::Json::Kind::null:
        out_ += "null";
        break;
      case io::Json::Kind::boolean:
        out_ += value.as_bool() ? "true" : "false";
        break;
      case io::Json::Kind::integer:
        out_ += std::to_string(value.as_int());
        break;
      case io::Json::Kind::big_integer:
        out_ += value.digits();
        break;
      case io::Json::Kind::number:
        out_ += python_float(value.as_double());
        break;
      case io::Json::Kind::string:
        write_string(out_, value.as_string());
        break;
      case io::Json::Kind::array:
        write_items('[', ']', value.as_array(), depth, [&](const io::Json& item) { write(item, depth + 1); });
        break;
      case io::Json::Kind::object:
        write_items('{', '}', value.as_object(), depth, [&](const io::Json::Member& member) {
          write_string(out_, member.key);
          out_ += ": ";
          write(member.value, depth + 1);
        });
        break;
    }
  }

 private:
  template <class Items, class Write>
  void write_items(char open, char close, const Items& items, int depth, const Write& write_item) {
    out_ += open;
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += indent_ < 0 ? ", " : ",";
      first = false;
      new_line(depth + 1);
      write_item(item);
    }
    if (!items.empty()) new_line(depth);
    out_ += close;
  }
  void new_line(int depth) {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<size_t>(indent_ * depth), ' ');
  }

  std::string out_;
  int indent_;
};

}  // namespace

std::string_view python_strip(std::string_view text) {
  while (!text.empty()) {
    const CodePoint first = decode_code_point(text, 0);
    if (!is_python_space(first.value)) break;
    text.remove_prefix(first.size);
  }
  while (!text.empty()) {
    const size_t begin = code_point_before(text, text.size());
    if (!is_python_space(decode_code_point(text, begin).value)) break;
    text = text.substr(0, begin);
  }
  return text;
}

std::string_view python_lstrip(std::string_view text, std::string_view characters) {
  const size_t begin = text.find_first_not_of(characters);
  return begin == std::string_view::npos ? std::string_view{} : text.substr(begin);
}

std::string_view python_rstrip(std::string_view text, std::string_view characters) {
  return text.substr(0, text.find_last_not_of(characters) + 1);
}

std::string_view python_strip(std::string_view text, std::string_view characters) {
  return python_lstrip(python_rstrip(text, characters), characters);
}

std::string python_float(double value) {
  std::array<char, 32> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
  const std::string_view shortest(buffer.data(), static_cast<size_t>(end - buffer.data()));  // -d.ddde+XX
  const size_t e = shortest.find('e');
  const int exponent = std::atoi(std::string(shortest.substr(e + 1)).c_str());
  const bool negative = shortest.front() == '-';
  std::string digits;
  for (const char c : shortest.substr(0, e)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  std::string result = negative ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    result += digits[0];
    if (digits.size() > 1) result += "." + digits.substr(1);
    return result + fmt::format("e{}{:02d}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return result + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return result + digits + std::string(whole - digits.size(), '0') + ".0";
  return result + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string python_json(const io::Json& value, int indent) {
  Writer writer(indent);
  writer.write(value, 0);
  return writer.take();
}

}  // namespace hone::text
