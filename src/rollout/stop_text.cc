#include "rollout/stop_text.h"

#include <algorithm>

namespace hone {

bool StopText::take(const std::string& piece, std::string* text) {
  held_ += piece;
  size_t begin = std::string::npos, end = std::string::npos;  // of the stop text that is complete first
  for (const std::string& stop : stops_) {
    const size_t at = num_ids_ > min_ids_ ? held_.find(stop) : std::string::npos;
    if (at == std::string::npos || at + stop.size() > end || (at + stop.size() == end && at >= begin)) continue;
    begin = at;
    end = at + stop.size();
  }
  const bool found = begin != std::string::npos;
  const size_t certain = found ? begin : held_.size() - size_of_beginning();
  if (text != nullptr) text->append(held_, 0, certain);
  held_.erase(0, found ? held_.size() : certain);
  return found;
}

bool StopText::finish(std::string* text) {
  const bool found = take(stream_.finish(), text);
  if (text != nullptr) *text += held_;
  held_.clear();
  return found;
}

// Of the longest end of the text that is less than a whole stop text and begins one.
size_t StopText::size_of_beginning() const {
  size_t longest = 0;
  for (const std::string& stop : stops_) {
    for (size_t size = std::min(stop.size() - 1, held_.size()); size > longest; --size) {
      if (held_.compare(held_.size() - size, size, stop, 0, size) == 0) longest = size;
    }
  }
  return longest;
}

std::string text_before_stop(const Tokenizer& tokenizer, const std::vector<std::string>& stops, int64_t min_ids,
                             std::span<const int32_t> ids) {
  StopText search(tokenizer, stops, min_ids);
  std::string text;
  for (const int32_t id : ids) {
    if (search.push(id, &text)) return text;
  }
  search.finish(&text);
  return text;
}

}  // namespace hone
