// Cuts text into the pieces within which byte pairs are merged: a hand-written scanner for one family of patterns,
//   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,d}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
// with d = 1 (Qwen) or d = 3 (Llama 3).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace hone::text {

constexpr std::string_view kQwenRegex =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
    "\\s+(?!\\S)|\\s+";
constexpr std::string_view kLlama3Regex =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
    "\\s+(?!\\S)|\\s+";

struct PrePattern {
  int max_digits = 1;  // numbers in one piece
};

// The pattern of that regular expression, or nothing when it is not one of ours.
std::optional<PrePattern> find_pre_pattern(std::string_view regex);

// End of the piece that begins at `begin` < text.size(); `text` is valid UTF-8. Linear in the length of the text over
// all its pieces.
size_t piece_end(PrePattern pattern, std::string_view text, size_t begin);

}  // namespace hone::text
