// What verl's preparation scripts put around a question, so that the answer stands where a scorer looks for it.
#pragma once

namespace hone {

// Behind a question of GSM8K.
inline constexpr const char* kHashesInstruction =
    "Let's think step by step and output the final answer after \"####\".";
// Behind a question of MATH.
inline constexpr const char* kBoxedInstruction =
    "Let's think step by step and output the final answer within \\boxed{}.";
// Before and behind a question of DAPO's math data.
inline constexpr const char* kDapoBefore =
    "Solve the following math problem step by step. The last line of your response should be of the form Answer: "
    "$Answer (without quotes) where $Answer is the answer to the problem.\n\n";
inline constexpr const char* kDapoBehind = "\n\nRemember to put your answer on its own line after \"Answer:\".";

}  // namespace hone
