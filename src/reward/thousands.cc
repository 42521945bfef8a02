#include "reward/thousands.h"

#include <algorithm>

namespace hone {

std::string without_thousands(std::string_view number) {
  const size_t begin = number.starts_with('-') ? 1 : 0;
  const size_t whole_end = std::min(number.find('.'), number.size());
  const std::string_view whole = number.substr(begin, whole_end - begin);
  const size_t first = whole.find(',');
  if (first == std::string_view::npos || first == 0 || first > 3 || whole.front() == '0') return std::string(number);
  std::string plain(number.substr(0, begin + first));
  for (size_t at = first; at < whole.size(); at += 4) {
    if (whole[at] != ',' || whole.size() - at < 4) return std::string(number);
    plain += whole.substr(at + 1, 3);
  }
  plain += number.substr(whole_end);
  const std::string_view digits = std::string_view(plain).substr(begin);
  if (digits.find_first_not_of("0123456789.") != std::string_view::npos) return std::string(number);
  return plain;
}

}  // namespace hone
