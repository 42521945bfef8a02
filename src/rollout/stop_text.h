// StopText: looks for stop texts in an answer as it is decoded, also across the borders of its tokens. The text is that
// of the ids without special tokens. Of several stop texts the one that is complete first is found, and of those that
// end at the same byte the longest.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "text/text_stream.h"

namespace hone {

class StopText {
 public:
  // `stops` are not empty texts; none: nothing is ever found. What the first min_ids ids complete is text like any
  // other. The tokenizer outlives this.
  StopText(const Tokenizer& tokenizer, std::vector<std::string> stops, int64_t min_ids = 0)
      : stops_(std::move(stops)), stream_(tokenizer, true), min_ids_(min_ids) {}

  // The next id of the answer. `text` (may be nullptr) gets what has become certain with it: never a part of a stop
  // text. True: a stop text is complete; `text` ends before it, and nothing may be pushed after.
  bool push(int32_t id, std::string* text) {
    ++num_ids_;
    return take(stream_.push(id), text);
  }
  // No id follows: what was held back is text. True as above.
  bool finish(std::string* text);

 private:
  bool take(const std::string& piece, std::string* text);
  size_t size_of_beginning() const;

  std::vector<std::string> stops_;
  TextStream stream_;
  int64_t min_ids_, num_ids_ = 0;
  std::string held_;  // between calls: the longest end of the text that may begin a stop text
};

// The text of an answer that has ended: up to the first stop text.
std::string text_before_stop(const Tokenizer& tokenizer, const std::vector<std::string>& stops, int64_t min_ids,
                             std::span<const int32_t> ids);

}  // namespace hone
