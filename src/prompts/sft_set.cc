#include "prompts/sft_set.h"

#include "core/error.h"
#include "io/jsonl.h"
#include "prompts/data_hash.h"
#include "prompts/row_fields.h"

namespace hone {

namespace {

// Brings the example to its limit, or says why that cannot be.
std::string limit_length(SftExample& example, const SftSetOptions& options) {
  const auto num_prompt = static_cast<int64_t>(example.prompt_ids.size());
  const auto num_response = static_cast<int64_t>(example.response_ids.size());
  const int64_t length = num_prompt + num_response, excess = length - options.max_length;
  if (excess <= 0) return "";
  const bool left = options.truncation == Truncation::left;
  if (options.truncation == Truncation::error) {
    return fmt::format("prompt and response have {} ids, data.max_length is {}", length, options.max_length);
  }
  if ((left ? num_prompt : num_response) <= excess) {
    return fmt::format("{} ids are more than data.max_length {} leaves room for, even with the {} cut", length,
                       options.max_length, left ? "prompt" : "response");
  }
  auto& ids = left ? example.prompt_ids : example.response_ids;
  truncate(ids, static_cast<int64_t>(ids.size()) - excess, options.truncation);
  return "";
}

}  // namespace

std::vector<SftExample> load_sft_examples(const SftSetOptions& options, const Tokenizer& tokenizer, int32_t end_id,
                                          io::Faults& faults) {
  HONE_CHECK(options.truncation != Truncation::middle, "SFT rows are cut left or right");
  std::vector<SftExample> examples;
  for (const std::string& file : options.files) {
    for (const io::JsonRow& row : io::read_jsonl(file, faults)) {
      const std::string place = row_place(file, row);
      const std::string* prompt = text_field(row, options.prompt_key, place, faults);
      const std::string* response = text_field(row, options.response_key, place, faults);
      if (prompt == nullptr || response == nullptr) continue;
      auto prompt_ids = encode_field(tokenizer, *prompt, options.prompt_key, place, faults);
      auto response_ids = encode_field(tokenizer, *response, options.response_key, place, faults);
      if (!prompt_ids || !response_ids) continue;
      tokenizer.add_prefix(*prompt_ids);
      response_ids->push_back(end_id);
      if (prompt_ids->empty()) faults.add(fmt::format("{}: {} is empty", place, options.prompt_key));
      SftExample example{std::move(*prompt_ids), std::move(*response_ids)};
      if (const std::string fault = limit_length(example, options); !fault.empty()) {
        faults.add(fmt::format("{}: {}", place, fault));
      }
      examples.push_back(std::move(example));
    }
  }
  return examples;
}

uint64_t data_hash(const std::vector<SftExample>& examples) {
  DataHash hash;
  for (const SftExample& example : examples) {
    hash.add(example.prompt_ids);
    hash.add(example.response_ids);
  }
  return hash.value();
}

}  // namespace hone
