#include "reward/answer_tag.h"

namespace hone {

std::optional<std::string_view> find_answer_tag(std::string_view text) {
  constexpr std::string_view kOpen = "<answer>", kClose = "</answer>";
  std::optional<std::string_view> answer;
  for (size_t at = text.find(kOpen); at != std::string_view::npos;) {
    const size_t begin = at + kOpen.size(), end = text.find(kClose, begin);
    if (end == std::string_view::npos) break;
    answer = text.substr(begin, end - begin);
    at = text.find(kOpen, end + kClose.size());
  }
  return answer;
}

}  // namespace hone
