#include "reward/sorting.h"

#include <algorithm>
#include <string>

#include "reward/answer_tag.h"
#include "reward/judgement.h"

namespace hone {

namespace {

std::string_view last_line(std::string_view text) {
  text = trimmed(text);
  return text.substr(text.find_last_of("\r\n") + 1);
}

// Takes the next item off the list; empty at its end.
std::string take_item(std::string_view& list) {
  constexpr std::string_view kBetween = ", \t\r\n\f\v;", kAround = "[](){}\"'`*.";
  while (!list.empty()) {
    const size_t end = std::min(list.find_first_of(kBetween), list.size());
    std::string_view item = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    item.remove_prefix(std::min(item.find_first_not_of(kAround), item.size()));
    item = item.substr(0, item.find_last_not_of(kAround) + 1);
    if (!item.empty()) return lower_ascii(item);
  }
  return {};
}

}  // namespace

Score score_sorting(std::string_view text, std::string_view ground_truth) {
  const std::string_view answer = trimmed(find_answer_tag(text).value_or(last_line(text)));
  std::string_view given = answer, truth = ground_truth;
  std::string item = take_item(given);
  if (item.empty()) return to_score({});
  bool same = true;  // up to the first difference, however long the answer is
  for (; same && !item.empty(); item = take_item(given)) same = item == take_item(truth);
  const bool right = same && take_item(truth).empty();
  return to_score({right ? Verdict::right : Verdict::wrong, std::string(answer)});
}

std::optional<std::string> find_sorting_fault(std::string_view ground_truth) {
  if (!take_item(ground_truth).empty()) return {};
  return "expected a list, found no item";
}

}  // namespace hone
