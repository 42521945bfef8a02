// Hand-written scanners for the regular expressions with which the supported tokenizers cut text. A file that names
// another expression is refused, so this list is all that has to be right.
#pragma once

#include <cstddef>
#include <cstdint>
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
constexpr std::string_view kGpt2Regex =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

// Which expression, and the most numbers it takes at once (0: any).
struct PrePattern {
  enum class Kind : uint8_t { words, gpt2, numbers };  // words: Qwen and Llama 3; numbers: \p{N}{1,max}
  Kind kind = Kind::words;
  uint32_t max_numbers = 1;
  bool operator==(const PrePattern&) const = default;
};

// The pattern of that regular expression, or nothing when it is not one of ours.
std::optional<PrePattern> find_pre_pattern(std::string_view regex);

// The first place at or after `begin` <= text.size() where a match may begin, or the end of the text.
size_t next_match(PrePattern pattern, std::string_view text, size_t begin);

// End of the match that begins at `begin` < text.size(), as next_match() gives it; `text` is valid UTF-8.
// Patterns of words and GPT-2 match everywhere, so their pieces follow one another. Linear in the length of the text
// over all its pieces.
size_t match_end(PrePattern pattern, std::string_view text, size_t begin);

}  // namespace hone::text
