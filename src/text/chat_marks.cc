#include "text/chat_marks.h"

#include <charconv>

namespace hone::text {

namespace {

// U+FDD0 to U+FDD3 in UTF-8 are EF B7 90 to EF B7 93.
constexpr std::string_view kLead = "\xEF\xB7";
constexpr char kOpen = '\x90', kClose = '\x91', kGenerationBegin = '\x92', kGenerationEnd = '\x93';
constexpr size_t kMarkBytes = 3;

// Where the next mark character stands, or npos.
size_t find_mark(std::string_view text, size_t begin) {
  for (size_t at = text.find(kLead, begin); at != std::string_view::npos; at = text.find(kLead, at + 1)) {
    if (at + 2 < text.size() && text[at + 2] >= kOpen && text[at + 2] <= kGenerationEnd) return at;
  }
  return std::string_view::npos;
}

}  // namespace

bool holds_mark(std::string_view text) { return find_mark(text, 0) != std::string_view::npos; }

std::string mark_specials(std::string_view text, const SpecialTokens& specials) {
  std::string marked;
  for (const AddedTokenMatcher::Part& part : specials.split(text)) {
    if (part.id < 0) {
      marked += text.substr(part.begin, part.end - part.begin);
      continue;
    }
    marked += kLead;
    marked += kOpen;
    marked += std::to_string(part.id);
    marked += kLead;
    marked += kClose;
  }
  return marked;
}

std::optional<std::vector<ChatPiece>> pieces_of_marked(std::string_view marked, const SpecialTokens& specials) {
  ChatWriter out;
  int depth = 0;
  for (size_t begin = 0; begin < marked.size();) {
    const size_t at = find_mark(marked, begin);
    out.content(marked.substr(begin, at - begin));
    if (at == std::string_view::npos) break;
    begin = at + kMarkBytes;
    const char kind = marked[at + 2];
    if (kind == kGenerationBegin || kind == kGenerationEnd) {
      depth += kind == kGenerationBegin ? 1 : -1;
      if (depth < 0) return {};
      out.generated(depth > 0);
      continue;
    }
    const size_t close = find_mark(marked, begin);
    if (kind != kOpen || close == std::string_view::npos || marked[close + 2] != kClose) return {};
    int32_t id = -1;
    const auto [end, error] = std::from_chars(marked.data() + begin, marked.data() + close, id);
    if (error != std::errc() || end != marked.data() + close) return {};
    if (specials.content(id).empty()) return {};
    out.scaffold(specials.content(id));
    begin = close + kMarkBytes;
  }
  if (depth != 0) return {};
  return out.take();
}

}  // namespace hone::text
