#include "text/text_stream.h"

#include "text/utf8.h"

namespace hone {

std::string TextStream::push(int32_t id) {
  if (skip_special_ && tokenizer_.is_special(id)) return {};
  held_.append(tokenizer_.token_bytes(id));
  const size_t size = text::complete_size(held_);
  std::string shown = text::replace_invalid_utf8(std::string_view(held_).substr(0, size));
  held_.erase(0, size);
  return shown;
}

std::string TextStream::finish() {
  std::string shown = text::replace_invalid_utf8(held_);
  held_.clear();
  return shown;
}

}  // namespace hone
