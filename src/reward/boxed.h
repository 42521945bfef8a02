// The last \boxed{...} of an answer, and its relatives: \boxed 5, \fbox{...}.
#pragma once

#include <optional>
#include <string_view>

namespace hone {

struct Box {
  std::string_view content;
  bool closed = true;  // false: the text ends before the box does; the content is empty
};

// Nothing when there is no box. A \fbox counts only where there is no \boxed, as in verl. Braces that are escaped are
// text. "\boxed 5" ends at the next dollar sign or line end.
std::optional<Box> find_last_box(std::string_view text);

}  // namespace hone
