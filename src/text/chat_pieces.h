// What a chat template prints, in pieces that know where they come from: the scaffold of the template, in which control
// tokens are meant, and content of the conversation, in which they are text like any other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone::text {

struct ChatPiece {
  std::string text;
  bool scaffold = false;
  bool generated = false;  // what the model is to say: an assistant's turn with its end
  int32_t message = -1;    // index in the conversation; -1: before the first, or the generation prompt
};

std::string text_of(const std::vector<ChatPiece>& pieces);

// Collects pieces. With a message to be continued, everything after that message's content is dropped.
class ChatWriter {
 public:
  explicit ChatWriter(int32_t continued_message = -1) : continued_(continued_message) {}

  void message(int32_t index) { message_ = index; }
  void generated(bool on) { generated_ = on; }
  void scaffold(std::string_view text) { add(text, true); }
  void content(std::string_view text) { add(text, false); }
  // The content of the message has been written: what comes next is dropped if this message is to be continued.
  void content_done() { stopped_ = stopped_ || (continued_ >= 0 && message_ == continued_); }
  std::vector<ChatPiece> take() { return std::move(pieces_); }

 private:
  void add(std::string_view text, bool scaffold);

  std::vector<ChatPiece> pieces_;
  int32_t message_ = -1, continued_ = -1;
  bool generated_ = false, stopped_ = false;
};

}  // namespace hone::text
