#include "text/qwen_components.h"

#include "text/pre_pattern.h"

namespace hone::text {

using io::Json;

Json byte_level_component() {
  return Json::object(
      {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}});
}

Json qwen_pre_tokenizer() {
  const Json split = Json::object({{"type", "Split"},
                                   {"pattern", Json::object({{"Regex", kQwenRegex}})},
                                   {"behavior", "Isolated"},
                                   {"invert", false}});
  return Json::object({{"type", "Sequence"}, {"pretokenizers", Json::array({split, byte_level_component()})}});
}

}  // namespace hone::text
