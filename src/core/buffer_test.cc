#include "core/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hone {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

// A model has hundreds of matrices of a few MiB: whole huge pages for each would add a tenth to a training's memory.
TEST(Buffer, TakesAtMostASixteenthMoreThanItHolds) {
  for (int64_t size = 1; size < 64 * kMiB; size += size / 7 + 1) {
    EXPECT_GE(allocated_bytes(size), size);
    EXPECT_LE(allocated_bytes(size) - size, std::max<int64_t>(size / 16, 4096)) << size;
  }
}

TEST(Buffer, IsZeroedAndAligned) {
  for (const int64_t size : {int64_t{1}, int64_t{4097}, kMiB - 1, kMiB, 2 * kMiB + 5, 31 * kMiB + 4097}) {
    const Buffer<char> buffer(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
    EXPECT_TRUE(std::all_of(buffer.begin(), buffer.end(), [](char c) { return c == 0; })) << size;
  }
}

}  // namespace
}  // namespace hone
