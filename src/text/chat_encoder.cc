#include "text/chat_encoder.h"

#include <algorithm>

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
    for (const AddedTokenMatcher::Part& part : specials_.split(piece.text)) {
      if (part.id < 0) {
        extend(std::string_view(piece.text).substr(part.begin, part.end - part.begin), piece.message);
      } else {
        flush();
        push(part.id, piece.message);
      }
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

std::vector<AddedToken> contents_of_special_tokens(const Tokenizer& tokenizer) {
  std::vector<AddedToken> tokens;
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    const std::string_view content = tokenizer.token_bytes(id);
    if (tokenizer.is_special(id) && !content.empty()) tokens.push_back({.id = id, .content = std::string(content)});
  }
  return tokens;
}

}  // namespace

SpecialTokens::SpecialTokens(const Tokenizer& tokenizer)
    : tokenizer_(tokenizer), matcher_(contents_of_special_tokens(tokenizer)) {}

std::string_view SpecialTokens::content(int32_t id) const {
  return tokenizer_.is_special(id) ? tokenizer_.token_bytes(id) : std::string_view();
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
