// Where the reference tokenizer library's Unicode tables differ from utf8proc's, measured over every code point
// (tools/make_tokenizer_references.py code-points): its regular expressions know letters and numbers of Unicode 15.1
// and 16, its normal form C does not know marks that came after Unicode 10.
#pragma once

namespace hone::text {

// Letters and numbers that utf8proc 2.8 takes for unassigned.
bool is_later_letter(char32_t c);
bool is_later_number(char32_t c);
// Marks that stay where they are, as a starter would.
bool is_unordered_mark(char32_t c);

}  // namespace hone::text
