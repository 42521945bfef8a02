#include "text/tokenizer_component.h"

#include <optional>

#include "core/error.h"

namespace hone::text {

using io::JsonAt;

namespace {

// Steps of a pre-tokenizer in the order of the file, nested sequences laid out flat.
class PreStepReader {
 public:
  static constexpr size_t kMaxSteps = 16;  // cutting goes one call deeper for each

  void read(const JsonAt& component) {
    const std::string& type = type_of(component);
    if (type == "Sequence") {
      for (const JsonAt& step : component["pretokenizers"].items()) read(step);
      return;
    }
    if (steps_.size() >= kMaxSteps) component.fail(fmt::format("there are more than {} steps", kMaxSteps));
    // ByteLevel writes the text in its alphabet, and what comes after it would see that alphabet.
    if (byte_level_) refuse(component, fmt::format("{} after ByteLevel is not supported", type));
    if (type == "Split") {
      read_split(component);
    } else if (type == "Digits") {
      const bool each = read_flag(component, "individual_digits", false);
      steps_.push_back({.pattern = {PrePattern::Kind::numbers, each ? 1u : 0u}});
    } else if (type == "ByteLevel") {
      read_byte_level(component);
    } else {
      refuse_type(component, "Sequence, Split, Digits and ByteLevel");
    }
  }

  std::vector<PreStep> take(const JsonAt& whole) {
    if (!byte_level_) refuse(whole, "has no ByteLevel");
    return std::move(steps_);
  }

 private:
  void read_split(const JsonAt& split) {
    PreStep step;
    const JsonAt pattern = split["pattern"];
    if (const auto text = pattern.find("String")) {
      step.kind = PreStep::Kind::literal;
      step.literal = text->as_string();
      if (step.literal.empty()) text->fail("the text is empty");
    } else {
      const JsonAt regex = pattern["Regex"];
      const auto found = find_pre_pattern(regex.as_string());
      if (!found) {
        refuse(regex, fmt::format("the regular expression is none of those of Qwen, Llama 3 and GPT-2: {}",
                                  regex.as_string()));
      }
      step.pattern = *found;
    }
    step.behavior = read_behavior(split["behavior"]);
    step.invert = read_flag(split, "invert", false);
    steps_.push_back(std::move(step));
  }

