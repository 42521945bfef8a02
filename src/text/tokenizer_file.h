// tokenizer.json: read strictly into what Tokenizer is built from. Components other than those listed are refused with
// their place in the file:
//   normalizer      null, NFC, a Sequence of NFC
//   pre_tokenizer   ByteLevel, or a Sequence of Split, Digits and at last ByteLevel; the regular expressions are those
//                   of text/pre_pattern.h, a Split of a text takes any
//   post_processor  null, ByteLevel, TemplateProcessing that only puts ids before the text, a Sequence of these
//   decoder         ByteLevel, alone or in a Sequence with Fuse
//   model           BPE over the byte alphabet: no dropout, prefix, suffix; byte fallback only where it has no effect
//   truncation and padding are for batches of texts: not looked at, as transformers does not
// A folder without tokenizer.json may hold vocab.json and merges.txt of a Qwen2 tokenizer in its place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/pre_tokenizer.h"

namespace hone::io {
class Json;
}

namespace hone::text {

struct TokenizerSpec {
  bool nfc = false;
  PreTokenizer pre_tokenizer;
  Vocabulary vocabulary;   // without added tokens; ids and strings distinct
  Vocabulary unreachable;  // tokens with a character outside the byte alphabet: they can be decoded, never made
  MergeTable merges{0};
  BpeRules rules;
  std::vector<AddedToken> added;    // distinct ids and contents
  std::vector<int32_t> prefix_ids;  // put before every text by the post-processor
};

// From tokenizer.json, or vocab.json and merges.txt; of a folder or a GGUF file. `place` becomes what errors call it.
io::Json read_tokenizer_json(const std::string& model, std::string& place);
TokenizerSpec read_tokenizer_folder(const std::string& folder);
// `name` is what errors call the file.
TokenizerSpec parse_tokenizer(const io::Json& json, const std::string& name);

}  // namespace hone::text
