#include "config/print.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "io/yaml.h"

namespace hone::config {
namespace {

using io::Json;

void write_block(std::string& out, const Json& group, size_t depth) {
  for (const Json::Member& member : group.as_object()) {
    out.append(2 * depth, ' ');
    out += io::flow_yaml(Json(member.key)) + ":";
    if (member.value.is_object() && !member.value.as_object().empty()) {
      out += "\n";
      write_block(out, member.value, depth + 1);
    } else {
      out += " " + io::flow_yaml(member.value) + "\n";
    }
  }
}

const char* effect_text(Effect effect) {
  switch (effect) {
    case Effect::results:
      return "results";
    case Effect::length:
      return "length";
    case Effect::nothing:
      return "nothing";
  }
  return "";
}

// Bars end a cell of a Markdown table.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string meaning(const Field& field) {
  std::string text = field.doc();
  if (!field.condition().empty()) text += " Has an effect when " + field.condition() + ".";
  if (!field.results_condition().empty()) text += " Changes results when " + field.results_condition() + ".";
  return text;
}

std::string kind(const Field& field) {
  const std::string range = field.range_text();
  return range.empty() ? field.type_text() : field.type_text() + ", " + range;
}

std::string default_text(const Field& field) {
  return field.is_required() && (field.default_value() == io::Json("") || field.default_value() == io::Json::array())
             ? "required"
             : io::flow_yaml(field.default_value());
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string neutral_list(const KeyRule& rule) {
  std::string text;
  for (const Json& value : rule.neutral) text += (text.empty() ? "" : " or ") + io::flow_yaml(value);
  return text;
}

std::string neutral_cell(const KeyRule& rule) {
  if (rule.neutral.empty()) return "`null`";
  std::string text;
  for (const Json& value : rule.neutral) text += (text.empty() ? "`" : ", `") + io::flow_yaml(value) + "`";
  return text;
}

struct Entry {
  std::string key, paragraph, searched;
};

std::vector<Entry> entries(const Schema& schema) {
  std::vector<Entry> all;
  for (const Field& field : schema.fields()) {
    std::string searched = field.key() + " " + meaning(field);
    for (const std::string& alias : field.aliases()) searched += " " + alias;
    all.push_back(
        {field.key(),
         fmt::format("{} ({}; honoured; default {}; changes {})\n    {}\n", field.key(), kind(field),
                     default_text(field), field.effect() == Effect::nothing ? "no result" : effect_text(field.effect()),
                     meaning(field)),
         std::move(searched)});
  }
  for (const KeyRule& rule : schema.rules()) {
    const std::string neutral = rule.neutral.empty() ? "null" : neutral_list(rule);
    all.push_back({rule.pattern,
                   rule.refused ? fmt::format("{} ({}; refused unless {})\n    {}.\n", rule.pattern, rule.type_text(),
                                              neutral, rule.reason)
                                : fmt::format("{} ({}; accepted; verl's default {})\n    No effect: {}.\n",
                                              rule.pattern, rule.type_text(), neutral, rule.reason),
                   rule.pattern + " " + rule.reason});
  }
  for (const auto& [old_key, key] : schema.renames()) {
    all.push_back({old_key, fmt::format("{} (old name)\n    It is called {} now.\n", old_key, key), old_key});
  }
  return all;
}

}  // namespace

std::string effective_yaml(const Schema& schema) {
  std::string out;
  write_block(out, schema.tree(), 0);
  return out;
}

std::string help_text(const Schema& schema, const std::string& part) {
  const std::vector<Entry> all = entries(schema);
  std::string out;
  const KeyRule* rule = schema.find_rule(part);
  for (const Entry& entry : all) {
    if (entry.key == part || (rule != nullptr && entry.key == rule->pattern)) return entry.paragraph;
    if (entry.key.starts_with(part)) out += entry.paragraph;
  }
  if (!out.empty()) return out;
  const std::string searched = lower(part);
  for (const Entry& entry : all) {
    if (lower(entry.searched).find(searched) != std::string::npos) out += entry.paragraph;
  }
  return out;
}

std::string class_list(const Schema& schema) {
  std::string out;
  for (const Field& field : schema.fields()) out += "honoured " + field.key() + "\n";
  for (const KeyRule& rule : schema.rules()) out += (rule.refused ? "refused " : "accepted ") + rule.pattern + "\n";
  for (const auto& [old_key, key] : schema.renames()) out += fmt::format("old-name {} {}\n", old_key, key);
  return out;
}

std::string class_counts(const Schema& schema) {
  size_t refused = 0;
  for (const KeyRule& rule : schema.rules()) refused += rule.refused ? 1 : 0;
  return fmt::format("{} honoured, {} accepted without a meaning here, {} refused unless neutral",
                     schema.fields().size(), schema.rules().size() - refused, refused);
}

std::string help_markdown(const Schema& schema) {
  std::string out = class_counts(schema) + ".\n\n| key | kind | default | changes | meaning |\n|---|---|---|---|---|\n";
  for (const Field& field : schema.fields()) {
    out += fmt::format("| `{}` | {} | `{}` | {} | {} |\n", field.key(), cell(kind(field)), cell(default_text(field)),
                       effect_text(field.effect()), cell(meaning(field)));
  }
  for (const bool refused : {false, true}) {
    out += refused
               ? "\nRefused unless neutral:\n\n| key | kind | neutral | why |\n|---|---|---|---|\n"
               : "\nAccepted, without a meaning here:\n\n| key | kind | verl's default | why |\n|---|---|---|---|\n";
    for (const KeyRule& rule : schema.rules()) {
      if (rule.refused != refused) continue;
      out += fmt::format("| `{}` | {} | {} | {} |\n", rule.pattern, rule.type_text(), cell(neutral_cell(rule)),
                         cell(rule.reason));
    }
  }
  if (!schema.renames().empty()) out += "\nOld names, taken for the new ones:\n\n| old | now |\n|---|---|\n";
  for (const auto& [old_key, key] : schema.renames()) out += fmt::format("| `{}` | `{}` |\n", old_key, key);
  return out;
}

}  // namespace hone::config
