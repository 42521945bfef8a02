#include "text/sha256.h"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace hone::text {

namespace {

// The first 32 bits of the fractional part of a root of the first primes: square roots are the initial state, cube
// roots the constants of the rounds. long double holds 64 bits, of which at most 3 + 32 are looked at.
template <size_t N>
std::array<uint32_t, N> root_bits(bool cube) {
  std::array<uint32_t, N> bits{};
  size_t found = 0;
  for (int candidate = 2; found < N; ++candidate) {
    bool prime = true;
    for (int divisor = 2; divisor * divisor <= candidate; ++divisor) prime = prime && candidate % divisor != 0;
    if (!prime) continue;
    const long double root =
        cube ? std::cbrt(static_cast<long double>(candidate)) : std::sqrt(static_cast<long double>(candidate));
    bits[found++] = static_cast<uint32_t>(std::ldexp(root - std::floor(root), 32));
  }
  return bits;
}

void add_block(std::array<uint32_t, 8>& state, const unsigned char* block) {
  static const std::array<uint32_t, 64> constants = root_bits<64>(true);
  std::array<uint32_t, 64> w;
  for (size_t i = 0; i < 16; ++i) {
    w[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 | uint32_t{block[4 * i + 2]} << 8 |
           uint32_t{block[4 * i + 3]};
  }
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + constants[i] + w[i];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<uint32_t, 8> mixed{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state[i] += mixed[i];
}

}  // namespace

std::string sha256(std::string_view bytes) {
  std::string padded(bytes);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift & 0xFF);
  std::array<uint32_t, 8> state = root_bits<8>(false);
  for (size_t i = 0; i < padded.size(); i += 64) {
    add_block(state, reinterpret_cast<const unsigned char*>(padded.data()) + i);
  }
  std::string digits;
  for (const uint32_t word : state) digits += fmt::format("{:08x}", word);
  return digits;
}

}  // namespace hone::text
