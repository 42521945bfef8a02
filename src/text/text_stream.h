// Text of ids that come one at a time: what is given out is valid UTF-8 and never taken back. The bytes of a code point
// that is not whole yet are held until it is, or until it cannot become one.
#pragma once

#include <cstdint>
#include <string>

#include "text/tokenizer.h"

namespace hone {

class TextStream {
 public:
  // The tokenizer outlives the stream. `skip_special`: special tokens give no text.
  TextStream(const Tokenizer& tokenizer, bool skip_special) : tokenizer_(tokenizer), skip_special_(skip_special) {}
  // The text that has become certain with this id; often empty, never broken. All pushes and finish() together are
  // Tokenizer::decode of all ids.
  std::string push(int32_t id);
  // What is still held, as U+FFFD. The stream is then as new.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  bool skip_special_;
  std::string held_;  // at most 3 bytes between calls
};

}  // namespace hone
