#include "config/merge.h"

#include <algorithm>

#include "core/error.h"
#include "io/yaml.h"

namespace hone::config {

using io::Json;

Merged::Merged(const Schema& schema, const std::vector<Setting>& settings, std::vector<std::string>& notes,
               io::Faults& faults)
    : schema_(schema) {
  for (Setting setting : settings) {
    const std::string given = setting.key;
    const std::string* renamed = schema.renamed_to(given);
    if (renamed != nullptr) setting.key = *renamed;
    if (setting.remove) {
      remove(setting, faults);
      continue;
    }
    if (renamed != nullptr) notes.push_back(fmt::format("{}: {} is called {} now", setting.where, given, setting.key));
    const auto [name, fresh] = given_.emplace(setting.key, given);
    if (name->second != given && find(setting.key) != setting.value) {
      faults.add(fmt::format("{}: {} and {} are one option with two values", setting.where, name->second, given));
    }
    put(std::move(setting));
  }
  for (const auto& [old_key, key] : schema.alternatives()) {
    const auto old_one = index_.find(old_key), now = index_.find(key);
    if (old_one == index_.end() || now == index_.end()) continue;
    const Setting &first = settings_[old_one->second], &second = settings_[now->second];
    if (first.value.is_null() || second.value.is_null()) continue;
    faults.add(fmt::format("{}: {} is the old name of {}: set one of them", first.where, old_key, key));
  }
  for (const Field& field : schema.fields()) {
    const Json& value = field.default_value();
    if (value.is_string() && value.as_string().find("${") != std::string::npos && !index_.contains(field.key())) {
      put({field.key(), value, "default"});
    }
  }
}

std::optional<Json> Merged::find(const std::string& key) const {
  const auto at = index_.find(key);
  if (at != index_.end()) return settings_[at->second].value;
  if (const Field* field = schema_.find(key)) return field->default_value();
  const std::string* renamed = schema_.renamed_to(key);
  if (renamed != nullptr) return find(*renamed);
  const KeyRule* rule = schema_.find_rule(key);
  if (rule != nullptr && !rule->is_group()) return rule->neutral.empty() ? Json() : rule->neutral.front();
  return std::nullopt;
}

void Merged::put(Setting setting) {
  const auto [at, fresh] = index_.emplace(setting.key, settings_.size());
  if (fresh) settings_.emplace_back();
  settings_[at->second] = std::move(setting);
}

void Merged::remove(const Setting& setting, io::Faults& faults) {
  const auto fault = [&](const std::string& what) {
    faults.add(fmt::format("{}: ~{}: {}", setting.where, setting.key, what));
  };
  if (!schema_.is_known(setting.key)) return fault(unknown_key(schema_, setting.key));
  const std::optional<Json> now = find(setting.key);
  if (setting.must_match && now != setting.value) {
    return fault(fmt::format("expected to take back {}, found {}", io::flow_yaml(setting.value),
                             now ? io::flow_yaml(*now) : "a group of keys"));
  }
  const std::string group = setting.key + ".";
  const auto covered = [&](const std::string& key) { return key == setting.key || key.starts_with(group); };
  std::erase_if(settings_, [&](const Setting& one) { return covered(one.key); });
  std::erase_if(given_, [&](const auto& one) { return covered(one.first); });
  index_.clear();
  for (size_t i = 0; i < settings_.size(); ++i) index_[settings_[i].key] = i;
}

std::string unknown_key(const Schema& schema, const std::string& key) {
  const std::string nearest = schema.nearest(key);
  return nearest.empty() ? "unknown key" : "unknown key; the nearest known one is " + nearest;
}

}  // namespace hone::config
