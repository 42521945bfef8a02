// The names that GGUF files have for the ways to cut text (tokenizer.ggml.pre). Private to text/gguf_*.cc.
#pragma once

#include <span>
#include <string>

#include "io/json.h"

namespace hone::text {

struct GgufCut {
  const char* name;
  io::Json (*pre_tokenizer)();  // of a tokenizer.json
  bool nfc, ignore_merges;      // as the published tokenizers of this cut have it
  bool begins;                  // whether the begin token stands before a text where the file does not say
};

std::span<const GgufCut> gguf_cuts();
std::string gguf_cut_names();  // "a, b, c"

}  // namespace hone::text
