#include "text/gguf_cuts.h"

#include "text/pre_pattern.h"
#include "text/qwen_components.h"

namespace hone::text {

using io::Json;

namespace {

Json sequence_of(Json first, Json second) {
  return Json::object({{"type", "Sequence"}, {"pretokenizers", Json::array({std::move(first), std::move(second)})}});
}
Json gpt2_words() {
  return Json::object(
      {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}});
}
Json smollm_pre_tokenizer() {
  return sequence_of(Json::object({{"type", "Digits"}, {"individual_digits", true}}), gpt2_words());
}
Json llama3_pre_tokenizer() {
  return sequence_of(Json::object({{"type", "Split"},
                                   {"pattern", Json::object({{"Regex", kLlama3Regex}})},
                                   {"behavior", "Isolated"},
                                   {"invert", false}}),
                     byte_level_component());
}

// Of several names for one cut the first is the one that is written.
constexpr GgufCut kCuts[] = {
    {"qwen2", qwen_pre_tokenizer, true, false, false},      {"smollm", smollm_pre_tokenizer, false, false, false},
    {"llama-bpe", llama3_pre_tokenizer, false, true, true}, {"llama3", llama3_pre_tokenizer, false, true, true},
    {"llama-v3", llama3_pre_tokenizer, false, true, true},  {"gpt-2", gpt2_words, false, false, false},
};

}  // namespace

std::span<const GgufCut> gguf_cuts() { return kCuts; }

std::string gguf_cut_names() {
  std::string list;
  for (const GgufCut& cut : kCuts) list += std::string(list.empty() ? "" : ", ") + cut.name;
  return list;
}

}  // namespace hone::text