  static SplitBehavior read_behavior(const JsonAt& at) {
    const std::string& name = at.as_string();
    if (name == "Isolated") return SplitBehavior::isolated;
    if (name == "Removed") return SplitBehavior::removed;
    if (name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
    if (name == "MergedWithNext") return SplitBehavior::merged_with_next;
    if (name == "Contiguous") return SplitBehavior::contiguous;
    refuse(at, fmt::format("{} is not supported", name));
  }

  void read_byte_level(const JsonAt& component) {
    byte_level_ = true;
    if (component["add_prefix_space"].as_bool()) steps_.push_back({.kind = PreStep::Kind::prefix_space});
    if (read_flag(component, "use_regex", true)) steps_.push_back({.pattern = *find_pre_pattern(kGpt2Regex)});
  }

  std::vector<PreStep> steps_;
  bool byte_level_ = false;
};

bool is_nfc(const JsonAt& normalizer) {
  if (type_of(normalizer) == "NFC") return true;
  if (type_of(normalizer) != "Sequence") refuse_type(normalizer, "NFC, a Sequence of NFC, or null");
  bool nfc = false;
  for (const JsonAt& step : normalizer["normalizers"].items()) nfc |= is_nfc(step);
  return nfc;
}

void read_template(const JsonAt& processor, std::vector<int32_t>& prefix_ids) {
  bool text_seen = false;
  for (const JsonAt& item : processor["single"].items()) {
    if (item.find("Sequence")) {
      if (text_seen) refuse(item, "a second text is not supported");
      text_seen = true;
      continue;
    }
    const JsonAt name = item["SpecialToken"]["id"];
    if (text_seen) refuse(item, "a token after the text is not supported");
    for (const JsonAt& id : processor["special_tokens"][name.as_string()]["ids"].items()) {
      prefix_ids.push_back(read_token_id(id));
    }
  }
  if (!text_seen) refuse(processor["single"], "does not take the text");
}

void read_post_processor(const JsonAt& processor, std::vector<int32_t>& prefix_ids) {
  const std::string& type = type_of(processor);
  if (type == "Sequence") {
    for (const JsonAt& step : processor["processors"].items()) read_post_processor(step, prefix_ids);
  } else if (type == "TemplateProcessing") {
    std::vector<int32_t> ids;
    read_template(processor, ids);
    prefix_ids.insert(prefix_ids.begin(), ids.begin(), ids.end());  // a later one goes around an earlier one
  } else if (type != "ByteLevel") {                                 // which moves offsets only
    refuse_type(processor, "ByteLevel, TemplateProcessing and Sequence");
  }
}

}  // namespace

const std::string& type_of(const JsonAt& component) { return component["type"].as_string(); }

void refuse(const JsonAt& at, const std::string& what) {
  throw Error(fmt::format("{} {}", at.where(), what),
              "byte-level BPE tokenizers of Llama 3, Qwen2, Qwen3 and SmolLM2 are supported; convert the tokenizer to "
              "that form");
}

void refuse_type(const JsonAt& component, const char* known) {
  refuse(component, fmt::format("{} is not supported, only {}", type_of(component), known));
}

bool read_flag(const JsonAt& component, const char* key, bool otherwise) {
  const auto flag = component.find(key);
  return flag ? flag->as_bool() : otherwise;
}

int32_t read_token_id(const JsonAt& at) {
  const int64_t id = at.as_int();
  if (id < 0 || id > kMaxTokenId) at.fail(fmt::format("id {} is outside [0, {}]", id, kMaxTokenId));
  return static_cast<int32_t>(id);
}

bool read_normalizer(const JsonAt& root) {
  const auto normalizer = root.find("normalizer");
  return normalizer && is_nfc(*normalizer);
}

PreTokenizer read_pre_tokenizer(const JsonAt& root) {
  const auto whole = root.find("pre_tokenizer");
  if (!whole) refuse(root, "pre_tokenizer is null; ByteLevel is needed");
  PreStepReader reader;
  reader.read(*whole);
  return PreTokenizer(reader.take(*whole));
}

std::vector<int32_t> read_prefix_ids(const JsonAt& root) {
  std::vector<int32_t> ids;
  if (const auto processor = root.find("post_processor")) read_post_processor(*processor, ids);
  return ids;
}

void check_decoder(const JsonAt& root) {
  const auto decoder = root.find("decoder");
  if (!decoder) refuse(root, "decoder is null; ByteLevel is needed");
  if (type_of(*decoder) == "ByteLevel") return;
  if (type_of(*decoder) != "Sequence") refuse_type(*decoder, "ByteLevel");
  bool byte_level = false;
  for (const JsonAt& step : (*decoder)["decoders"].items()) {
    const std::string& type = type_of(step);
    if (type == "ByteLevel" && !byte_level) {
      byte_level = true;
    } else if (type != "Fuse") {  // which joins what is joined anyway
      refuse_type(step, "one ByteLevel, and Fuse");
    }
  }
  if (!byte_level) refuse(*decoder, "has no ByteLevel");
}

AddedToken read_added_token(const JsonAt& item) {
  AddedToken token{.content = item["content"].as_string()};
  if (token.content.empty()) item.fail("the content is empty");
  token.special = read_flag(item, "special", false);
  token.normalized = read_flag(item, "normalized", false);
  token.single_word = read_flag(item, "single_word", false);
  token.lstrip = read_flag(item, "lstrip", false);
  token.rstrip = read_flag(item, "rstrip", false);
  return token;
}

}  // namespace hone::text
