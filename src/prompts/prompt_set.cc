#include "prompts/prompt_set.h"

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "io/jsonl.h"
#include "prompts/data_hash.h"
#include "prompts/row_fields.h"
#include "prompts/row_order.h"
#include "workers/worker.h"

namespace hone {

namespace {

// Rows of a file whose prompt is a list of chat messages, for a model without a chat template: named once, with their
// number.
struct ChatRows {
  int64_t first_line = 0, num_rows = 0;
};

class Reader {
 public:
  Reader(const PromptSetOptions& options, const Tokenizer& tokenizer, io::Faults& faults)
      : options_(options), tokenizer_(tokenizer), faults_(faults) {}

  void read_file(const std::string& file) {
    ChatRows chat;
    for (const io::JsonRow& row : io::read_jsonl(file, faults_)) read_row(file, row, chat);
    if (chat.num_rows > 0) {
      faults_.add(
          fmt::format("{}:{}: {} is a list of chat messages ({} rows), and the model has no chat template; name one in "
                      "custom_chat_template, or give each prompt as one text",
                      file, chat.first_line, options_.prompt_key, chat.num_rows));
    }
  }
  PromptSet take() { return std::move(set_); }

 private:
  void read_row(const std::string& file, const io::JsonRow& row, ChatRows& chat) {
    const std::string place = row_place(file, row);
    const std::string* data_source = text_field(row, options_.reward_fn_key, place, faults_);
    const auto ground_truth = read_ground_truth(row, place);
    Prompt prompt;
    prompt.file = file;
    prompt.line = row.line;
    const io::Json* field = row.value.find(options_.prompt_key);
    if (field != nullptr && field->is_array()) {
      if (!has_template()) {
        if (chat.num_rows++ == 0) chat.first_line = row.line;
      } else if (!take_ids(prompt, render(row.value, *field, prompt, place), place)) {
        return;
      }
    } else if (const std::string* text = text_field(row, options_.prompt_key, place, faults_)) {
      prompt.text = *text;
      if (!take_ids(prompt, encode(prompt.text, place), place)) return;
    }
    if (data_source == nullptr || !ground_truth) return;
    prompt.data_source = *data_source;
    prompt.ground_truth = *ground_truth;
    set_.prompts.push_back(std::move(prompt));
  }

  // Text as it stands; an object or a list as JSON.
  std::optional<std::string> read_ground_truth(const io::JsonRow& row, const std::string& place) {
    const io::Json* model = row.value.find("reward_model");
    const io::Json* truth = model == nullptr ? nullptr : model->find("ground_truth");
    if (truth == nullptr) {
      faults_.add(fmt::format("{}: reward_model.ground_truth is missing", place));
    } else if (truth->is_string()) {
      return truth->as_string();
    } else if (truth->is_object() || truth->is_array()) {
      return truth->dump();
    } else {
      faults_.add(
          fmt::format("{}: reward_model.ground_truth: expected text or an object, found {}", place, truth->describe()));
    }
    return {};
  }

  bool has_template() const { return options_.chat.chat != nullptr && options_.chat.chat->exists(); }

  std::optional<std::vector<int32_t>> encode(const std::string& text, const std::string& place) {
    auto ids = encode_field(tokenizer_, text, options_.prompt_key, place, faults_);
    if (ids) tokenizer_.add_prefix(*ids);
    return ids;
  }

  std::optional<std::vector<int32_t>> render(const io::Json& row, const io::Json& messages, Prompt& prompt,
                                             const std::string& place) {
    try {
      ChatIds chat = render_prompt(options_.chat, row, messages);
      prompt.text = std::move(chat.text);
      return std::move(chat.ids);
    } catch (const workers::WorkerError& error) {
      throw Error(fmt::format("{}: {}: {}", place, options_.prompt_key, error.what()), error.hint());
    } catch (const Error& error) {
      faults_.add(fmt::format("{}: {}: {}", place, options_.prompt_key, error.what()));
      return {};
    }
  }

  // False when the row is to be left out for its length.
  bool take_ids(Prompt& prompt, std::optional<std::vector<int32_t>> ids, const std::string& place) {
    if (!ids) return true;
    if (ids->empty()) faults_.add(fmt::format("{}: {} is empty", place, options_.prompt_key));
    const auto length = static_cast<int64_t>(ids->size());
    if (length > options_.max_prompt_length) {
      if (options_.filter_overlong_prompts) {
        ++set_.num_filtered;
        return false;
      }
      if (options_.truncation == Truncation::error) {
        faults_.add(
            fmt::format("{}: {} has {} ids, data.max_prompt_length is {}; raise it, or set "
                        "data.filter_overlong_prompts or data.truncation",
                        place, options_.prompt_key, length, options_.max_prompt_length));
      } else {
        truncate(*ids, options_.max_prompt_length, options_.truncation);
        ++set_.num_truncated;
      }
    }
    prompt.ids = std::move(*ids);
    return true;
  }

  const PromptSetOptions& options_;
  const Tokenizer& tokenizer_;
  io::Faults& faults_;
  PromptSet set_;
};

void keep_some(std::vector<Prompt>& prompts, const PromptSetOptions& options) {
  const auto num_rows = static_cast<int64_t>(prompts.size());
  if (options.max_samples < 0 || options.max_samples >= num_rows) return;
  std::vector<uint32_t> rows = epoch_order(num_rows, options.shuffle, options.seed, kSubsetEpoch);
  rows.resize(static_cast<size_t>(options.max_samples));
  std::sort(rows.begin(), rows.end());  // file order
  std::vector<Prompt> kept;
  for (const uint32_t row : rows) kept.push_back(std::move(prompts[row]));
  prompts = std::move(kept);
}

}  // namespace

PromptSet load_prompts(const PromptSetOptions& options, const Tokenizer& tokenizer, io::Faults& faults) {
  HONE_CHECK(options.max_prompt_length > 0, "max_prompt_length {}", options.max_prompt_length);
  Reader reader(options, tokenizer, faults);
  for (const std::string& file : options.files) reader.read_file(file);
  PromptSet set = reader.take();
  keep_some(set.prompts, options);
  if (set.prompts.empty() && faults.empty()) {
    faults.add(fmt::format("no prompt is left of {} files: {} are longer than data.max_prompt_length {}",
                           options.files.size(), set.num_filtered, options.max_prompt_length));
  }
  return set;
}

uint64_t data_hash(const std::vector<Prompt>& prompts, const std::vector<int32_t>& end_ids) {
  DataHash hash;
  hash.add(end_ids);
  for (const Prompt& prompt : prompts) {
    hash.add(prompt.ids);
    hash.add(prompt.data_source);
    hash.add(prompt.ground_truth);
  }
  return hash.value();
}

}  // namespace hone
