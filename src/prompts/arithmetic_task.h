// Task hone/arithmetic: sums and differences of two numbers, half and half, one token a character, with worked steps.
//   prompt    123+456=
//   response  360902507014050=0579      and the end id
// The response goes through the digits from the right, five characters a digit: the two digits, what is carried in, the
// digit of the result, what is carried out (of a difference: borrowed). Then '=' and the result with one digit more
// than the operands. Each character follows from the prompt and the characters just before it.
#pragma once

#include <cstdint>
#include <string>

#include "prompts/task.h"

namespace hone {

struct ArithmeticOptions {
  int digits = 3;  // of both operands, 1 to 9
  TaskSizes sizes;
  uint64_t seed = 1;
};

// Operands without leading zeros; of a difference the first is not the smaller. a+b, b+a and a-b count as the same.
Task make_arithmetic(const ArithmeticOptions& options);

constexpr const char* kArithmeticCharacters = "0123456789+-=";
constexpr const char* kArithmeticEnd = "<|end|>";
// A tokenizer of those characters and that end token (id 13) as FOLDER/tokenizer.json.
void write_arithmetic_tokenizer(const std::string& folder);

}  // namespace hone
