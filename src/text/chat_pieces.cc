#include "text/chat_pieces.h"

namespace hone::text {

std::string text_of(const std::vector<ChatPiece>& pieces) {
  std::string text;
  for (const ChatPiece& piece : pieces) text += piece.text;
  return text;
}

void ChatWriter::add(std::string_view text, bool scaffold) {
  if (text.empty() || stopped_) return;
  if (!pieces_.empty()) {
    ChatPiece& last = pieces_.back();
    if (last.scaffold == scaffold && last.generated == generated_ && last.message == message_) {
      last.text += text;
      return;
    }
  }
  pieces_.push_back({std::string(text), scaffold, generated_, message_});
}

}  // namespace hone::text
