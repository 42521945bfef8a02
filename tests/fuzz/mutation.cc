#include "fuzz/mutation.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace hone::fuzz {
namespace {

constexpr size_t kUsual = 4096, kLargest = 65536;

constexpr std::array<const char*, 24> kNumbers = {"0",
                                                  "-1",
                                                  "1",
                                                  "127",
                                                  "128",
                                                  "255",
                                                  "256",
                                                  "65535",
                                                  "65536",
                                                  "2147483647",
                                                  "2147483648",
                                                  "4294967295",
                                                  "1e308",
                                                  "1e309",
                                                  "-0",
                                                  "0.1",
                                                  "1e-400",
                                                  "010",
                                                  "9223372036854775807",
                                                  "9223372036854775808",
                                                  "-9223372036854775808",
                                                  "-9223372036854775809",
                                                  "18446744073709551615",
                                                  "18446744073709551616"};

constexpr std::array<const char*, 20> kBytes = {"\xef\xbb\xbf",
                                                "\xff",
                                                "\xc0\x80",
                                                "\xed\xa0\x80",
                                                "\xf4\x90\x80\x80",
                                                "\xe2\x80\xa8",
                                                "\xc2\x85",
                                                "\x1b[2J",
                                                "\r",
                                                "\r\n",
                                                "\n",
                                                "\t",
                                                "\\u0000",
                                                "\\ud800",
                                                "\\udc00",
                                                "\x7f",
                                                "\xe2\x80\xae",
                                                "\xcc\x88",
                                                "\xf0\x9f\x98\x80",
                                                "\""};

std::string piece_of(const std::string& text, Dice& dice, size_t longest) {
  if (text.empty()) return "";
  const size_t begin = dice.below(text.size());
  return text.substr(begin, 1 + dice.below(std::min(longest, text.size() - begin)));
}

void put_number(std::string& input, Dice& dice) {
  std::vector<size_t> starts;
  for (size_t i = 0; i < input.size() && starts.size() < 64; ++i) {
    const bool digit = input[i] >= '0' && input[i] <= '9';
    const bool before = i > 0 && input[i - 1] >= '0' && input[i - 1] <= '9';
    if (digit && !before) starts.push_back(i);
  }
  const std::string number = kNumbers[dice.below(kNumbers.size())];
  if (starts.empty()) {
    input.insert(dice.below(input.size() + 1), number);
    return;
  }
  const size_t begin = starts[dice.below(starts.size())];
  size_t end = begin;
  while (end < input.size() && input[end] >= '0' && input[end] <= '9') ++end;
  input.replace(begin, end - begin, number);
}

// Eight bytes, little-endian, at the front or anywhere: sizes around that of the input, and extremes.
void put_length(std::string& input, Dice& dice) {
  if (input.size() < 8) return;
  const uint64_t size = input.size();
  const uint64_t values[] = {0,           1,           size,         size - 8,          size - 7,
                             size - 9,    size / 2,    ~uint64_t{0}, uint64_t{1} << 63, uint64_t{1} << 32,
                             100'000'000, 100'000'001, dice.next()};
  const uint64_t value = values[dice.below(std::size(values))];
  const size_t at = dice.one_in(2) ? 0 : dice.below(input.size() - 7);
  for (size_t i = 0; i < 8; ++i) input[at + i] = static_cast<char>(value >> (8 * i));
}

void step(std::string& input, const std::vector<std::string>& corpus, const Material& material, Dice& dice) {
  const size_t at = dice.below(input.size() + 1);
  const size_t left = input.size() - std::min(at, input.size());
  switch (dice.below(14)) {
    case 0:
      if (left > 0) input[at] = static_cast<char>(input[at] ^ (1 << dice.below(8)));
      break;
    case 1:
      if (left > 0) input[at] = static_cast<char>(dice.below(256));
      break;
    case 2:
      input.insert(at, 1, static_cast<char>(dice.one_in(2) ? dice.below(256) : 32 + dice.below(95)));
      break;
    case 3:
      input.erase(at, 1 + dice.below(std::max<size_t>(left, 1)) / (1 + dice.below(8)));
      break;
    case 4:
      input.resize(at);
      break;
    case 5:
      input.insert(at, piece_of(input, dice, 64));
      break;
    case 6:
      input.insert(at, piece_of(corpus[dice.below(corpus.size())], dice, 256));
      break;
    case 7:  // the end of another one
      if (const std::string& other = corpus[dice.below(corpus.size())]; !other.empty()) {
        input = input.substr(0, at) + other.substr(dice.below(other.size()));
      }
      break;
    case 8:
    case 9:
      if (!material.dictionary.empty()) {
        const std::string& word = material.dictionary[dice.below(material.dictionary.size())];
        if (dice.one_in(2)) {
          input.insert(at, word);
        } else {
          input.replace(at, std::min(left, word.size()), word);
        }
      }
      break;
    case 10:
      put_number(input, dice);
      break;
    case 11:
      put_length(input, dice);
      break;
    case 12:
      input.insert(at, kBytes[dice.below(kBytes.size())]);
      break;
    default: {
      std::string piece = piece_of(input, dice, 16);
      for (size_t n = 1 + dice.below(32); n > 0 && input.size() < kUsual; --n) input.insert(at, piece);
    }
  }
}

// One piece many times over.
void grow(std::string& input, Dice& dice) {
  const std::string piece = piece_of(input, dice, 40);
  if (piece.empty()) return;
  const size_t at = dice.below(input.size() + 1), target = kUsual + dice.below(kLargest - kUsual);
  std::string many;
  while (many.size() < target) many += piece;
  input.insert(at, many);
}

// Levels around a stretch of the input, or around nothing, each of them closed again.
void nest(std::string& input, const Material& material, Dice& dice) {
  const auto& [open, close] = material.nests[dice.below(material.nests.size())];
  const size_t begin = dice.below(input.size() + 1);
  const size_t end = begin + (dice.one_in(2) ? 0 : dice.below(input.size() + 1 - begin));
  std::string opened, closed;
  for (size_t levels = 1 + dice.below(dice.one_in(2) ? 256 : kLargest / 2); levels > 0; --levels) {
    opened += open;
    closed += close;
  }
  input.insert(end, closed);
  input.insert(begin, opened);
}

}  // namespace

void mutate(std::string& input, const std::vector<std::string>& corpus, const Material& material, Dice& dice) {
  for (size_t n = 1 + dice.below(dice.one_in(4) ? 12 : 4); n > 0; --n) step(input, corpus, material, dice);
  if (input.size() > material.usual_bytes) input.resize(material.usual_bytes);
  if (dice.one_in(4096)) grow(input, dice);
  if (!material.nests.empty() && dice.one_in(1024)) nest(input, material, dice);
  if (material.repair && dice.one_in(2)) material.repair(input);
}

}  // namespace hone::fuzz
