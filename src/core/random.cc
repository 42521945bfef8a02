#include "core/random.h"

#include <cmath>
#include <numbers>

#include "core/fixed_math.h"

namespace hone {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(p0)};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c;
}

namespace {
// The 64-bit seed is mixed with the stream into the 64-bit key (a bijection of the seed for each stream).
std::array<uint32_t, 4> block(RandomKey key, uint64_t draw, uint32_t sample, uint32_t position) {
  const uint64_t k = key.seed + 0x9E3779B97F4A7C15ull * (static_cast<uint64_t>(key.stream) + 1);
  return philox4x32({static_cast<uint32_t>(draw), static_cast<uint32_t>(draw >> 32), sample, position},
                    {static_cast<uint32_t>(k), static_cast<uint32_t>(k >> 32)});
}
}  // namespace

uint64_t random_bits(RandomKey key, uint64_t draw, uint32_t sample, uint32_t position) {
  const auto b = block(key, draw, sample, position);
  return (uint64_t{b[1]} << 32) | b[0];
}

float random_uniform(RandomKey key, uint64_t draw, uint32_t sample, uint32_t position) {
  return static_cast<float>(block(key, draw, sample, position)[0] >> 8) * 0x1p-24f;
}

uint32_t random_below(RandomKey key, uint64_t draw, uint32_t sample, uint32_t position, uint32_t bound) {
  const uint64_t bits = random_bits(key, draw, sample, position) >> 32;
  return static_cast<uint32_t>((bits * bound) >> 32);
}

float random_normal(RandomKey key, uint64_t draw, uint32_t sample, uint32_t position) {
  const auto b = block(key, draw, sample, position);
  const double u1 = (static_cast<double>(b[0]) + 0.5) * 0x1p-32;
  const double u2 = static_cast<double>(b[1]) * 0x1p-32;
  return static_cast<float>(std::sqrt(-2.0 * fixed::log(u1)) * fixed::sincos(2.0 * std::numbers::pi * u2).cos);
}

}  // namespace hone
