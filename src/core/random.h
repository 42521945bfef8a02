// Counter random numbers: a value is a function of its key and counter, so no state is carried and order is free.
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
#pragma once

#include <array>
#include <cstdint>

namespace hone {

// Streams keep uses of one seed apart; numbers are part of the file format, never renumber.
enum class Stream : uint32_t {
  init = 0,
  train = 1,
  validation = 2,
  shuffle = 3,
  data = 4,
  bench = 5,
  test = 6,
  policy_loss = 7
};

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// Where a random number stands: draw = running number of the prompt in this run, sample = index in its group,
// position = index of the token. The key is (seed, stream).
struct RandomKey {
  uint64_t seed = 0;
  Stream stream = Stream::train;
};
uint64_t random_bits(RandomKey key, uint64_t draw, uint32_t sample, uint32_t position);
// Uniform in [0, 1), in steps of 2^-24.
float random_uniform(RandomKey key, uint64_t draw, uint32_t sample, uint32_t position);
// Uniform integer in [0, bound), without modulo bias beyond 2^-32; bound > 0.
uint32_t random_below(RandomKey key, uint64_t draw, uint32_t sample, uint32_t position, uint32_t bound);
// Standard normal (Box-Muller in double with our own counter), used for initialisation.
float random_normal(RandomKey key, uint64_t draw, uint32_t sample, uint32_t position);

}  // namespace hone
