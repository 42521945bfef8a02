#include "io/json.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"

namespace hone::io {
namespace {

// The decimal of fewest digits for a float may, read as a double and rounded again, miss the float by a tie: then the
// float itself, which a double holds exactly, stands for it.
double short_double(float value) {
  if (!std::isfinite(value)) return value;
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  double result = 0;
  std::from_chars(digits, end, result);
  return static_cast<float>(result) == value ? result : static_cast<double>(value);
}

[[noreturn]] void raise_kind(const char* expected, const Json& found) {
  throw Error(fmt::format("expected {}, found {}", expected, found.describe()));
}

}  // namespace

Json::Json(uint64_t value) {
  if (value <= static_cast<uint64_t>(INT64_MAX)) {
    value_ = static_cast<int64_t>(value);
  } else {
    value_ = BigInteger{std::to_string(value)};
  }
}

Json::Json(float value) : value_(short_double(value)) {}
Json::Json(Object value) : value_(std::move(value)) {}
Json Json::object(std::initializer_list<Member> members) { return Json(Object(members)); }

Json Json::big_integer(std::string digits) {
  Json result;
  result.value_ = BigInteger{std::move(digits)};
  return result;
}

Json Json::number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

bool Json::is_number() const {
  return kind() == Kind::integer || kind() == Kind::big_integer || kind() == Kind::number;
}

bool Json::as_bool() const {
  if (!is_bool()) raise_kind("true or false", *this);
  return std::get<bool>(value_);
}

int64_t Json::as_int() const {
  if (kind() == Kind::big_integer) raise_kind("an integer of 64 bits", *this);
  if (!is_int()) raise_kind("an integer", *this);
  return std::get<int64_t>(value_);
}

uint64_t Json::as_uint() const {
  if (is_int() && std::get<int64_t>(value_) >= 0) return static_cast<uint64_t>(std::get<int64_t>(value_));
  if (kind() == Kind::big_integer) {
    const std::string& digits = std::get<BigInteger>(value_).digits;
    uint64_t result = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
    if (error == std::errc() && end == digits.data() + digits.size()) return result;
  }
  raise_kind("an integer from 0 to 2^64 - 1", *this);
}

double Json::as_double() const {
  switch (kind()) {
    case Kind::integer:
      return static_cast<double>(std::get<int64_t>(value_));
    case Kind::big_integer:
      return std::strtod(std::get<BigInteger>(value_).digits.c_str(), nullptr);
    case Kind::number:
      return std::get<double>(value_);
    default:
      raise_kind("a number", *this);
  }
}

const std::string& Json::digits() const {
  HONE_CHECK(kind() == Kind::big_integer, "not a big integer: {}", describe());
  return std::get<BigInteger>(value_).digits;
}

const std::string& Json::as_string() const {
  if (!is_string()) raise_kind("text", *this);
  return std::get<std::string>(value_);
}

const Json::Array& Json::as_array() const {
  if (!is_array()) raise_kind("a list", *this);
  return std::get<Array>(value_);
}

const Json::Object& Json::as_object() const {
  if (!is_object()) raise_kind("an object", *this);
  return std::get<Object>(value_);
}

Json::Array& Json::array_items() {
  HONE_CHECK(is_array(), "not a list: {}", describe());
  return std::get<Array>(value_);
}

Json::Object& Json::object_members() {
  HONE_CHECK(is_object(), "not an object: {}", describe());
  return std::get<Object>(value_);
}

const Json* Json::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  for (const Member& member : std::get<Object>(value_)) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

Json* Json::find(std::string_view key) { return const_cast<Json*>(std::as_const(*this).find(key)); }

const Json& Json::at(std::string_view key) const {
  as_object();
  const Json* value = find(key);
  if (value == nullptr) throw Error(fmt::format("expected a key {}, found none", visible(key)));
  return *value;
}

Json& Json::set(std::string_view key, Json value) {
  if (is_null()) value_ = Object();
  if (Json* old = find(key)) return *old = std::move(value);
  object_members().push_back({std::string(key), std::move(value)});
  return object_members().back().value;
}

void Json::push_back(Json value) {
  if (is_null()) value_ = Array();
  array_items().push_back(std::move(value));
}

bool Json::operator==(const Json& other) const { return value_ == other.value_; }

std::string Json::describe() const {
  constexpr size_t kShown = 60;
  switch (kind()) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return std::get<bool>(value_) ? "true" : "false";
    case Kind::string: {
      const std::string& text = std::get<std::string>(value_);
      if (text.size() <= kShown) return "text " + dump();
      size_t cut = kShown;
      while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
      return "text " + Json(text.substr(0, cut) + "...").dump();
    }
    case Kind::array:
      return fmt::format("a list of {}", std::get<Array>(value_).size());
    case Kind::object:
      return fmt::format("an object of {}", std::get<Object>(value_).size());
    case Kind::big_integer: {
      const std::string& all = digits();
      if (all.size() <= kShown) return "number " + all;
      return fmt::format("number {}... of {} characters", all.substr(0, kShown), all.size());
    }
    default:
      return "number " + (kind() == Kind::number && !std::isfinite(as_double()) ? "not finite" : dump());
  }
}

Json read_json(const std::string& path) { return parse_json(read_file(path), path); }

void write_json(const std::string& path, const Json& value) { write_file(path, value.dump(2) + "\n"); }

JsonAt JsonAt::operator[](std::string_view key) const {
  if (!value_->is_object()) fail("expected an object, found " + value_->describe());
  const Json* value = value_->find(key);
  if (value == nullptr) fail(fmt::format("expected a key {}, found none", visible(key)));
  JsonAt result = *this;
  result.value_ = value;
  result.where_ += (where_.back() == ':' ? " " : ".") + visible(key);
  return result;
}

std::optional<JsonAt> JsonAt::find(std::string_view key) const {
  if (!value_->is_object()) fail("expected an object, found " + value_->describe());
  const Json* value = value_->find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return (*this)[key];
}

std::vector<JsonAt> JsonAt::items() const {
  if (!value_->is_array()) fail("expected a list, found " + value_->describe());
  std::vector<JsonAt> result;
  for (const Json& item : value_->as_array()) {
    JsonAt at = *this;
    at.value_ = &item;
    at.where_ += fmt::format("[{}]", result.size());
    result.push_back(std::move(at));
  }
  return result;
}

bool JsonAt::as_bool() const {
  if (!value_->is_bool()) fail("expected true or false, found " + value_->describe());
  return value_->as_bool();
}

int64_t JsonAt::as_int() const {
  if (!value_->is_int()) fail("expected an integer, found " + value_->describe());
  return value_->as_int();
}

double JsonAt::as_double() const {
  if (!value_->is_number()) fail("expected a number, found " + value_->describe());
  return value_->as_double();
}

const std::string& JsonAt::as_string() const {
  if (!value_->is_string()) fail("expected text, found " + value_->describe());
  return value_->as_string();
}

void JsonAt::fail(const std::string& what) const {
  throw Error(where_.back() == ':' ? where_ + " " + what : where_ + ": " + what);
}

}  // namespace hone::io
