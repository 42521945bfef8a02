#include "reward/judgement.h"

#include <fmt/core.h>

#include <cstring>
#include <utility>

#include "io/utf8.h"

namespace hone {

namespace {

constexpr size_t kMaxPredBytes = 200;

std::string cut(std::string text) {
  if (text.size() <= kMaxPredBytes) return text;
  size_t end = 0;
  while (true) {
    const size_t size = io::decode_code_point(text, end).size;
    if (end + size > kMaxPredBytes) break;
    end += size;
  }
  text.resize(end);
  return text + "...";
}

std::string words(Verdict verdict, const std::string& pred) {
  switch (verdict) {
    case Verdict::right:
      return "right";
    case Verdict::wrong:
      return "wrong: " + pred;
    case Verdict::no_answer:
      return "no answer found";
    case Verdict::undecided:
      return "undecided: " + pred;
  }
  return "";
}

}  // namespace

Score to_score(Judgement judgement, float right, float wrong) {
  const std::string pred = cut(std::move(judgement.pred));
  Score score;
  score.verdict = judgement.verdict;
  if (judgement.verdict != Verdict::undecided) score.value = judgement.verdict == Verdict::right ? right : wrong;
  score.reason = judgement.reason.empty() ? words(judgement.verdict, pred) : std::move(judgement.reason);
  score.extras.push_back({"pred", pred});
  return score;
}

void replace_every(std::string& text, std::string_view from, std::string_view to) {
  size_t at = text.find(from);
  if (at == std::string::npos) return;
  std::string result;
  size_t begin = 0;
  for (; at != std::string::npos; at = text.find(from, begin)) {
    result.append(text, begin, at - begin).append(to);
    begin = at + from.size();
  }
  result.append(text, begin);
  text = std::move(result);
}

std::string with_arguments(std::string_view text, std::string_view command,
                           size_t (*rewrite)(std::string_view rest, std::string& result)) {
  std::string result;
  size_t begin = 0;
  for (size_t at = text.find(command); at != std::string_view::npos; at = text.find(command, begin)) {
    const size_t arguments = at + command.size();
    result.append(text.substr(begin, arguments - begin));
    const size_t size = rewrite(text.substr(arguments), result);
    if (size == std::string_view::npos) return std::string(text);
    begin = arguments + size;
  }
  return result.append(text.substr(begin));
}

int64_t count_text(std::string_view text, std::string_view part) {
  int64_t number = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++number;
  return number;
}

size_t rfind_text(std::string_view text, std::string_view part, size_t probe) {
  if (text.size() < part.size()) return std::string_view::npos;
  const char* begin = text.data() + probe;
  size_t size = text.size() - part.size() + 1;  // of the places where it may begin
  while (size > 0) {
    if (begin[size - 1] != part[probe]) {
      const auto* found = static_cast<const char*>(::memrchr(begin, part[probe], size));
      if (found == nullptr) break;
      size = static_cast<size_t>(found - begin) + 1;
    }
    --size;  // a run of that byte is walked here: a call for each would take longer
    const char* place = text.data() + size;
    if (place[0] == part[0] && place[part.size() - 1] == part.back() && part == std::string_view(place, part.size())) {
      return size;
    }
  }
  return std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace hone
