#include "rollout/prefix_cache.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "rollout/scheduler_test_cases.h"

namespace hone {
namespace {

using scheduler_test::prompt_of;
using scheduler_test::Simulation;
using Ids = std::vector<int32_t>;
using Root = PrefixCache::Root;

Ids found(const PrefixCache& cache, const Root& root, const Ids& ids, int64_t max_blocks = 100) {
  Ids blocks{77};
  cache.find(root, ids, max_blocks, blocks);
  return blocks;
}

TEST(PrefixCache, GivesTheBlocksOfTheLongestKnownBeginning) {
  PrefixCache cache(8, 2);
  EXPECT_EQ(cache.insert({}, -1, Ids{1, 2}, 5), 5);
  EXPECT_EQ(cache.insert({}, 5, Ids{3, 4}, 3), 3);
  EXPECT_EQ(cache.insert({}, 5, Ids{3, 5}, 6), 6);
  EXPECT_EQ(found(cache, {}, {1, 2, 3, 4, 9}), (Ids{5, 3}));
  EXPECT_EQ(found(cache, {}, {1, 2, 3, 5}), (Ids{5, 6}));
  EXPECT_EQ(found(cache, {}, {1, 2, 3, 6}), Ids{5});
  EXPECT_EQ(found(cache, {}, {1, 2, 3}), Ids{5});
  EXPECT_EQ(found(cache, {}, {1, 2, 3, 4}, 1), Ids{5});
  EXPECT_EQ(found(cache, {}, {3, 4, 1, 2}), Ids{});
  EXPECT_EQ(found(cache, {}, {1}), Ids{});
}

TEST(PrefixCache, AnotherVersionOrAdapterIsAnotherBeginning) {
  PrefixCache cache(8, 2);
  cache.insert({3, 0}, -1, Ids{1, 2}, 0);
  cache.insert({3, 1}, -1, Ids{1, 2}, 1);
  cache.insert({4, 0}, -1, Ids{1, 2}, 2);
  EXPECT_EQ(found(cache, {3, 0}, {1, 2}), Ids{0});
  EXPECT_EQ(found(cache, {3, 1}, {1, 2}), Ids{1});
  EXPECT_EQ(found(cache, {4, 0}, {1, 2}), Ids{2});
  EXPECT_EQ(found(cache, {4, 1}, {1, 2}), Ids{});
}

TEST(PrefixCache, NoCollisionOfHashesGivesAWrongBlock) {
  for (uint64_t mask : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
    PrefixCache cache(64, 2, mask);
    int32_t block = 0;
    for (int32_t a = 0; a < 4; ++a) {
      const int32_t first = block++;
      ASSERT_EQ(cache.insert({}, -1, Ids{a, 0}, first), first);
      for (int32_t b = 0; b < 4; ++b, ++block) ASSERT_EQ(cache.insert({}, first, Ids{b, 0}, block), block);
    }
    for (int32_t a = 0; a < 4; ++a) {
      for (int32_t b = 0; b < 4; ++b) EXPECT_EQ(found(cache, {}, {a, 0, b, 0}), (Ids{5 * a, 5 * a + 1 + b}));
    }
  }
}

TEST(PrefixCache, ASecondBlockUnderOneKeyGivesWayToTheFirst) {
  PrefixCache cache(8, 2);
  cache.insert({}, -1, Ids{1, 2}, 5);
  EXPECT_EQ(cache.insert({}, -1, Ids{1, 2}, 4), 5);
  EXPECT_FALSE(cache.contains(4));
  EXPECT_EQ(cache.num_entries(), 1);
}

TEST(PrefixCache, AForgottenBlockIsFoundNoMoreAndWhatStoodBehindItNeither) {
  PrefixCache cache(8, 2, 0);
  cache.insert({}, -1, Ids{1, 2}, 5);
  cache.insert({}, 5, Ids{3, 4}, 3);
  cache.insert({}, -1, Ids{7, 8}, 2);
  cache.erase(5);
  cache.erase(5);
  EXPECT_EQ(found(cache, {}, {1, 2, 3, 4}), Ids{});
  EXPECT_EQ(found(cache, {}, {7, 8}), Ids{2});
  cache.insert({}, -1, Ids{1, 2}, 5);  // the same block and ids, another entry
  EXPECT_EQ(found(cache, {}, {1, 2, 3, 4}), Ids{5});
  cache.clear();
  EXPECT_EQ(found(cache, {}, {7, 8}), Ids{});
  EXPECT_EQ(cache.num_entries(), 0);
}

TEST(PrefixCache, RefusesWhatHasNoPlace) {
  PrefixCache cache(8, 2);
  cache.insert({}, -1, Ids{1, 2}, 5);
  EXPECT_THROW(cache.insert({}, -1, Ids{3, 4}, 5), Bug);  // has an entry
  EXPECT_THROW(cache.insert({}, 4, Ids{3, 4}, 3), Bug);   // nothing is known of block 4
  EXPECT_THROW(cache.insert({}, -1, Ids{3}, 3), Bug);     // not full
}

// What follows is about the cache in the hands of the scheduler; blocks of 4 ids.

TEST(PrefixCache, ALaterRequestComputesOnlyWhatNoEarlierOneHas) {
  Simulation run({64, 1000, true, true, true}, 500);
  run.add(0, prompt_of(0, 18), 1, 1);
  run.run();
  EXPECT_EQ(run.num_computed(), 18);
  run.add(1, prompt_of(0, 18), 1, 1);
  run.run();
  EXPECT_EQ(run.num_computed(), 18 + 2);  // four full blocks are known
  run.add(2, prompt_of(0, 16), 1, 1);
  run.run();
  EXPECT_EQ(run.num_computed(), 18 + 2 + 4);  // the last block has the id to draw from
  EXPECT_EQ(run.scheduler().num_reused(), 16 + 12);
}

TEST(PrefixCache, OffEveryRequestComputesItsPrompt) {
  Simulation run({64, 1000, true, true, false}, 500);
  for (uint64_t draw = 0; draw < 3; ++draw) {
    run.add(draw, prompt_of(0, 18), 1, 1);
    run.run();
  }
  EXPECT_EQ(run.num_computed(), 3 * 18);
}

TEST(PrefixCache, AnAnswerIsKnownToTheRequestThatGoesOnFromIt) {
  Simulation run({64, 1000, true, true, true}, 500);
  const SequenceGroup& first = run.add(0, prompt_of(0, 10), 1, 30);
  run.run();
  const Ids ids = first.sequences[0].ids;
  ASSERT_GT(ids.size(), 14u);
  const int64_t before = run.num_computed();
  Ids next = ids;
  next.insert(next.end(), {5, 6, 7});
  run.add(1, next, 1, 1);
  run.run();
  const auto num_known = static_cast<int64_t>(ids.size() - 1) / 4 * 4;  // the last id was never fed
  EXPECT_EQ(run.num_computed() - before, static_cast<int64_t>(next.size()) - num_known);
}

TEST(PrefixCache, RequestsThatComputeTheSameAtOnceEndUpWithOneCopy) {
  Simulation run({64, 1000, true, true, true}, 500);
  for (uint64_t draw = 0; draw < 4; ++draw) run.add(draw, prompt_of(0, 16), 1, 30);
  run.step();
  EXPECT_EQ(run.scheduler().pool().num_blocks() - run.scheduler().pool().num_free(), 4);
}

TEST(PrefixCache, WhatIsUnusedForLongestIsForgottenFirstAndOfARequestItsEnd) {
  Simulation run({1, 1000, true, true, true}, 10);
  run.add(0, prompt_of(0, 16), 1, 1);  // 4 blocks
  run.run();
  run.add(1, prompt_of(1, 16), 1, 1);  // 4 more
  run.run();
  run.add(2, prompt_of(2, 16), 1, 1);  // the last 2, and 2 of the oldest
  run.run();
  Ids blocks;
  const auto num_known = [&](uint64_t draw) {
    run.scheduler().prefix_cache().find({}, prompt_of(draw, 16), 100, blocks);
    return blocks.size();
  };
  EXPECT_EQ(num_known(0), 2u);
  EXPECT_EQ(num_known(1), 4u);
  EXPECT_EQ(num_known(2), 4u);
  run.add(0, prompt_of(0, 9), 1, 1);  // uses what is left of the first, and one block of the second's end
  run.run();
  EXPECT_EQ(num_known(0), 2u);
  EXPECT_EQ(num_known(1), 3u);
  run.add(3, prompt_of(3, 16), 1, 1);
  run.run();
  EXPECT_EQ(num_known(0), 2u);
  EXPECT_EQ(num_known(1), 0u);
}

}  // namespace
}  // namespace hone
