#include "config/load.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "config/merge.h"
#include "config/override.h"
#include "config/references.h"
#include "core/error.h"
#include "io/yaml.h"

namespace hone::config {
namespace {

using io::Json;

void flatten(const Json& value, const std::string& path, const std::string& where,
             const std::map<std::string, int64_t>* lines, std::vector<Setting>& out) {
  std::string place = where;
  if (lines != nullptr) {
    const auto line = lines->find(path);
    if (line != lines->end()) place += fmt::format(":{}", line->second);
  }
  if (!value.is_object()) {
    out.push_back({path, value, place});
    return;
  }
  if (value.as_object().empty() && !path.empty()) out.push_back({path, value, place});
  for (const Json::Member& member : value.as_object()) {
    flatten(member.value, path.empty() ? member.key : path + "." + member.key, where, lines, out);
  }
}

std::string neutral_text(const KeyRule& rule) {
  if (rule.neutral.empty()) return "leave it out";
  std::string text = "neutral: ";
  for (size_t i = 0; i < rule.neutral.size(); ++i) text += (i > 0 ? " or " : "") + io::flow_yaml(rule.neutral[i]);
  return text;
}

// Gives the line for a key that is accepted without a meaning, or nothing.
std::string apply_one(Schema& schema, const Setting& setting, io::Faults& faults) {
  const auto fault = [&](const std::string& what) {
    faults.add(fmt::format("{}: {}: {}", setting.where, setting.key, what));
    return std::string();
  };
  if (Field* field = schema.find(setting.key)) {
    if (setting.value == Json("???")) return fault("a value has to be given (??? stands for none)");
    const std::string wrong = field->assign(setting.value);
    return wrong.empty() ? "" : fault(wrong);
  }
  if (Field* group = schema.find_open(setting.key)) {
    const std::string_view path = std::string_view(setting.key).substr(group->key().size() + 1);
    const std::string wrong = group->assign_member(path, setting.value);
    return wrong.empty() ? "" : fault(wrong);
  }
  if (setting.key.ends_with("_target_")) return "";  // Hydra's class names, in dumped configs
  if (const KeyRule* rule = schema.find_rule(setting.key)) {
    const std::string wrong = setting.value == Json("???") ? "" : rule->fault_of(setting.value);
    if (!wrong.empty()) return fault(wrong);
    const std::string value = io::flow_yaml(setting.value);
    if (!rule->refused) {
      return fmt::format("{}: {} = {} has no meaning here: {}", setting.where, setting.key, value, rule->reason);
    }
    if (rule->is_neutral(setting.value)) return "";
    return fault(fmt::format("{} is refused: {} ({})", value, rule->reason, neutral_text(*rule)));
  }
  const bool empty = setting.value.is_null() || (setting.value.is_object() && setting.value.as_object().empty());
  if (schema.is_group(setting.key)) {
    return empty ? "" : fault(fmt::format("expected a group of keys, found {}", setting.value.describe()));
  }
  return fault(unknown_key(schema, setting.key));
}

// Whether a text names a key as a whole: a.b stands in "a.b = 1", but not in "a.b.c" nor in "a.bc".
bool names_key(const std::string& text, const std::string& key) {
  const auto is_part = [&](size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
  };
  for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
    const size_t end = at + key.size();
    const bool begins = at == 0 || (!is_part(at - 1) && text[at - 1] != '.');
    const bool goes_on = is_part(end) || (end < text.size() && text[end] == '.' && is_part(end + 1));
    if (begins && !goes_on) return true;
  }
  return false;
}

// The fields that faults are about. They hold their defaults, so what would be said of these values is invented.
std::vector<std::string> keys_at_fault(const Schema& schema, const io::Faults& faults) {
  std::vector<std::string> keys;
  for (const Field& field : schema.fields()) {
    const auto names_it = [&](const std::string& fault) { return names_key(fault, field.key()); };
    if (std::any_of(faults.list().begin(), faults.list().end(), names_it)) keys.push_back(field.key());
  }
  return keys;
}

// Where a key was set last, with ": " behind it; empty when it was not.
std::string place_of(const Schema& schema, const std::string& key, const std::vector<Setting>& settings) {
  for (auto setting = settings.rbegin(); setting != settings.rend(); ++setting) {
    const std::string* renamed = schema.renamed_to(setting->key);
    if ((renamed != nullptr ? *renamed : setting->key) == key && !setting->remove) return setting->where + ": ";
  }
  return "";
}

void note_without_effect(const Schema& schema, const std::vector<Setting>& settings, std::vector<std::string>& notes) {
  for (const Field& field : schema.fields()) {
    const std::string value = io::flow_yaml(field.value());
    if (field.has_effect() || value == io::flow_yaml(field.default_value())) continue;
    notes.push_back(fmt::format("{}{} = {} has no effect: it has one when {}", place_of(schema, field.key(), settings),
                                field.key(), value, field.condition()));
  }
}

}  // namespace

