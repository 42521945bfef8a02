#include "text/chat_encoder.h"

#include <algorithm>

#include "core/error.h"

namespace hone::text {

namespace {

class Encoder {
 public:
  Encoder(const Tokenizer& tokenizer, const SpecialTokens& specials) : tokenizer_(tokenizer), specials_(specials) {}

  void add(const ChatPiece& piece) {
    if (piece.generated != generated_) flush();
    generated_ = piece.generated;
    result_.text += piece.text;
    if (!piece.scaffold) {
      extend(piece.text, piece.message);
      return;
    }
    for (size_t begin = 0; begin < piece.text.size();) {
      const auto match = specials_.find(piece.text, begin);
      extend(std::string_view(piece.text).substr(begin, match.begin - begin), piece.message);
      if (match.id >= 0) {
        flush();
        push(match.id, piece.message);
      }
      begin = match.end;
    }
  }
  ChatIds take() {
    flush();
    return std::move(result_);
  }

 private:
  struct Part {
    size_t end;
    int32_t message;
  };

  void extend(std::string_view text, int32_t message) {
    if (text.empty()) return;
    stretch_ += text;
    parts_.push_back({stretch_.size(), message});
  }
  void push(int32_t id, int32_t message) {
    result_.ids.push_back(id);
    result_.messages.push_back(message);
    result_.assistant.push_back(generated_);
  }
  // An id belongs to the message in which it begins. (Where normalisation changes lengths, a message's last ids may be
  // shown with the next one; losses do not look at it.)
  void flush() {
    size_t part = 0, offset = 0;
    for (const int32_t id : tokenizer_.encode(stretch_, false)) {
      while (part + 1 < parts_.size() && offset >= parts_[part].end) ++part;
      push(id, parts_[part].message);
      offset += tokenizer_.token_bytes(id).size();
    }
    stretch_.clear();
    parts_.clear();
  }

  const Tokenizer& tokenizer_;
  const SpecialTokens& specials_;
  ChatIds result_;
  std::string stretch_;
  std::vector<Part> parts_;
  bool generated_ = false;
};

}  // namespace

SpecialTokens::SpecialTokens(const Tokenizer& tokenizer) {
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    const std::string_view content = tokenizer.token_bytes(id);
    if (!tokenizer.is_special(id) || content.empty()) continue;
    by_first_byte_[static_cast<unsigned char>(content.front())].push_back({id, std::string(content)});
    by_id_.emplace(id, content);
  }
  for (std::vector<Token>& tokens : by_first_byte_) {
    std::stable_sort(tokens.begin(), tokens.end(),
                     [](const Token& a, const Token& b) { return a.content.size() > b.content.size(); });
  }
}

SpecialTokens::Match SpecialTokens::find(std::string_view text, size_t begin) const {
  for (size_t i = begin; i < text.size(); ++i) {
    for (const Token& token : by_first_byte_[static_cast<unsigned char>(text[i])]) {
      if (text.substr(i).starts_with(token.content)) return {i, i + token.content.size(), token.id};
    }
  }
  return {text.size(), text.size(), -1};
}

std::string_view SpecialTokens::content(int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? std::string_view{} : found->second;
}

ChatIds encode_chat(const std::vector<ChatPiece>& pieces, const Tokenizer& tokenizer, const SpecialTokens& specials) {
  Encoder encoder(tokenizer, specials);
  for (const ChatPiece& piece : pieces) encoder.add(piece);
  return encoder.take();
}

}  // namespace hone::text

namespace hone {

void keep_last_turn(ChatIds& chat) {
  size_t begin = chat.ids.size();
  while (begin > 0 && chat.assistant[begin - 1] == 0) --begin;
  while (begin > 0 && chat.assistant[begin - 1] != 0) --begin;
  std::fill_n(chat.assistant.begin(), begin, uint8_t{0});
}

}  // namespace hone
