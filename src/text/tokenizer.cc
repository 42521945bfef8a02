#include "text/tokenizer.h"

#include <algorithm>

#include "core/error.h"
#include "io/json.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/tokenizer_file.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace hone {

using text::AddedToken;
using text::AddedTokenMatcher;

struct Tokenizer::Parts {
  explicit Parts(const text::TokenizerSpec& spec);
  void encode_plain(std::string_view text, bool allow_special, std::vector<int32_t>& ids) const;
  void encode_pieces(std::string_view text, std::vector<int32_t>& ids) const;

  text::PrePattern pattern;
  bool nfc;
  text::Bpe bpe;
  AddedTokenMatcher raw_tokens, normalized_tokens;
  text::TokenTable added_by_content, vocabulary_by_bytes;
  std::string all_bytes;            // of all tokens, by id
  std::vector<size_t> bytes_begin;  // [vocab_size + 1]
  std::vector<bool> special;
  std::vector<int32_t> prefix_ids;
};

namespace {

std::vector<AddedToken> select(const text::TokenizerSpec& spec, bool normalized) {
  std::vector<AddedToken> tokens;
  for (const AddedToken& token : spec.added) {
    if (token.normalized != normalized) continue;
    tokens.push_back(token);
    if (normalized && spec.nfc) tokens.back().content = text::normalize_nfc(token.content);
  }
  return tokens;
}

std::string describe(char32_t value) { return fmt::format("U+{:04X}", static_cast<uint32_t>(value)); }

[[noreturn]] void raise_no_token(std::string_view piece, const text::Bpe& bpe) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < piece.size();) {
    const text::CodePoint point = text::decode_code_point(piece, i);
    const std::string_view bytes = piece.substr(i, point.size);
    if (!bpe.encode(bytes, ids)) {
      throw Error(fmt::format("the tokenizer has no token for '{}' ({})", bytes, describe(point.value)),
                  "use text made of the tokenizer's own characters, or another tokenizer");
    }
    i += point.size;
  }
  throw Bug("a piece has no tokens although each of its characters has");
}

}  // namespace

Tokenizer::Parts::Parts(const text::TokenizerSpec& spec)
    : pattern(spec.pattern),
      nfc(spec.nfc),
      bpe(spec.vocabulary, spec.merges, spec.ignore_merges),
      raw_tokens(select(spec, false)),
      normalized_tokens(select(spec, true)),
      added_by_content(spec.added.size()),
      vocabulary_by_bytes(spec.vocabulary.size()),
      prefix_ids(spec.prefix_ids) {
  int32_t max_id = -1;
  for (const auto& [bytes, id] : spec.vocabulary) max_id = std::max(max_id, id);
  for (const AddedToken& token : spec.added) max_id = std::max(max_id, token.id);
  std::vector<std::string_view> by_id(static_cast<size_t>(max_id + 1));
  special.resize(by_id.size());
  for (const auto& [bytes, id] : spec.vocabulary) {
    by_id[static_cast<size_t>(id)] = bytes;
    vocabulary_by_bytes.insert(bytes, id);
  }
  for (const AddedToken& token : spec.added) {
    by_id[static_cast<size_t>(token.id)] = token.content;
    special[static_cast<size_t>(token.id)] = token.special;
    added_by_content.insert(token.content, token.id);
  }
  bytes_begin.push_back(0);
  for (const std::string_view bytes : by_id) {
    all_bytes.append(bytes);
    bytes_begin.push_back(all_bytes.size());
  }
}

// A stretch without tokens of `raw_tokens`.
void Tokenizer::Parts::encode_plain(std::string_view given, bool allow_special, std::vector<int32_t>& ids) const {
  std::string normalized;
  std::string_view stretch = given;
  if (nfc && text::may_change_under_nfc(given)) {
    normalized = text::normalize_nfc(given);
    stretch = normalized;
  }
  for (size_t begin = 0; begin < stretch.size();) {
    const auto match = normalized_tokens.find(stretch, begin, allow_special);
    encode_pieces(stretch.substr(begin, match.begin - begin), ids);
    if (match.id >= 0) ids.push_back(match.id);
    begin = match.end;
  }
}

void Tokenizer::Parts::encode_pieces(std::string_view stretch, std::vector<int32_t>& ids) const {
  for (size_t begin = 0; begin < stretch.size();) {
    const size_t end = text::piece_end(pattern, stretch, begin);
    const std::string_view piece = stretch.substr(begin, end - begin);
    if (!bpe.encode(piece, ids)) raise_no_token(piece, bpe);
    begin = end;
  }
}

Tokenizer Tokenizer::load(const std::string& folder) {
  return Tokenizer(text::read_tokenizer_file(folder + "/tokenizer.json"));
}

Tokenizer::Tokenizer(const text::TokenizerSpec& spec) : parts_(std::make_unique<const Parts>(spec)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::vector<int32_t> Tokenizer::encode(std::string_view given, bool allow_special) const {
  if (const size_t at = io::find_broken_utf8(given); at != std::string_view::npos) {
    throw Error(fmt::format("text is not valid UTF-8 at byte {} (0x{:02X})", at, static_cast<unsigned char>(given[at])),
                "write the text as UTF-8");
  }
  std::vector<int32_t> ids;
  for (size_t begin = 0; begin < given.size();) {
    const auto match = parts_->raw_tokens.find(given, begin, allow_special);
    parts_->encode_plain(given.substr(begin, match.begin - begin), allow_special, ids);
    if (match.id >= 0) ids.push_back(match.id);
    begin = match.end;
  }
  return ids;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  std::string bytes;
  for (const int32_t id : ids) {
    if (!(skip_special && is_special(id))) bytes.append(token_bytes(id));
  }
  return text::replace_invalid_utf8(bytes);
}

std::string_view Tokenizer::token_bytes(int32_t id) const {
  if (id < 0 || id >= vocab_size()) return {};
  const size_t begin = parts_->bytes_begin[static_cast<size_t>(id)];
  return std::string_view(parts_->all_bytes).substr(begin, parts_->bytes_begin[static_cast<size_t>(id) + 1] - begin);
}

bool Tokenizer::is_special(int32_t id) const {
  return id >= 0 && id < vocab_size() && parts_->special[static_cast<size_t>(id)];
}

int32_t Tokenizer::vocab_size() const { return static_cast<int32_t>(parts_->special.size()); }

std::optional<int32_t> Tokenizer::find(std::string_view content) const {
  int32_t id = parts_->added_by_content.find(content);
  if (id < 0) id = parts_->vocabulary_by_bytes.find(content);
  return id < 0 ? std::nullopt : std::optional(id);
}

const std::vector<int32_t>& Tokenizer::prefix_ids() const { return parts_->prefix_ids; }

}  // namespace hone
