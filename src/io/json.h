// Json: a tree of values that knows its kinds, and a strict reader and writer for it. YAML is read into the same tree.
// The reader refuses duplicate keys, NaN and Infinity, nesting deeper than 100, broken UTF-8, numbers beyond double and
// bytes after the value, with file, line and column. The writer is deterministic: keys in the order they were put in,
// numbers in the shortest form that reads back to the same bits.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "io/utf8.h"

namespace hone::io {

class Json {
 public:
  enum class Kind { null, boolean, integer, big_integer, number, string, array, object };
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;  // in file order, keys distinct

  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(int64_t{value}) {}
  Json(int64_t value) : value_(value) {}
  Json(uint64_t value);  // a big_integer when it does not fit in int64_t
  Json(double value) : value_(value) {}
  // Written with as few digits as name this float; as_float() gives it back to the bit, as_double() the short decimal.
  Json(float value);
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value);  // keys must be distinct
  static Json array(std::initializer_list<Json> items = {}) { return Json(Array(items)); }
  static Json object(std::initializer_list<Member> members = {});
  static Json big_integer(std::string digits);  // an optional minus and decimal digits
  // null for NaN and infinities, which JSON cannot hold and the writer takes for a bug.
  static Json number_or_null(double value);

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  bool is_null() const { return kind() == Kind::null; }
  bool is_bool() const { return kind() == Kind::boolean; }
  bool is_int() const { return kind() == Kind::integer; }
  bool is_number() const;  // integer, big_integer or number
  bool is_string() const { return kind() == Kind::string; }
  bool is_array() const { return kind() == Kind::array; }
  bool is_object() const { return kind() == Kind::object; }

  const std::string& digits() const;  // of a big_integer
  // Each raises Error "expected a KIND, found VALUE" on another kind. Where the place should be named, use JsonAt.
  bool as_bool() const;
  int64_t as_int() const;    // integer only: 3.0 is not an integer
  uint64_t as_uint() const;  // integer or big_integer in [0, 2^64)
  double as_double() const;  // any number
  float as_float() const { return static_cast<float>(as_double()); }
  const std::string& as_string() const;
  const Array& as_array() const;
  const Object& as_object() const;

  // Objects: nullptr when the key is absent or this is no object. Linear in the members: walk large objects instead.
  const Json* find(std::string_view key) const;
  Json* find(std::string_view key);
  const Json& at(std::string_view key) const;  // Error when absent
  // Puts or replaces; null becomes an object first.
  Json& set(std::string_view key, Json value);
  // Arrays; null becomes an array first.
  void push_back(Json value);
  Array& array_items();      // must be an array
  Object& object_members();  // must be an object; the caller keeps keys distinct

  // One line, or with `indent` spaces per level. Broken UTF-8 in a string is written as U+FFFD.
  std::string dump(int indent = -1) const;
  // The same as Python writes it, to the byte: json.dumps(value, ensure_ascii=False, indent=indent).
  std::string python_dump(int indent = -1) const;
  // For messages: the kind and the value, cut short: `text "abc"`, `number 3`, `list of 4`.
  std::string describe() const;
  bool operator==(const Json& other) const;

 private:
  struct BigInteger {
    std::string digits;
    bool operator==(const BigInteger&) const = default;
  };
  std::variant<std::monostate, bool, int64_t, BigInteger, double, std::string, Array, Object> value_;
};

struct Json::Member {
  std::string key;
  Json value;
  bool operator==(const Member&) const = default;
};

// `name` is what errors call the text. A byte-order mark at the start is passed over.
Json parse_json(std::string_view text, const std::string& name, int64_t first_line = 1);
Json read_json(const std::string& path);
// Atomic; indented by two spaces, with a line end.
void write_json(const std::string& path, const Json& value);

// A value with its place, so that errors read `config.json: rope_scaling.factor: expected a number, found text "8"`.
class JsonAt {
 public:
  JsonAt(const Json& value, std::string file) : value_(&value), where_(std::move(file) + ":") {}
  const Json& value() const { return *value_; }
  const std::string& where() const { return where_; }

  JsonAt operator[](std::string_view key) const;           // Error when absent
  std::optional<JsonAt> find(std::string_view key) const;  // nothing when absent or null
  std::vector<JsonAt> items() const;                       // of an array
  bool as_bool() const;
  int64_t as_int() const;
  double as_double() const;
  const std::string& as_string() const;
  [[noreturn]] void fail(const std::string& what) const;  // Error "where: what"

 private:
  const Json* value_;
  std::string where_;
};

// Line and column of a byte, from 1; columns count bytes.
std::pair<int64_t, int64_t> line_and_column(std::string_view text, size_t offset);
// The shortest decimal that reads back to this finite double; always with '.' or an exponent.
std::string shortest(double value);
// The same as repr() of Python's float writes it: with an exponent below 0.0001 and from 1e16 on.
std::string python_float(double value);

}  // namespace hone::io
