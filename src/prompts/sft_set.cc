#include "prompts/sft_set.h"

#include <optional>

#include "core/error.h"
#include "io/jsonl.h"
#include "prompts/data_hash.h"
#include "prompts/row_fields.h"
#include "workers/worker.h"

namespace hone {

namespace {

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

// Reads one row; nothing when it is at fault.
class Reader {
 public:
  Reader(const SftSetOptions& options, const Tokenizer& tokenizer, int32_t end_id, io::Faults& faults)
      : options_(options), tokenizer_(tokenizer), end_id_(end_id), faults_(faults) {}

  std::optional<SftExample> read(const io::JsonRow& row, const std::string& place) {
    if (const io::Json* messages = row.value.find(options_.messages_key)) {
      return render(row.value, *messages, options_.messages_key, place);
    }
    const io::Json* prompt = row.value.find(options_.prompt_key);
    const bool chat = prompt != nullptr && prompt->is_array();
    const std::string* text = chat ? nullptr : text_field(row, options_.prompt_key, place, faults_);
    const std::string* response = text_field(row, options_.response_key, place, faults_);
    if (response == nullptr || (!chat && text == nullptr)) return {};
    if (chat) return render(row.value, with_answer(*prompt, *response), options_.prompt_key, place);
    return encode(*text, *response, place);
  }

 private:
  std::optional<SftExample> encode(const std::string& prompt, const std::string& response, const std::string& place) {
    auto prompt_ids = encode_field(tokenizer_, prompt, options_.prompt_key, place, faults_);
    auto response_ids = encode_field(tokenizer_, response, options_.response_key, place, faults_);
    if (!prompt_ids || !response_ids) return {};
    tokenizer_.add_prefix(*prompt_ids);
    response_ids->push_back(end_id_);
    if (prompt_ids->empty()) faults_.add(fmt::format("{}: {} is empty", place, options_.prompt_key));
    return SftExample{std::move(*prompt_ids), std::move(*response_ids), {}};
  }

  std::optional<SftExample> render(const io::Json& row, const io::Json& messages, const std::string& key,
                                   const std::string& place) {
    try {
      if (options_.chat.chat == nullptr) throw Error("conversations need a chat template");
      SftExample example = render_example(options_.chat, row, messages);
      if (example.prompt_ids.empty()) throw Error("nothing stands before the first answer");
      return example;
    } catch (const workers::WorkerError& error) {
      throw Error(fmt::format("{}: {}: {}", place, key, error.what()), error.hint());
    } catch (const Error& error) {
      faults_.add(fmt::format("{}: {}: {}", place, key, error.what()));
      return {};
    }
  }

  const SftSetOptions& options_;
  const Tokenizer& tokenizer_;
  int32_t end_id_;
  io::Faults& faults_;
};

}  // namespace

SftSet load_sft_set(const SftSetOptions& options, const Tokenizer& tokenizer, int32_t end_id, io::Faults& faults) {
  HONE_CHECK(options.truncation != Truncation::middle, "SFT rows are cut left or right");
  SftSet set;
  Reader reader(options, tokenizer, end_id, faults);
  for (const std::string& file : options.files) {
    for (const io::JsonRow& row : io::read_jsonl(file, faults)) {
      const std::string place = row_place(file, row);
      std::optional<SftExample> example = reader.read(row, place);
      if (!example) continue;
      set.num_truncated += length(*example) > options.max_length;
      if (const std::string fault = limit_length(*example, options); !fault.empty()) {
        faults.add(fmt::format("{}: {}", place, fault));
      }
      set.examples.push_back(std::move(*example));
    }
  }
  return set;
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
