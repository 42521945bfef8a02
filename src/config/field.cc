#include "config/field.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/error.h"
#include "io/yaml.h"

namespace hone::config {
namespace {

constexpr double kLargestCount = 2147483647;  // of an integer without a bound of its own

using io::Json;

// What a run folder keeps has to be read again by YAML's rules.
constexpr size_t kLongestMember = 1000, kDeepestMember = 100;

// Lists and groups within each other.
size_t depth_of(const Json& value) {
  size_t inside = 0;
  if (value.is_array()) {
    for (const Json& item : value.as_array()) inside = std::max(inside, depth_of(item));
  } else if (value.is_object()) {
    for (const Json::Member& member : value.as_object()) inside = std::max(inside, depth_of(member.value));
  } else {
    return 0;
  }
  return inside + 1;
}

// From the tree to a value; nothing when the kind is wrong.
bool from_json(const Json& json, bool& out) {
  if (json.is_bool()) out = json.as_bool();
  return json.is_bool();
}
bool from_json(const Json& json, int64_t& out) {
  if (json.is_int()) out = json.as_int();
  return json.is_int();
}
// An integer may have any number of digits.
bool is_beyond_double(const Json& json) { return json.is_number() && !std::isfinite(json.as_double()); }
bool from_json(const Json& json, double& out) {
  if (!json.is_number() || is_beyond_double(json)) return false;
  out = json.as_double();
  return true;
}
bool from_json(const Json& json, std::string& out) {
  if (json.is_string()) out = json.as_string();
  if (json.is_number()) out = json.dump();  // a name such as 2024 or 1.5
  return json.is_string() || json.is_number();
}
template <class T>
bool from_json(const Json& json, std::optional<T>& out) {
  if (json.is_null()) {
    out.reset();
    return true;
  }
  T value{};
  if (!from_json(json, value)) return false;
  out = std::move(value);
  return true;
}
template <class T>
bool from_json(const Json& json, std::vector<T>& out) {
  std::vector<T> values;
  if (json.is_array()) {
    for (const Json& item : json.as_array()) {
      values.emplace_back();
      if (!from_json(item, values.back())) return false;
    }
  } else if (!json.is_null()) {
    values.emplace_back();
    if (!std::is_same_v<T, std::string> || !from_json(json, values.back())) return false;
  }
  out = std::move(values);
  return true;
}

bool from_json(const Json& json, Json& out) {
  if (json.is_object()) out = json;
  if (json.is_null()) out = Json::object();
  return json.is_object() || json.is_null();
}

template <class T>
Json to_json(const T& value) {
  return Json(value);
}
template <class T>
Json to_json(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json();
}
template <class T>
Json to_json(const std::vector<T>& values) {
  return Json(Json::Array(values.begin(), values.end()));
}

// "~/data" is in the home folder, as for verl; shells leave it alone behind key=.
Json with_home(const Json& json) {
  if (json.is_array()) {
    Json::Array items;
    for (const Json& item : json.as_array()) items.push_back(with_home(item));
    return items;
  }
  const char* home = std::getenv("HOME");
  if (!json.is_string() || home == nullptr || *home == '\0') return json;
  const std::string& text = json.as_string();
  return text == "~" || text.starts_with("~/") ? Json(home + text.substr(1)) : json;
}

std::string number_text(double value) {
  const auto whole = static_cast<int64_t>(value);
  return static_cast<double>(whole) == value ? std::to_string(whole) : io::shortest(value);
}

}  // namespace

Field::Field(std::string key, Target target, std::string doc)
    : key_(std::move(key)), doc_(std::move(doc)), target_(target), default_(value()) {}

Field& Field::at_least(double value) {
  low_ = value;
  low_open_ = false;
  return *this;
}
Field& Field::above(double value) {
  low_ = value;
  low_open_ = true;
  return *this;
}
Field& Field::at_most(double value) {
  high_ = value;
  high_open_ = false;
  return *this;
}
Field& Field::below(double value) {
  high_ = value;
  high_open_ = true;
  return *this;
}
Field& Field::nonzero() {
  nonzero_ = true;
  return *this;
}
Field& Field::one_of(std::vector<std::string> choices) {
  choices_ = std::move(choices);
  return *this;
}
Field& Field::because(std::string reason) {
  reason_ = std::move(reason);
  return *this;
}
Field& Field::effect(Effect effect) {
  effect_ = effect;
  return *this;
}
Field& Field::when(std::string condition, std::function<bool()> holds) {
  condition_ = std::move(condition);
  holds_ = std::move(holds);
  return *this;
}
Field& Field::also_when(const std::string& condition, std::function<bool()> holds) {
  if (condition_.empty()) return when(condition, std::move(holds));
  condition_ += " and " + condition;
  holds_ = [first = std::move(holds_), second = std::move(holds)] { return (!first || first()) && second(); };
  return *this;
}
Field& Field::results_when(std::string condition, std::function<bool()> holds) {
  results_condition_ = std::move(condition);
  results_when_ = std::move(holds);
  return *this;
}
Field& Field::also_called(std::vector<std::string> aliases) {
  aliases_ = std::move(aliases);
  return *this;
}
Field& Field::required() {
  required_ = true;
  return *this;
}
Field& Field::path() {
  path_ = true;
  return *this;
}

Field& Field::takes_numbers() {
  takes_numbers_ = true;
  return *this;
}

Json Field::value() const {
  return std::visit([](const auto* place) { return to_json(*place); }, target_);
}

std::string Field::type_text() const {
  constexpr const char* kTexts[] = {"true or false",
                                    "integer",
                                    "number",
                                    "text",
                                    "text or a list of texts",
                                    "list of numbers",
                                    "true, false or null",
                                    "integer or null",
                                    "number or null",
                                    "text or null",
                                    "group of any keys"};
  return kTexts[target_.index()];
}

std::string Field::range_text() const {
  std::string text;
  if (low_.has_value()) text = (low_open_ ? "above " : "at least ") + number_text(*low_);
  if (high_.has_value()) {
    text += (text.empty() ? "" : ", ") + std::string(high_open_ ? "below " : "at most ") + number_text(*high_);
  }
  if (nonzero_) text += text.empty() ? "not 0" : ", not 0";
  for (size_t i = 0; i < choices_.size(); ++i) {
    text += (i == 0 ? "one of " : ", ") + choices_[i];
  }
  return text;
}

std::string Field::fault_of_kind(const Json& json) const {
  const std::string type = type_text();
  const Json::Array items = json.is_array() ? json.as_array() : Json::Array{json};
  const auto beyond = std::find_if(items.begin(), items.end(), is_beyond_double);
  if (beyond != items.end() && type.find("number") != std::string::npos) {
    return fmt::format("expected a number that a double can hold, found {}", beyond->describe());
  }
  const bool too_long = json.kind() == Json::Kind::big_integer && type.starts_with("integer");
  return fmt::format("expected {}, found {}", too_long ? "an integer of 64 bits" : type, json.describe());
}

std::string Field::fault_of(const Json& item) const {
  bool allowed = true;
  if (item.is_number()) {
    const double number = item.as_double();
    if (low_.has_value()) allowed = low_open_ ? number > *low_ : number >= *low_;
    if (high_.has_value()) allowed = allowed && (high_open_ ? number < *high_ : number <= *high_);
    if (nonzero_) allowed = allowed && number != 0;
    // sums and products of such counts must not overflow
    if (item.is_int() && !high_.has_value() && std::abs(number) > kLargestCount) {
      return fmt::format("expected at most {:.0f}, found {}", kLargestCount, item.describe());
    }
  }
  if (item.is_string() && !choices_.empty()) {
    allowed = std::find(choices_.begin(), choices_.end(), item.as_string()) != choices_.end();
  }
  if (allowed) return "";
  return fmt::format("expected {}, found {}{}", range_text(), item.describe(), reason_.empty() ? "" : ": " + reason_);
}

std::string Field::assign_member(std::string_view path, const Json& value) {
  if (io::flow_yaml(path).size() > kLongestMember)
    return fmt::format("expected a key of at most {} characters", kLongestMember);
  const auto groups = static_cast<size_t>(std::count(key_.begin(), key_.end(), '.') + 2 +  // the top, and this group
                                          std::count(path.begin(), path.end(), '.'));
  if (groups + depth_of(value) > kDeepestMember) {
    return fmt::format("expected at most {} groups and lists in each other", kDeepestMember);
  }
  Json* group = std::get<Json*>(target_);
  for (size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    const std::string_view name = path.substr(0, dot);
    Json* next = group->find(name);
    group = next != nullptr && next->is_object() ? next : &group->set(name, Json::object());
    path.remove_prefix(dot + 1);
  }
  group->set(path, value);
  return "";
}

std::string Field::assign(const Json& json) {
  const Json old = value();
  const auto put = [&](const Json& from) {
    return std::visit([&](auto* place) { return from_json(from, *place); }, target_);
  };
  if (!put(path_ ? with_home(json) : takes_numbers_ && json.is_number() ? Json(json.dump()) : json)) {
    return fault_of_kind(json);
  }
  const Json now = value();
  for (const Json& item : now.is_array() ? now.as_array() : Json::Array{now}) {
    std::string fault = fault_of(item);
    if (fault.empty()) continue;
    put(old);
    return fault;
  }
  return "";
}

}  // namespace hone::config
