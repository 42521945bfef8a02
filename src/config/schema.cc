#include "config/schema.h"

#include <algorithm>

#include "core/error.h"
#include "io/yaml.h"

namespace hone::config {
namespace {

using io::Json;

bool matches(const std::string& pattern, const std::string& key) {
  if (!pattern.ends_with(".*")) return pattern == key;
  const size_t length = pattern.size() - 1;  // with the dot
  return key.compare(0, length, pattern, 0, length) == 0 || key + "." == pattern.substr(0, length);
}

ValueKind kind_of(const Json& value) {
  if (value.is_bool()) return ValueKind::boolean;
  if (value.is_int()) return ValueKind::integer;
  if (value.is_number()) return ValueKind::number;
  if (value.is_string()) return ValueKind::text;
  return value.is_array() ? ValueKind::list : ValueKind::any;
}

const Json* find_path(const Json& tree, const std::string& key) {
  const Json* at = &tree;
  for (size_t begin = 0; at != nullptr && begin <= key.size();) {
    const size_t end = std::min(key.find('.', begin), key.size());
    at = at->find(std::string_view(key).substr(begin, end - begin));
    begin = end + 1;
  }
  return at;
}

bool begins_with_group(const std::string& key, const std::string& group) {
  return key.size() > group.size() && key[group.size()] == '.' && key.compare(0, group.size(), group) == 0;
}

}  // namespace

bool KeyRule::is_neutral(const Json& value) const {
  if (value.is_null()) return true;
  if ((value.is_array() && value.as_array().empty()) || (value.is_object() && value.as_object().empty())) return true;
  return std::any_of(neutral.begin(), neutral.end(), [&](const Json& one) {
    if (one.is_number() && value.is_number()) return one.as_double() == value.as_double();
    return one == value;
  });
}

std::string KeyRule::type_text() const {
  switch (kind) {
    case ValueKind::any:
      return "anything";
    case ValueKind::boolean:
      return "true or false";
    case ValueKind::integer:
      return "integer";
    case ValueKind::number:
      return "number";
    case ValueKind::text:
      return "text";
    case ValueKind::list:
      return "list";
  }
  return "";
}

std::string KeyRule::fault_of(const Json& value) const {
  bool fits = value.is_null();
  switch (kind) {
    case ValueKind::any:
      fits = true;
      break;
    case ValueKind::boolean:
      fits = fits || value.is_bool();
      break;
    case ValueKind::integer:
      fits = fits || value.is_int();
      break;
    case ValueKind::number:
      fits = fits || value.is_number();
      break;
    case ValueKind::text:
      fits = fits || value.is_string() || value.is_number();  // a name such as 2024
      break;
    case ValueKind::list:
      fits = fits || value.is_array();
      break;
  }
  return fits ? "" : fmt::format("expected {}, found {}", type_text(), value.describe());
}

void Schema::accepted(std::string pattern, Json default_value, std::string reason) {
  const ValueKind kind = kind_of(default_value);
  rules_.push_back({std::move(pattern), kind, {std::move(default_value)}, std::move(reason), false});
}
void Schema::accepted(std::string pattern, ValueKind kind, std::string reason) {
  rules_.push_back({std::move(pattern), kind, {}, std::move(reason), false});
}
void Schema::refused(std::string pattern, std::vector<Json> neutral, std::string reason) {
  ValueKind kind = neutral.empty() ? ValueKind::any : kind_of(neutral.front());
  for (const Json& value : neutral) {  // 0 and 0.001, or 1 and "one"
    if (kind_of(value) == kind || value.is_null()) continue;
    kind = value.is_number() && neutral.front().is_number() ? ValueKind::number : ValueKind::any;
  }
  rules_.push_back({std::move(pattern), kind, std::move(neutral), std::move(reason), true});
}
void Schema::refused(std::string pattern, ValueKind kind, std::string reason) {
  rules_.push_back({std::move(pattern), kind, {}, std::move(reason), true});
}

Field* Schema::find(const std::string& key) {
  for (Field& field : fields_) {
    if (field.key() == key) return &field;
  }
  return nullptr;
}

Field* Schema::find_open(const std::string& key) {
  for (Field& field : fields_) {
    if (field.is_open() && begins_with_group(key, field.key())) return &field;
  }
  return nullptr;
}

const std::string* Schema::renamed_to(const std::string& old_key) const {
  for (const auto& [old, key] : renamed_) {
    if (old == old_key) return &key;
  }
  return nullptr;
}

const KeyRule* Schema::find_rule(const std::string& key) const {
  const KeyRule* best = nullptr;
  for (const KeyRule& rule : rules_) {
    if (!matches(rule.pattern, key)) continue;
    if (rule.pattern == key) return &rule;
    if (best == nullptr || rule.pattern.size() > best->pattern.size()) best = &rule;
  }
  return best;
}

bool Schema::is_group(const std::string& key) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [&](const Field& field) { return begins_with_group(field.key(), key); }) ||
         std::any_of(rules_.begin(), rules_.end(),
                     [&](const KeyRule& rule) { return begins_with_group(rule.pattern, key); });
}

bool Schema::is_known(const std::string& key) const {
  return find(key) != nullptr || const_cast<Schema*>(this)->find_open(key) != nullptr || find_rule(key) != nullptr ||
         renamed_to(key) != nullptr || is_group(key);
}

Json Schema::tree() const {
  Json root = Json::object();
  for (const Field& field : fields_) {
    Json* group = &root;
    const std::string& key = field.key();
    size_t begin = 0;
    for (size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', begin)) {
      const std::string name = key.substr(begin, dot - begin);
      Json* next = group->find(name);
      group = next != nullptr ? next : &group->set(name, Json::object());
      begin = dot + 1;
    }
    group->set(key.substr(begin), field.value());
  }
  return root;
}

std::vector<std::string> Schema::differences(const Json& saved) const {
  std::vector<std::string> lines;
  for (const Field& field : fields_) {
    if (!field.changes_results()) continue;
    const Json* old = find_path(saved, field.key());
    const std::string before = old == nullptr ? "nothing" : io::flow_yaml(*old), now = io::flow_yaml(field.value());
    if (before != now) lines.push_back(fmt::format("{}: saved {}, now {}", field.key(), before, now));
  }
  return lines;
}

}  // namespace hone::config
