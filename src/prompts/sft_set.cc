#include "prompts/sft_set.h"

#include <optional>

#include "core/error.h"
#include "prompts/data_hash.h"
#include "prompts/row_choice.h"
#include "prompts/row_fields.h"
#include "prompts/row_file.h"

namespace hone {

namespace {

constexpr const char* kCompletion = "completion";

int64_t length(const SftExample& example) {
  return static_cast<int64_t>(example.prompt_ids.size() + example.response_ids.size());
}

// Brings the example to its limit, or says why that cannot be.
std::string limit_length(SftExample& example, const SftSetOptions& options) {
  const auto num_prompt = static_cast<int64_t>(example.prompt_ids.size());
  const auto num_response = static_cast<int64_t>(example.response_ids.size());
  const int64_t excess = length(example) - options.max_length;
  if (excess <= 0) return "";
  const bool left = options.truncation == Truncation::left;
  if (options.truncation == Truncation::error) {
    return fmt::format("prompt and response have {} ids, data.max_length is {}", length(example), options.max_length);
  }
  if ((left ? num_prompt : num_response) <= excess) {
    return fmt::format("{} ids are more than data.max_length {} leaves room for, even with the {} cut", length(example),
                       options.max_length, left ? "prompt" : "response");
  }
  auto& ids = left ? example.prompt_ids : example.response_ids;
  truncate(ids, static_cast<int64_t>(ids.size()) - excess, options.truncation);
  if (!left && !example.loss_mask.empty()) example.loss_mask.resize(ids.size());
  return "";
}

class ExampleReader {
 public:
  ExampleReader(const SftSetOptions& options, const Tokenizer& tokenizer, int32_t end_id, io::Faults& faults)
      : options_(options),
        tokenizer_(tokenizer),
        end_id_(end_id),
        faults_(faults),
        chat_(options.chat, faults),
        choice_(options.files, options.max_samples, options.shuffle, options.seed) {}

  void read_file(const std::string& file) {
    read_rows(file, faults_, [&](io::JsonRow&& row) {
      if (choice_.next()) read_row(row, row_place(file, row));
    });
    chat_.end_file();
  }
  SftSet take() { return std::move(set_); }

 private:
  void read_row(const io::JsonRow& row, const std::string& place) {
    std::optional<SftExample> example = read_example(row, place);
    if (!example) return;
    set_.num_truncated += length(*example) > options_.max_length;
    if (const std::string fault = limit_length(*example, options_); !fault.empty()) {
      faults_.add(fmt::format("{}: {}", place, fault));
    }
    set_.examples.push_back(std::move(*example));
  }

  // Nothing when the row is at fault.
  std::optional<SftExample> read_example(const io::JsonRow& row, const std::string& place) {
    if (const io::Json* messages = present_field(row.value, options_.messages_key)) {
      return chat_.example(row.value, *messages, options_.messages_key, place);
    }
    const io::Json* prompt = row.value.find(options_.prompt_key);
    const bool is_chat = prompt != nullptr && prompt->is_array();
    const std::string* text = is_chat ? nullptr : text_field(row, options_.prompt_key, place, faults_);
    const std::string key = key_of_response(row.value);
    if (const io::Json* field = row.value.find(key); is_chat && field != nullptr && field->is_array()) {
      return chat_.example(row.value, with_answer(*prompt, *field), options_.prompt_key, place);
    }
    const std::string* response = text_field(row, key, place, faults_);
    if (response == nullptr || (!is_chat && text == nullptr)) return {};
    if (is_chat) return chat_.example(row.value, with_answer(*prompt, *response), options_.prompt_key, place);
    return encode(*text, key, *response, place);
  }

  // TRL's completion stands in for the usual name, not for one that the user gave.
  std::string key_of_response(const io::Json& row) const {
    const bool is_trl = options_.response_key == SftSetOptions().response_key &&
                        present_field(row, options_.response_key) == nullptr && present_field(row, kCompletion);
    return is_trl ? kCompletion : options_.response_key;
  }

  std::optional<SftExample> encode(const std::string& prompt, const std::string& response_key,
                                   const std::string& response, const std::string& place) {
    auto prompt_ids = encode_field(tokenizer_, prompt, options_.prompt_key, place, faults_);
    auto response_ids = encode_field(tokenizer_, response, response_key, place, faults_);
    if (!prompt_ids || !response_ids) return {};
    tokenizer_.add_prefix(*prompt_ids);
    response_ids->push_back(end_id_);
    if (prompt_ids->empty()) faults_.add(fmt::format("{}: {} is empty", place, options_.prompt_key));
    return SftExample{std::move(*prompt_ids), std::move(*response_ids), {}};
  }

  const SftSetOptions& options_;
  const Tokenizer& tokenizer_;
  int32_t end_id_;
  io::Faults& faults_;
  ChatRowReader chat_;
  RowChoice choice_;
  SftSet set_;
};

}  // namespace

SftSet load_sft_set(const SftSetOptions& options, const Tokenizer& tokenizer, int32_t end_id, io::Faults& faults) {
  HONE_CHECK(options.truncation != Truncation::middle, "SFT rows are cut left or right");
  ExampleReader reader(options, tokenizer, end_id, faults);
  for (const std::string& file : options.files) reader.read_file(file);
  return reader.take();
}

uint64_t data_hash(const std::vector<SftExample>& examples) {
  DataHash hash;
  for (const SftExample& example : examples) {
    hash.add(example.prompt_ids);
    hash.add(example.response_ids);
    if (!example.loss_mask.empty())
      hash.add(std::string_view(reinterpret_cast<const char*>(example.loss_mask.data()), example.loss_mask.size()));
  }
  return hash.value();
}

}  // namespace hone
