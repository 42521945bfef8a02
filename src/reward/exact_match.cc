#include "reward/exact_match.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "core/error.h"
#include "io/json.h"
#include "reward/answer_tag.h"
#include "reward/judgement.h"

namespace hone {

namespace {

constexpr int64_t kMaxTags = 10;

// In lower case, without punctuation of ASCII, the articles and spaces beyond one.
std::string search_form(std::string_view text) {
  std::string result, word;
  for (const char c : lower_ascii(text) + " ") {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isspace(byte) == 0) {
      if (std::ispunct(byte) == 0) word += c;
      continue;
    }
    if (!word.empty() && word != "a" && word != "an" && word != "the") result += (result.empty() ? "" : " ") + word;
    word.clear();
  }
  return result;
}

std::vector<std::string> read_targets(std::string_view ground_truth) {
  if (!trimmed(ground_truth).starts_with('{')) return {std::string(ground_truth)};
  const io::Json json = io::parse_json(ground_truth, "ground truth");
  const io::JsonAt target = io::JsonAt(json, "ground truth")["target"];
  if (target.value().is_string()) return {target.as_string()};
  std::vector<std::string> targets;
  for (const io::JsonAt& item : target.items()) targets.push_back(item.as_string());
  if (targets.empty()) target.fail("expected at least one text");
  return targets;
}

}  // namespace

Score score_exact_match(std::string_view text, std::string_view ground_truth) {
  const std::string_view answer = trimmed(find_answer_tag(text).value_or(text));
  if (answer.empty()) return to_score({});
  const bool right = answer == trimmed(ground_truth);
  return to_score({right ? Verdict::right : Verdict::wrong, std::string(answer)});
}

Score score_search_em(std::string_view text, std::string_view ground_truth) {
  const std::vector<std::string> targets = read_targets(ground_truth);
  const auto answer = find_answer_tag(text);
  if (!answer) return to_score({});
  const std::string found = search_form(*answer);
  const bool right = std::any_of(targets.begin(), targets.end(),
                                 [&](const std::string& target) { return search_form(target) == found; });
  const bool flooded = count_text(text, "<answer>") > kMaxTags || count_text(text, "</answer>") > kMaxTags;
  return to_score({right ? Verdict::right : Verdict::wrong, std::string(trimmed(*answer))}, flooded ? 0.25f : 1.0f);
}

std::optional<std::string> find_exact_match_fault(std::string_view ground_truth) {
  if (!trimmed(ground_truth).empty()) return {};
  return "expected a text, found none";
}

std::optional<std::string> find_search_em_fault(std::string_view ground_truth) {
  try {
    for (const std::string& target : read_targets(ground_truth)) {
      if (search_form(target).empty()) return "a target without a single word is matched by an empty answer";
      if (target.find("</answer>") != std::string::npos) return "a target that holds </answer> can never be matched";
    }
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace hone
