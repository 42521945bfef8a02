// <answer>...</answer>, the tags in which some prompts ask for the answer.
#pragma once

#include <optional>
#include <string_view>

namespace hone {

// What stands in the last complete pair of tags.
std::optional<std::string_view> find_answer_tag(std::string_view text);

}  // namespace hone
