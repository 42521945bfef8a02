#include "prompts/prompt_set.h"

#include <optional>

#include "core/error.h"
#include "prompts/data_hash.h"
#include "prompts/ground_truth.h"
#include "prompts/row_choice.h"
#include "prompts/row_fields.h"
#include "prompts/row_file.h"

namespace hone {

namespace {

class PromptReader {
 public:
  PromptReader(const PromptSetOptions& options, const Tokenizer& tokenizer, io::Faults& faults)
      : options_(options),
        tokenizer_(tokenizer),
        faults_(faults),
        chat_(options.chat, faults),
        choice_(options.files, options.max_samples, options.shuffle, options.seed) {}

  void read_file(const std::string& file) {
    read_rows(file, faults_, [&](io::JsonRow&& row) {
      if (choice_.next()) read_row(file, row);
    });
    chat_.end_file();
  }
  PromptSet take() { return std::move(set_); }

 private:
  void read_row(const std::string& file, const io::JsonRow& row) {
    const std::string place = row_place(file, row);
    const std::string* data_source = read_data_source(row, place);
    Prompt prompt;
    const bool has_truth = read_ground_truth(row, place, prompt);
    prompt.file = file;
    prompt.line = row.line;
    auto ids = read_prompt(row, prompt.text, place);
    if (ids && !take_ids(prompt, std::move(*ids), place)) return;
    if (data_source == nullptr || !has_truth) return;
    prompt.data_source = *data_source;
    if (options_.keep_rows) prompt.row = row.value.dump();
    set_.prompts.push_back(std::move(prompt));
  }

  const std::string* read_data_source(const io::JsonRow& row, const std::string& place) {
    const std::string& key = options_.reward_fn_key;
    const bool is_default = !options_.default_data_source.empty() && present_field(row.value, key) == nullptr;
    return is_default ? &options_.default_data_source : text_field(row, key, place, faults_);
  }

  // Ids of a row's prompt, and its text as the model sees it. Nothing when it is at fault.
  std::optional<std::vector<int32_t>> read_prompt(const io::JsonRow& row, std::string& text, const std::string& place) {
    const std::string& key = options_.prompt_key;
    if (const io::Json* field = row.value.find(key); field != nullptr && field->is_array()) {
      return read_chat(row, *field, text, place);
    }
    const std::string* plain = text_field(row, key, place, faults_);
    if (plain == nullptr) return {};
    text = options_.prompt_suffix.empty() ? *plain : *plain + " " + options_.prompt_suffix;
    if (options_.text_as_message) return read_chat(row, user_message(text), text, place);
    auto ids = encode_field(tokenizer_, text, key, place, faults_);
    if (ids) tokenizer_.add_prefix(*ids);
    return ids;
  }

  std::optional<std::vector<int32_t>> read_chat(const io::JsonRow& row, const io::Json& messages, std::string& text,
                                                const std::string& place) {
    std::optional<ChatIds> chat = chat_.prompt(row.value, messages, options_.prompt_key, place);
    if (!chat) return {};
    text = std::move(chat->text);
    return std::move(chat->ids);
  }

  // False when it is at fault. A function of the user may do without one where no field is named.
  bool read_ground_truth(const io::JsonRow& row, const std::string& place, Prompt& prompt) {
    const io::Json* field = find_ground_truth_field(row.value, options_.answer_key);
    if (options_.keep_rows) prompt.ground_truth_json = field == nullptr ? "\"\"" : field->dump();
    try {
      prompt.ground_truth = find_ground_truth(row.value, options_.answer_key);
    } catch (const Error& error) {
      if (options_.keep_rows && options_.answer_key.empty()) {
        prompt.ground_truth = field == nullptr ? "" : field->dump();
        return true;
      }
      faults_.add(fmt::format("{}: {}", place, error.what()));
      return false;
    }
    return true;
  }

  // False when the row is to be left out for its length.
  bool take_ids(Prompt& prompt, std::vector<int32_t> ids, const std::string& place) {
    if (ids.empty()) faults_.add(fmt::format("{}: {} is empty", place, options_.prompt_key));
    const auto length = static_cast<int64_t>(ids.size());
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
        truncate(ids, options_.max_prompt_length, options_.truncation);
        ++set_.num_truncated;
      }
    }
    prompt.ids = std::move(ids);
    return true;
  }

  const PromptSetOptions& options_;
  const Tokenizer& tokenizer_;
  io::Faults& faults_;
  ChatRowReader chat_;
  RowChoice choice_;
  PromptSet set_;
};

}  // namespace

PromptSet load_prompts(const PromptSetOptions& options, const Tokenizer& tokenizer, io::Faults& faults) {
  HONE_CHECK(options.max_prompt_length > 0, "max_prompt_length {}", options.max_prompt_length);
  PromptReader reader(options, tokenizer, faults);
  for (const std::string& file : options.files) reader.read_file(file);
  PromptSet set = reader.take();
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
    if (!prompt.row.empty()) hash.add(prompt.row);
  }
  return hash.value();
}

}  // namespace hone
