// Text for the tokenizer benchmark where none is given: word problems in the manner of GSM8K, and a tokenizer trained
// on their words. Both are the same in every run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/json.h"

namespace hone::bench {

// Problems with worked answers, of at least `size_bytes` together.
std::vector<std::string> make_word_problems(int64_t size_bytes);

// tokenizer.json of a byte-level BPE with Qwen's regular expression, trained on the words of the problems.
io::Json train_word_problem_tokenizer();

}  // namespace hone::bench
