#include "config/print.h"

#include "core/error.h"
#include "io/yaml.h"

namespace hone::config {
namespace {

using io::Json;

void write_block(std::string& out, const Json& group, size_t depth) {
  for (const Json::Member& member : group.as_object()) {
    out.append(2 * depth, ' ');
    out += member.key + ":";
    if (member.value.is_object()) {
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

}  // namespace

std::string effective_yaml(const Schema& schema) {
  std::string out;
  write_block(out, schema.tree(), 0);
  return out;
}

std::string help_text(const Schema& schema, const std::string& part) {
  std::string out;
  for (const Field& field : schema.fields()) {
    if (field.key().find(part) == std::string::npos) continue;
    out += fmt::format("{} ({}; default {})\n    {}\n", field.key(), kind(field), default_text(field), meaning(field));
  }
  return out;
}

std::string help_markdown(const Schema& schema) {
  std::string out = "| key | kind | default | changes | meaning |\n|---|---|---|---|---|\n";
  for (const Field& field : schema.fields()) {
    out += fmt::format("| `{}` | {} | `{}` | {} | {} |\n", field.key(), cell(kind(field)), cell(default_text(field)),
                       effect_text(field.effect()), cell(meaning(field)));
  }
  out += "\nAccepted, without a meaning here:\n\n| key | why |\n|---|---|\n";
  for (const auto& rule : schema.ignored()) out += fmt::format("| `{}` | {} |\n", rule.pattern, cell(rule.reason));
  out += "\nRefused unless neutral:\n\n| key | neutral | why |\n|---|---|---|\n";
  for (const auto& rule : schema.refused()) {
    std::string neutral = "`null`";
    for (const Json& value : rule.neutral) neutral += ", `" + cell(io::flow_yaml(value)) + "`";
    out += fmt::format("| `{}` | {} | {} |\n", rule.pattern, neutral, cell(rule.reason));
  }
  return out;
}

}  // namespace hone::config
