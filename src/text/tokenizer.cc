#include "text/tokenizer.h"

#include <algorithm>

#include "core/error.h"
#include "io/json.h"
#include "io/utf8.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/byte_alphabet.h"
#include "text/tokenizer_file.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace hone {

using text::AddedToken;
using text::AddedTokenMatcher;

struct Tokenizer::Parts {
  explicit Parts(const text::TokenizerSpec& spec);
  void encode_plain(std::string_view text, bool allow_special, std::vector<int32_t>& ids) const;

  bool nfc;
  text::PreTokenizer pre_tokenizer;
  text::Bpe bpe;
  AddedTokenMatcher raw_tokens, normalized_tokens;
  text::TokenTable added_by_content;
  std::string all_bytes;            // of all tokens, by id
  std::vector<size_t> bytes_begin;  // [vocab_size + 1]
  std::vector<uint8_t> special;     // by id
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
      throw Error(fmt::format("the tokenizer has no token for '{}' ({})", io::visible(bytes), describe(point.value)),
                  "use text made of the tokenizer's own characters, or another tokenizer");
    }
    i += point.size;
  }
  throw Bug("a piece has no tokens although each of its characters has");
}

// Each piece becomes ids.
class PieceEncoder : public text::PieceSink {
 public:
  PieceEncoder(const text::Bpe& bpe, std::vector<int32_t>& ids) : bpe_(bpe), ids_(ids) {}
  void take(std::string_view piece) override {
    if (!bpe_.encode(piece, ids_)) raise_no_token(piece, bpe_);
  }

 private:
  const text::Bpe& bpe_;
  std::vector<int32_t>& ids_;
};

}  // namespace

Tokenizer::Parts::Parts(const text::TokenizerSpec& spec)
    : nfc(spec.nfc),
      pre_tokenizer(spec.pre_tokenizer),
      bpe(spec.vocabulary, spec.merges, spec.rules),
      raw_tokens(select(spec, false)),
      normalized_tokens(select(spec, true)),
      added_by_content(spec.added.size()),
      prefix_ids(spec.prefix_ids) {
  std::vector<std::string> by_content;  // of added tokens: a content written in the byte alphabet stands for bytes too
  for (const AddedToken& token : spec.added) {
    by_content.push_back(text::from_byte_characters(token.content).value_or(token.content));
    added_by_content.insert(token.content, token.id);
  }
  std::vector<std::string_view> by_id;
  const auto put = [&](int32_t id, std::string_view bytes) {
    const auto i = static_cast<size_t>(id);
    if (i >= by_id.size()) by_id.resize(i + 1);
    by_id[i] = bytes;
  };
  for (const auto& [bytes, id] : spec.vocabulary) put(id, bytes);
  for (const auto& [bytes, id] : spec.unreachable) put(id, bytes);
  for (size_t t = 0; t < spec.added.size(); ++t) put(spec.added[t].id, by_content[t]);
  special.resize(by_id.size());
  for (const AddedToken& token : spec.added) special[static_cast<size_t>(token.id)] = token.special;
  bytes_begin.reserve(by_id.size() + 1);
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
  PieceEncoder encoder(bpe, ids);
  if (normalized_tokens.empty()) return pre_tokenizer.cut(stretch, encoder);
  for (const AddedTokenMatcher::Part& part : normalized_tokens.split(stretch, allow_special)) {
    if (part.id >= 0) {
      ids.push_back(part.id);
    } else {
      pre_tokenizer.cut(stretch.substr(part.begin, part.end - part.begin), encoder);
    }
  }
}

Tokenizer Tokenizer::load(const std::string& folder) { return Tokenizer(text::read_tokenizer_folder(folder)); }

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
  for (const AddedTokenMatcher::Part& part : parts_->raw_tokens.split(given, allow_special)) {
    if (part.id >= 0) {
      ids.push_back(part.id);
    } else {
      parts_->encode_plain(given.substr(part.begin, part.end - part.begin), allow_special, ids);
    }
  }
  return ids;
}

std::string Tokenizer::decode_bytes(std::span<const int32_t> ids, bool skip_special) const {
  std::string bytes;
  bytes.reserve(4 * ids.size());
  for (const int32_t id : ids) {
    if (!(skip_special && is_special(id))) bytes.append(token_bytes(id));
  }
  return bytes;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  std::string bytes = decode_bytes(ids, skip_special);
  return io::find_broken_utf8(bytes) == std::string::npos ? bytes : text::replace_invalid_utf8(bytes);
}

std::string_view Tokenizer::token_bytes(int32_t id) const {
  if (id < 0 || id >= vocab_size()) return {};
  const size_t begin = parts_->bytes_begin[static_cast<size_t>(id)];
  return std::string_view(parts_->all_bytes).substr(begin, parts_->bytes_begin[static_cast<size_t>(id) + 1] - begin);
}

bool Tokenizer::is_special(int32_t id) const {
  return id >= 0 && id < vocab_size() && parts_->special[static_cast<size_t>(id)] != 0;
}

int32_t Tokenizer::vocab_size() const { return static_cast<int32_t>(parts_->special.size()); }

std::optional<int32_t> Tokenizer::find(std::string_view content) const {
  if (const int32_t id = parts_->added_by_content.find(content); id >= 0) return id;
  for (int32_t id = 0; id < vocab_size() && !content.empty(); ++id) {
    if (token_bytes(id) == content) return id;
  }
  return std::nullopt;
}

const std::vector<int32_t>& Tokenizer::prefix_ids() const { return parts_->prefix_ids; }

void Tokenizer::add_prefix(std::vector<int32_t>& ids) const {
  const std::vector<int32_t>& prefix = parts_->prefix_ids;
  if (ids.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), ids.begin())) return;
  ids.insert(ids.begin(), prefix.begin(), prefix.end());
}

}  // namespace hone
