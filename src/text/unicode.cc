#include "text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "text/unicode_reference.h"
#include "text/utf8.h"

namespace hone::text {

namespace {

constexpr char32_t kEnd = 0x110000;
constexpr char32_t kFirstMark = 0x300;  // below it every code point is in normal form C whatever its neighbours

constexpr char32_t kUnknownComposite = 0x11938;  // the one pair that the reference does not compose

// Beyond ASCII.
bool is_white_space(char32_t c) {
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);

int combining_class(utf8proc_int32_t c) {
  const int combining_class = utf8proc_get_property(c)->combining_class;
  return combining_class != 0 && is_unordered_mark(static_cast<char32_t>(c)) ? 0 : combining_class;
}

// Marks between two starters are put in the order of their classes. utf8proc would do it in quadratic time.
void order_marks(std::vector<utf8proc_int32_t>& points) {
  for (auto begin = points.begin(); begin != points.end();) {
    begin = std::find_if(begin, points.end(), [](auto c) { return combining_class(c) != 0; });
    const auto end = std::find_if(begin, points.end(), [](auto c) { return combining_class(c) == 0; });
    std::stable_sort(begin, end, [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    begin = end;
  }
}

// Normal form C of a stretch, without regard to what could be left as it is.
std::string compose(std::string_view utf8) {
  std::vector<utf8proc_int32_t> points;
  points.reserve(utf8.size());
  int boundary = 0;
  for (size_t i = 0; i < utf8.size();) {
    const CodePoint point = decode_code_point(utf8, i);
    i += point.size;
    constexpr size_t kLongest = 8;  // decomposition; the longest canonical one has 4 code points
    const size_t size = points.size();
    points.resize(size + kLongest);
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(point.value), points.data() + size,
                                               kLongest, kOptions, &boundary);
    HONE_CHECK(count >= 0 && static_cast<size_t>(count) <= kLongest, "decomposition of U+{:04X}: {}",
               static_cast<uint32_t>(point.value), count);
    points.resize(size + static_cast<size_t>(count));
  }
  order_marks(points);
  const auto count = utf8proc_normalize_utf32(points.data(), static_cast<utf8proc_ssize_t>(points.size()), kOptions);
  HONE_CHECK(count >= 0, "normal form C of {} code points: {}", points.size(), utf8proc_errmsg(count));
  std::string result;
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    append_code_point(result, static_cast<char32_t>(points[static_cast<size_t>(i)]));
  }
  return result;
}

// Code points that normal form C may change, or that may change with what stands before them: those with a combining
// class, those that are not their own normal form, and the second of each pair that composes.
std::vector<bool> find_unstable() {
  std::vector<bool> unstable(kEnd);
  for (char32_t c = 0x1161; c <= 0x11C2; ++c) unstable[c] = true;  // Hangul vowels and finals
  for (char32_t c = kFirstMark; c < kEnd; ++c) {
    if (c == 0xAC00) c = 0xE000;  // Hangul syllables are stable; surrogates do not occur
    if (combining_class(static_cast<utf8proc_int32_t>(c)) != 0) unstable[c] = true;
    if (c == kUnknownComposite) continue;
    utf8proc_int32_t parts[8];
    int boundary = 0;
    const auto count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, 8, UTF8PROC_DECOMPOSE, &boundary);
    if (count == 1 && static_cast<char32_t>(parts[0]) == c) continue;
    std::string own;
    append_code_point(own, c);
    if (compose(own) != own) {
      unstable[c] = true;
    } else if (count > 1) {
      unstable[static_cast<char32_t>(parts[count - 1])] = true;
    }
  }
  return unstable;
}

bool is_unstable(char32_t c) {
  static const std::vector<bool> unstable = find_unstable();
  return c >= kFirstMark && unstable[c];
}

// First byte at or after `begin` of an unstable code point, or the end.
size_t find_unstable_from(std::string_view utf8, size_t begin) {
  while (begin < utf8.size()) {
    if (static_cast<unsigned char>(utf8[begin]) < 0xCC) {  // U+0300 is CC 80
      ++begin;
      continue;
    }
    const CodePoint point = decode_code_point(utf8, begin);
    if (is_unstable(point.value)) break;
    begin += point.size;
  }
  return begin;
}

}  // namespace

CharClass classify(char32_t value) {
  if (value < 0x80) return classify_ascii(static_cast<unsigned char>(value));
  if (is_white_space(value)) return CharClass::space;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(value))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharClass::letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharClass::number;
    case UTF8PROC_CATEGORY_CN:
      return is_later_letter(value) ? CharClass::letter : is_later_number(value) ? CharClass::number : CharClass::other;
    default:
      return CharClass::other;
  }
}

bool is_word_character(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:  // the circled and squared letters are alphabetic symbols; two join controls
      return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
             (c >= 0x1F170 && c <= 0x1F189) || c == 0x200C || c == 0x200D;
  }
}

bool may_change_under_nfc(std::string_view utf8) { return find_unstable_from(utf8, 0) < utf8.size(); }

// A stretch begins with the stable code point before an unstable one and ends before the next stable one: nothing
// composes or changes places across its ends.
std::string normalize_nfc(std::string_view utf8) {
  std::string result;
  result.reserve(utf8.size());
  size_t copied = 0;
  for (size_t i = find_unstable_from(utf8, 0); i < utf8.size(); i = find_unstable_from(utf8, i)) {
    const size_t begin = i > copied ? code_point_before(utf8, i) : i;
    while (i < utf8.size()) {
      const CodePoint point = decode_code_point(utf8, i);
      if (!is_unstable(point.value)) break;
      i += point.size;
    }
    result.append(utf8.substr(copied, begin - copied));
    result.append(compose(utf8.substr(begin, i - begin)));
    copied = i;
  }
  result.append(utf8.substr(copied));
  return result;
}

}  // namespace hone::text
