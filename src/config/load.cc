#include "config/load.h"

#include <algorithm>

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

Json argument_value(const std::string& text, const std::string& argument) {
  if (text.empty()) return "";
  const bool flow = text[0] == '[' || text[0] == '{' || text[0] == '\'' || text[0] == '"';
  return flow ? io::parse_yaml(text, "argument " + argument).tree : io::plain_scalar(text);
}

std::string unknown_text(const Schema& schema, const Setting& setting) {
  if (schema.is_group(setting.key)) return fmt::format("expected a group of keys, found {}", setting.value.describe());
  const std::string nearest = schema.nearest(setting.key);
  return nearest.empty() ? "unknown key" : "unknown key; the nearest known one is " + nearest;
}

bool is_neutral(const Schema::Rule& rule, const Json& value) {
  if (value.is_null()) return true;
  if ((value.is_array() && value.as_array().empty()) || (value.is_object() && value.as_object().empty())) return true;
  return std::any_of(rule.neutral.begin(), rule.neutral.end(), [&](const Json& neutral) {
    if (neutral.is_number() && value.is_number()) return neutral.as_double() == value.as_double();
    return neutral == value;
  });
}

std::string neutral_text(const Schema::Rule& rule) {
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
    const std::string wrong = field->assign(setting.value);
    return wrong.empty() ? "" : fault(wrong);
  }
  if (setting.key.ends_with("_target_")) return "";  // Hydra's class names, in dumped configs
  const Schema::Rule* refused = Schema::match(schema.refused(), setting.key);
  const Schema::Rule* ignored = Schema::match(schema.ignored(), setting.key);
  if (refused != nullptr && ignored != nullptr) {  // the closer one counts
    const bool refuse = ignored->pattern != setting.key && refused->pattern.size() >= ignored->pattern.size();
    (refuse || refused->pattern == setting.key ? ignored : refused) = nullptr;
  }
  if (refused != nullptr) {
    if (is_neutral(*refused, setting.value)) return "";
    return fault(
        fmt::format("{} is refused: {} ({})", io::flow_yaml(setting.value), refused->reason, neutral_text(*refused)));
  }
  if (ignored != nullptr) {
    return fmt::format("{}: {} = {} has no meaning here: {}", setting.where, setting.key, io::flow_yaml(setting.value),
                       ignored->reason);
  }
  const bool empty = setting.value.is_null() || (setting.value.is_object() && setting.value.as_object().empty());
  if (schema.is_group(setting.key) && empty) return "";
  return fault(unknown_text(schema, setting));
}

// One setting a key: later ones over earlier ones, old names under their new ones, and the defaults that hold
// references.
class Merged {
 public:
  Merged(const Schema& schema, const std::vector<Setting>& settings, std::vector<std::string>& notes,
         io::Faults& faults)
      : schema_(schema) {
    std::map<std::string, std::string> named;  // key -> the name it was given under
    for (Setting setting : settings) {
      const std::string given = setting.key;
      const std::string* renamed = schema.renamed_to(given);
      if (renamed != nullptr) {
        setting.key = *renamed;
        notes.push_back(fmt::format("{}: {} is called {} now", setting.where, given, setting.key));
      }
      const auto [name, fresh] = named.emplace(setting.key, given);
      if (name->second != given && find(setting.key) != setting.value) {
        faults.add(fmt::format("{}: {} and {} are one option with two values", setting.where, name->second, given));
      }
      put(std::move(setting));
    }
    for (const Field& field : schema.fields()) {
      const Json& value = field.default_value();
      if (value.is_string() && value.as_string().find("${") != std::string::npos && !index_.contains(field.key())) {
        put({field.key(), value, "default"});
      }
    }
  }
  const std::vector<Setting>& settings() const { return settings_; }
  std::optional<Json> find(const std::string& key) const {
    const auto at = index_.find(key);
    if (at != index_.end()) return settings_[at->second].value;
    const Field* field = schema_.find(key);
    if (field != nullptr) return field->default_value();
    return std::nullopt;
  }

 private:
  void put(Setting setting) {
    const auto [at, fresh] = index_.emplace(setting.key, settings_.size());
    if (fresh) settings_.emplace_back();
    settings_[at->second] = std::move(setting);
  }
  const Schema& schema_;
  std::vector<Setting> settings_;
  std::map<std::string, size_t> index_;
};

}  // namespace

std::vector<Setting> settings_of_file(const std::string& path) {
  const io::Yaml yaml = io::read_yaml(path);
  std::vector<Setting> settings;
  if (yaml.tree.is_null()) return settings;
  if (!yaml.tree.is_object()) {
    throw Error(fmt::format("{}: expected keys and values, found {}", path, yaml.tree.describe()));
  }
  flatten(yaml.tree, "", path, &yaml.lines, settings);
  return settings;
}

std::vector<Setting> settings_of_arguments(const std::vector<std::string>& arguments, io::Faults& faults) {
  std::vector<Setting> settings;
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    const size_t begin = argument.find_first_not_of('+');
    if (equals == std::string::npos || begin == std::string::npos || begin >= equals || argument[begin] == '~') {
      faults.add(fmt::format("command line: expected key=value, found {}", argument));
      continue;
    }
    try {
      flatten(argument_value(argument.substr(equals + 1), argument), argument.substr(begin, equals - begin),
              "command line", nullptr, settings);
    } catch (const Error& error) {
      faults.add(error.what());
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
      const Setting resolved{setting.key, resolve_references(setting.value, lookup), setting.where};
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
  io::Faults faults;
  std::vector<Setting> settings;
  if (!path.empty()) settings = settings_of_file(path);
  for (Setting& setting : settings_of_arguments(arguments, faults)) settings.push_back(std::move(setting));
  std::vector<std::string> notes = apply(schema, settings, faults);
  validate(faults);
  faults.raise_if_any(path.empty() ? "the options" : path, "hone explain KEY says what a key means");
  return notes;
}

}  // namespace hone::config
