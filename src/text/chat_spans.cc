#include "text/chat_spans.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace hone::text {

namespace {

struct Span {
  size_t begin, end;
  int32_t message;
};

bool is_answer(const io::Json& message) {
  const io::Json* role = message.find("role");
  return role != nullptr && role->is_string() && role->as_string() == "assistant";
}

io::Json first_messages(const io::Json& conversation, size_t count) {
  const auto& all = conversation.as_array();
  return io::Json(io::Json::Array(all.begin(), all.begin() + static_cast<int64_t>(count)));
}

// End of the last piece of scaffold in [begin, end) of the text, or `end` when there is none.
size_t last_scaffold_end(const std::vector<ChatPiece>& pieces, size_t begin, size_t end) {
  size_t offset = 0, found = end;
  for (const ChatPiece& piece : pieces) {
    const size_t next = offset + piece.text.size();
    if (piece.scaffold && offset >= begin && next <= end) found = next;
    offset = next;
  }
  return found;
}

void cut_pieces(std::vector<ChatPiece>& pieces, const std::vector<Span>& spans) {
  std::vector<ChatPiece> result;
  size_t offset = 0;
  const auto add = [&](const ChatPiece& piece, size_t begin, size_t end, const Span* span) {
    if (begin >= end) return;
    result.push_back(piece);
    result.back().text = piece.text.substr(begin - offset, end - begin);
    if (span != nullptr) result.back().generated = true, result.back().message = span->message;
  };
  for (const ChatPiece& piece : pieces) {
    const size_t end = offset + piece.text.size();
    size_t begin = offset;
    for (const Span& span : spans) {
      if (span.end <= begin || span.begin >= end) continue;
      add(piece, begin, span.begin, nullptr);
      begin = std::max(begin, span.begin);
      add(piece, begin, std::min(span.end, end), &span);
      begin = std::min(span.end, end);
    }
    add(piece, begin, end, nullptr);
    offset = end;
  }
  pieces = std::move(result);
}

}  // namespace

void find_assistant_turns(std::vector<ChatPiece>& pieces, const io::Json& conversation, bool last_turn_only,
                          const RenderPart& render) {
  const std::string whole = text_of(pieces);
  std::vector<Span> spans;
  const auto& messages = conversation.as_array();
  if (is_answer(messages.front()) &&
      !(last_turn_only && std::any_of(messages.begin() + 1, messages.end(), is_answer))) {
    throw Error("messages[0]: an answer that comes first: the chat template does not tell where it begins",
                "use a template with {% generation %} blocks, or begin with the user");
  }
  for (size_t i = 1; i < messages.size(); ++i) {
    if (!is_answer(messages[i])) continue;
    const std::string before = text_of(render(first_messages(conversation, i), true));
    const std::string through = text_of(render(first_messages(conversation, i + 1), false));
    if (!whole.starts_with(before) || !whole.starts_with(through) || before.size() > through.size()) {
      throw Error(
          fmt::format("messages[{}]: the chat template changes earlier turns when later ones follow, so that what the "
                      "model said cannot be found in the whole",
                      i),
          "use a template with {% generation %} blocks, or rows with one answer each");
    }
    spans.push_back({before.size(), last_scaffold_end(pieces, before.size(), through.size()), static_cast<int32_t>(i)});
  }
  cut_pieces(pieces, spans);
}

}  // namespace hone::text