std::vector<Setting> settings_of_file(const std::string& path) {
  const io::Yaml yaml = io::read_yaml(path);
  std::vector<Setting> settings;
  if (yaml.tree.is_null()) return settings;
  if (!yaml.tree.is_object()) {
    throw Error(fmt::format("{}: expected keys and values, found {}", path, yaml.tree.describe()));
  }
  flatten(yaml.tree, "", path, &yaml.lines, settings);
  std::set<std::string> keys;
  for (const Setting& setting : settings) {
    if (keys.insert(setting.key).second) continue;
    throw Error(fmt::format("{}: {} comes twice, once in its group and once with dots", path, setting.key));
  }
  return settings;
}

std::vector<Setting> settings_of_arguments(const std::vector<std::string>& arguments, io::Faults& faults) {
  std::vector<Setting> settings;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].empty()) continue;
    const std::string where = fmt::format("argument {}", i + 1);
    try {
      Override override = parse_override(arguments[i]);
      if (override.remove) {
        settings.push_back({override.key, std::move(override.value), where, true, override.has_value});
      } else {
        flatten(override.value, override.key, where, nullptr, settings);
      }
    } catch (const Error& error) {
      faults.add(fmt::format("{}: {}", where, error.what()));
    }
  }
  return settings;
}

std::vector<std::string> apply(Schema& schema, const std::vector<Setting>& settings, io::Faults& faults) {
  std::vector<std::string> notes;
  const Merged merged(schema, settings, notes, faults);
  const Lookup lookup = [&](const std::string& key) { return merged.find(key); };
  for (const Setting& setting : merged.settings()) {
    try {
      const Setting resolved{setting.key, resolve_references(setting.value, setting.key, lookup), setting.where};
      const std::string note = apply_one(schema, resolved, faults);
      if (!note.empty()) notes.push_back(note);
    } catch (const Error& error) {
      faults.add(fmt::format("{}: {}: {}", setting.where, setting.key, error.what()));
    }
  }
  for (const Field& field : schema.fields()) {
    const Json value = field.value();
    const bool missing = value.is_null() || value == Json("") || (value.is_array() && value.as_array().empty());
    if (field.is_required() && missing) {
      faults.add(fmt::format("{}: expected {}, found none", field.key(), field.type_text()));
    }
  }
  return notes;
}

std::vector<std::string> load(Schema& schema, const std::string& path, const std::vector<std::string>& arguments,
                              const std::function<void(io::Faults&)>& validate) {
  io::Faults faults, together;
  std::vector<Setting> settings;
  if (!path.empty()) settings = settings_of_file(path);
  for (Setting& setting : settings_of_arguments(arguments, faults)) settings.push_back(std::move(setting));
  std::vector<std::string> notes = apply(schema, settings, faults);
  validate(together);
  const std::vector<std::string> at_fault = keys_at_fault(schema, faults);
  for (const std::string& fault : together.list()) {  // they begin with the key they are about
    const auto is_named = [&](const std::string& key) { return names_key(fault, key); };
    if (std::any_of(at_fault.begin(), at_fault.end(), is_named)) continue;
    faults.add(place_of(schema, fault.substr(0, fault.find_first_of(" :")), settings) + fault);
  }
  note_without_effect(schema, settings, notes);
  faults.raise_if_any(path.empty() ? "the options" : path, "hone explain KEY says what a key means");
  return notes;
}

}  // namespace hone::config
