// Unfinished groups on disk, as JSON: {"format": 1, "groups": [{"draw", "row", "prompt_ids", "temperature", "samples":
// [{"finish", "response_ids", "logprobs", "versions"}]}]}. A prompt is named by its row among the prompts of the run
// and its ids, so the file can be read only beside the data it was written beside.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/json.h"
#include "records/unfinished.h"

namespace hone {

// Whole or not at all. Draws ascend, as Engine::take_unfinished gives them, and every prompt is one of `prompts`.
void write_unfinished(const std::string& path, std::span<const UnfinishedGroup> groups,
                      std::span<const Prompt> prompts);

// The same groups to the bit; their prompts point into `prompts`. Raises Error, with file and place, on anything that
// write_unfinished would not have written, and when a prompt is not the one of its row.
std::vector<UnfinishedGroup> read_unfinished(const std::string& path, std::span<const Prompt> prompts);

// One group of the file. Its prompt is one of `prompts`.
io::Json group_as_json(const UnfinishedGroup& group, std::span<const Prompt> prompts);
UnfinishedGroup read_group(const io::JsonAt& at, std::span<const Prompt> prompts);

}  // namespace hone
