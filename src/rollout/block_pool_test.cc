#include "rollout/block_pool.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(BlockPool, GivesBlocksInOneOrderAndTheLastFreedFirst) {
  BlockPool pool(3, 32);
  EXPECT_EQ(pool.allocate(), 0);
  EXPECT_EQ(pool.allocate(), 1);
  EXPECT_EQ(pool.allocate(), 2);
  EXPECT_EQ(pool.num_free(), 0);
  pool.release(2);
  pool.release(0);
  EXPECT_EQ(pool.allocate(), 0);
  EXPECT_EQ(pool.allocate(), 2);
}

TEST(BlockPool, ASharedBlockIsFreeOnlyWithoutOwners) {
  BlockPool pool(1, 32);
  const int32_t block = pool.allocate();
  pool.share(block);
  pool.release(block);
  EXPECT_EQ(pool.num_owners(block), 1);
  EXPECT_EQ(pool.num_free(), 0);
  pool.release(block);
  EXPECT_EQ(pool.num_free(), 1);
}

TEST(BlockPool, AKeptBlockIsGivenOutLastTheLongestIdleFirst) {
  BlockPool pool(4, 32);
  for (int i = 0; i < 3; ++i) pool.allocate();
  for (int32_t block : {0, 1, 2}) pool.keep(block);
  for (int32_t block : {1, 0, 2}) pool.release(block);
  EXPECT_EQ(pool.num_free(), 4);
  EXPECT_EQ(pool.num_idle(), 3);
  pool.share(1);  // in use again, so no longer the longest idle
  pool.release(1);
  EXPECT_EQ(pool.allocate(), 3);  // unused
  EXPECT_EQ(pool.allocate(), 0);
  EXPECT_FALSE(pool.is_kept(0));
  EXPECT_EQ(pool.allocate(), 2);
  pool.release(2);  // no longer kept: nothing is lost by giving it out first
  EXPECT_EQ(pool.allocate(), 2);
  EXPECT_EQ(pool.allocate(), 1);
  EXPECT_EQ(pool.num_free(), 0);
}

TEST(BlockPool, KeptBlocksCanAllBeLetGo) {
  BlockPool pool(3, 32);
  for (int32_t i = 0; i < 3; ++i) pool.keep(pool.allocate());
  pool.release(1);
  pool.release(0);
  pool.keep_none();
  EXPECT_EQ(pool.num_idle(), 0);
  EXPECT_EQ(pool.num_free(), 2);
  EXPECT_THROW(pool.share(0), Bug);
  pool.release(2);
  EXPECT_EQ(pool.num_free(), 3);
}

TEST(BlockPool, RefusesWhatNoOwnerCouldDo) {
  BlockPool pool(1, 32);
  EXPECT_THROW(pool.release(0), Bug);
  EXPECT_THROW(pool.share(0), Bug);
  pool.allocate();
  EXPECT_THROW(pool.allocate(), Bug);
}

TEST(BlockPool, CountsBlocksOfTokens) {
  BlockPool pool(1, 32);
  for (auto [tokens, blocks] : {std::pair{0, 0}, {1, 1}, {32, 1}, {33, 2}, {64, 2}}) {
    EXPECT_EQ(pool.blocks_for(tokens), blocks);
  }
}

}  // namespace
}  // namespace hone
