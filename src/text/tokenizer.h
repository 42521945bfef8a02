// Tokenizer: text to ids and back as the model's reference tokenizer does it. Byte-level BPE from a tokenizer.json with
// the components of text/tokenizer_file.h; anything else in the file is refused by name. Immutable: any number of
// threads may use one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

namespace text {
struct TokenizerSpec;
}

class Tokenizer {
 public:
  // From FOLDER/tokenizer.json, or from vocab.json with merges.txt, or of a GGUF file. Raises Error with file,
  // component, expected and found.
  static Tokenizer load(const std::string& folder);
  explicit Tokenizer(const text::TokenizerSpec& spec);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Ids of the text, without anything put before or after it. `allow_special`: the content of a special token becomes
  // its id; otherwise it is text like any other, so that no control id can come from a user's text.
  // Raises Error when the text is not valid UTF-8, or holds a character for which the tokenizer has no token.
  std::vector<int32_t> encode(std::string_view text, bool allow_special) const;

  // Text of the ids: the bytes of all are joined first, then what is not valid UTF-8 becomes U+FFFD (one for each
  // maximal broken prefix), so an answer cut inside a character is still valid text. Unknown ids give nothing.
  std::string decode(std::span<const int32_t> ids, bool skip_special) const;

  // The same without the replacement. Of text without normal form C and special tokens, decode_bytes(encode(text)) is
  // the text.
  std::string decode_bytes(std::span<const int32_t> ids, bool skip_special) const;

  // The bytes of one token, which need not be whole characters; empty for unknown ids.
  std::string_view token_bytes(int32_t id) const;
  bool is_special(int32_t id) const;

  // One more than the highest id: rows of the head beyond it are never sampled.
  int32_t vocab_size() const;
  // The id whose content is exactly this: an added token, or a token of the vocabulary as text.
  std::optional<int32_t> find(std::string_view content) const;
  // Ids which the file's post-processor puts before every text (a begin-of-text id); encode() does not.
  const std::vector<int32_t>& prefix_ids() const;
  // Puts them before `ids`, unless these begin with them already, as the text of a chat template may.
  void add_prefix(std::vector<int32_t>& ids) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace hone
