#include "prompts/length_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/random.h"

namespace hone {

namespace {

// The `sample` of a random number keeps this use of an epoch's numbers apart from the shuffling of rows.
constexpr uint32_t kBlocks = 2;

std::vector<size_t> order_of_blocks(size_t num_blocks, bool shuffle, uint64_t seed, uint64_t epoch) {
  std::vector<size_t> blocks(num_blocks);
  std::iota(blocks.begin(), blocks.end(), size_t{0});
  if (!shuffle) return blocks;
  for (auto i = static_cast<uint32_t>(num_blocks); i > 1; --i) {
    std::swap(blocks[i - 1], blocks[random_below({seed, Stream::shuffle}, epoch, kBlocks, i, i)]);
  }
  return blocks;
}

}  // namespace

std::vector<uint32_t> length_aware_order(std::span<const uint32_t> order, const LengthEstimates& lengths,
                                         int64_t batch_size, const LengthOrderOptions& options, uint64_t seed,
                                         uint64_t epoch) {
  HONE_CHECK(batch_size > 0 && options.bucket_size > 0, "batch of {}, bucket of {}", batch_size, options.bucket_size);
  const auto batch = static_cast<size_t>(batch_size);
  const size_t num_blocks = order.size() / batch;
  std::vector<uint32_t> sorted(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(num_blocks * batch));
  const auto key = [&](uint32_t row) {
    const double expected = lengths.expected(row);
    return options.random_in_bucket ? std::floor(expected / static_cast<double>(options.bucket_size)) : expected;
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  std::vector<uint32_t> result;
  result.reserve(order.size());
  for (const size_t block : order_of_blocks(num_blocks, options.shuffle_blocks, seed, epoch)) {
    const auto begin = sorted.begin() + static_cast<std::ptrdiff_t>(block * batch);
    result.insert(result.end(), begin, begin + batch_size);
  }
  result.insert(result.end(), order.begin() + static_cast<std::ptrdiff_t>(sorted.size()), order.end());
  return result;
}

}  // namespace hone
