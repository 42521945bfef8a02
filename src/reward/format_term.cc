#include "reward/format_term.h"

#include <utility>

#include "reward/boxed.h"
#include "reward/judgement.h"
#include "reward/math_dapo.h"

namespace hone {

namespace {

constexpr std::pair<std::string_view, Format> kFormats[] = {
    {"boxed", Format::boxed},
    {"hashes", Format::hashes},
    {"answer_line", Format::answer_line},
    {"think_boxed", Format::think_boxed},
    {"think_answer", Format::think_answer},
};

// The parts stand in the text in this order; the last one as late as can be.
bool in_order(std::string_view text, std::initializer_list<std::string_view> parts) {
  size_t at = 0;
  for (const std::string_view part : parts) {
    at = text.find(part, at);
    if (at == std::string_view::npos) return false;
    at += part.size();
  }
  return true;
}

bool once(std::string_view text, std::string_view part) {
  const size_t at = text.find(part);
  return at != std::string_view::npos && text.find(part, at + part.size()) == std::string_view::npos;
}

bool has_hashes(std::string_view text) {
  for (size_t at = text.find("#### "); at != std::string_view::npos; at = text.find("#### ", at + 1)) {
    const size_t digit = at + 5 + (text.substr(at + 5).starts_with('-') ? 1 : 0);
    if (digit < text.size() && text[digit] >= '0' && text[digit] <= '9') return true;
  }
  return false;
}

bool thinks_and_answers(std::string_view text) {
  text = trimmed(text);
  for (const char* tag : {"<think>", "</think>", "<answer>", "</answer>"}) {
    if (!once(text, tag)) return false;
  }
  const size_t end = text.find("</think>");
  return text.starts_with("<think>") && text.ends_with("</answer>") && end < text.size() &&
         trimmed(text.substr(end + 8)).starts_with("<answer>");
}

}  // namespace

std::optional<Format> find_format(std::string_view name) {
  for (const auto& [known, format] : kFormats) {
    if (known == name) return format;
  }
  return {};
}

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  for (const auto& [known, format] : kFormats) names.push_back(known);
  return names;
}

bool has_format(std::string_view text, Format format) {
  switch (format) {
    case Format::boxed: {
      const auto box = find_last_box(text);
      return box && box->closed;
    }
    case Format::hashes:
      return has_hashes(text);
    case Format::answer_line:
      return has_answer_line(text);
    case Format::think_boxed:
      return text.starts_with("<think>") && in_order(text, {"</think>", "\\boxed{", "}"});
    case Format::think_answer:
      return thinks_and_answers(text);
  }
  return false;
}

}  // namespace hone
