// tokenizer.json: read strictly into what Tokenizer is built from. Components other than those listed are refused with
// their place in the file:
//   normalizer     null, NFC
//   pre_tokenizer  Sequence of Split (a pattern of text/pre_tokenizer.h, Isolated) and ByteLevel (without its own
//   regex) post_processor null, ByteLevel, TemplateProcessing that only puts ids before the text, a Sequence of these
//   decoder        ByteLevel
//   model          BPE over the byte alphabet: no dropout, unknown token, prefix, suffix or byte fallback
//   added_tokens   without single_word, lstrip, rstrip
// Not read: vocab.json with merges.txt.
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
  PrePattern pattern;
  Vocabulary vocabulary;  // without added tokens; distinct ids and strings
  MergeTable merges{0};
  bool ignore_merges = false;
  std::vector<AddedToken> added;    // distinct ids and contents
  std::vector<int32_t> prefix_ids;  // put before every text by the post-processor
};

TokenizerSpec read_tokenizer_file(const std::string& path);
// `name` is what errors call the file.
TokenizerSpec parse_tokenizer(const io::Json& json, const std::string& name);

}  // namespace hone::text
