#include "reward/multiple_choice.h"

#include <fmt/core.h>

#include <algorithm>

#include "reward/boxed.h"
#include "reward/judgement.h"

namespace hone {

namespace {

bool is_word_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_choice(char c) { return c >= 'A' && c <= 'J'; }

// What follows a letter and cannot follow an article, or the pronoun.
constexpr std::string_view kBehindChoice[] = {"is",   "was",   "because", "since", "as",    "and",  "or",
                                              "for",  "but",   "so",      "here",  "which", "with", "matches",
                                              "fits", "seems", "gives",   "does",  "has"};

// "A train" and "I think" are English; "A is right" and "A because it" name a choice.
bool is_english(char letter, std::string_view after) {
  if ((letter != 'A' && letter != 'I') || !after.starts_with(' ')) return false;
  const std::string_view words = trimmed(after);
  const auto end = std::find_if_not(words.begin(), words.end(), is_word_letter);
  const std::string_view word = words.substr(0, static_cast<size_t>(end - words.begin()));
  return !word.empty() &&
         std::find(std::begin(kBehindChoice), std::end(kBehindChoice), word) == std::end(kBehindChoice);
}

// The letter that a text begins with, after brackets and marks of emphasis, when no word begins with it. `rest` gets
// what follows.
std::optional<char> leading_choice(std::string_view text, std::string_view* rest = nullptr) {
  for (const char* opening : {"\\text{", "\\textbf{", "\\mathrm{", "\\mathbf{"}) {
    const std::string_view word = opening;
    if (text.starts_with(word)) text.remove_prefix(word.size());
  }
  const size_t at = text.find_first_not_of(" \t\n([{*_$:\"'\\");
  if (at == std::string_view::npos) return {};
  const char letter = text[at];
  if (!is_choice(letter)) return {};
  const std::string_view after = text.substr(at + 1);
  if (!after.empty() && (is_word_letter(after.front()) || after.front() == '\'' || (after.front() & 0x80) != 0))
    return {};
  const bool bare = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n';
  if (bare && is_english(letter, after)) return {};
  if (rest != nullptr) *rest = after;
  return letter;
}

// "(B)" and "B. Paris" are B; "B and C", "B or C" and "B, C" choose nothing.
std::optional<char> single_choice(std::string_view text) {
  std::string_view rest;
  const auto letter = leading_choice(text, &rest);
  if (!letter) return {};
  const size_t word = rest.find_first_not_of(" \t\n,/&");
  if (word == std::string_view::npos) return letter;
  std::string_view next = rest.substr(word);
  for (const std::string_view joint : {"and ", "or "}) {
    if (next.starts_with(joint)) next.remove_prefix(joint.size());
  }
  const bool joined = next.data() != rest.data() && leading_choice(next);
  return joined ? std::nullopt : letter;
}

// Behind "answer" may stand "is", "option", "choice", "would be" and signs.
std::string_view without_lead(std::string_view text) {
  for (bool more = true; more;) {
    more = false;
    const size_t at = std::min(text.find_first_not_of(" \t\n:*_=-"), text.size());
    text.remove_prefix(at);
    for (const std::string_view word :
         {"is", "would be", "option", "Option", "choice", "Choice", "the", "must be", "letter"}) {
      if (!text.starts_with(word) || (text.size() > word.size() && is_word_letter(text[word.size()]))) continue;
      text.remove_prefix(word.size());
      more = true;
    }
  }
  return text;
}

std::optional<char> after_marks(std::string_view text) {
  std::optional<char> found;
  size_t last = 0;
  int tries = 500;  // of marks without a letter, from the end
  const std::string lower = lower_ascii(text);
  for (const std::string_view mark : {"answer", "option", "choice"}) {
    for (size_t at = rfind_text(lower, mark); at != std::string::npos && tries-- > 0;
         at = rfind_text(std::string_view(lower).substr(0, at + mark.size() - 1), mark)) {
      // a lead of 60 characters bounds the work for each mark
      const auto letter = single_choice(without_lead(text.substr(at + mark.size(), 60)));
      if (letter && (!found || at > last)) found = letter, last = at;
      if (letter) break;
    }
  }
  return found;
}

std::optional<char> find_choice(std::string_view text) {
  if (const auto box = find_last_box(text)) return single_choice(box->content);
  if (const auto letter = after_marks(text)) return letter;
  const std::string_view all = trimmed(text);
  const size_t line_end = all.rfind('\n');
  const std::string_view line = all.substr(line_end == std::string_view::npos ? 0 : line_end + 1);
  std::string_view rest;
  const auto letter = leading_choice(line, &rest);
  return letter && rest.find_first_not_of(" .)]}*_$:") == std::string_view::npos ? letter : std::nullopt;
}

}  // namespace

Score score_multiple_choice(std::string_view text, std::string_view ground_truth) {
  const auto letter = find_choice(text);
  if (!letter) return to_score({});
  const bool right = single_choice(ground_truth) == letter;
  return to_score({right ? Verdict::right : Verdict::wrong, std::string(1, *letter)});
}

std::optional<std::string> find_multiple_choice_fault(std::string_view ground_truth) {
  if (single_choice(ground_truth)) return {};
  return fmt::format("expected a letter from A to J, found \"{}\"", ground_truth);
}

}  // namespace hone
