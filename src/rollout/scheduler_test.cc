#include <gtest/gtest.h>

#include "rollout/scheduler_test_cases.h"

namespace hone::scheduler_test {
namespace {

using Answers = std::map<std::pair<uint64_t, uint32_t>, std::vector<int32_t>>;

// Twelve groups of 1 to 6 samples, prompts of 1 to 21 ids, half of them added while others run.
Answers run_all(Simulation& run) {
  for (uint64_t draw = 0; draw < 12; ++draw) {
    const int64_t length = 1 + random_below(kKey, draw, 1001, 0, 21);
    const uint32_t num_samples = 1 + random_below(kKey, draw, 1001, 1, 6);
    run.add(draw, prompt_of(draw, length), num_samples, 1 + random_below(kKey, draw, 1001, 2, 25));
    if (draw >= 6) {
      for (int i = 0; i < 5; ++i) run.step();
    }
  }
  run.run();
  Answers answers;
  for (const SequenceGroup& group : run.groups()) {
    for (const Sequence& sequence : group.sequences) {
      EXPECT_EQ(sequence.state, SequenceState::finished);
      answers[{group.drawn.draw, sequence.sample}] = sequence.ids;
    }
  }
  EXPECT_EQ(run.scheduler().pool().num_free(), run.scheduler().pool().num_blocks());
  return answers;
}

TEST(Scheduler, AnySettingsGiveTheSameAnswersWithinTheirLimits) {
  Simulation plain({1, 1000, true, false, false}, 100);
  const Answers expected = run_all(plain);
  int64_t preemptions = 0;
  for (int64_t seqs : {1, 3, 64}) {
    for (int64_t budget : {1, 2, 7, 50, 1000}) {
      for (int64_t num_blocks : {12, 13, 30, 500}) {
        for (int switches = 0; switches < 8; ++switches) {
          const bool chunked = switches & 1, sharing = switches & 2, caching = switches & 4;
          if (!chunked && budget < 46) continue;
          SCOPED_TRACE(fmt::format("seqs {} budget {} blocks {} chunked {} sharing {} caching {}", seqs, budget,
                                   num_blocks, chunked, sharing, caching));
          Simulation run({seqs, budget, chunked, sharing, caching}, num_blocks);
          ASSERT_EQ(run_all(run), expected);
          preemptions += run.scheduler().num_preemptions();
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(preemptions, 100);
}

TEST(Scheduler, DraftsChangeNoAnswerAndPreemptNobody) {
  Simulation plain({1, 1000, true, false, false}, 100);
  const Answers expected = run_all(plain);
  int64_t preemptions = 0, drafts = 0, right = 0;
  for (int64_t seqs : {3, 8}) {
    for (int64_t budget : {7, 1000}) {
      for (int64_t num_blocks : {12, 17, 500}) {
        SCOPED_TRACE(fmt::format("seqs {} budget {} blocks {}", seqs, budget, num_blocks));
        Simulation run({seqs, budget, true, true, true}, num_blocks, 9);  // over two borders of blocks
        ASSERT_EQ(run_all(run), expected);
        if (HasFailure()) return;
        preemptions += run.scheduler().num_preemptions();
        drafts += run.num_drafts();
        right += run.num_right();
      }
    }
  }
  EXPECT_GT(preemptions, 20);
  EXPECT_GT(right, 1000);
  EXPECT_GT(drafts, right + 1000);
}

TEST(Scheduler, TheSameCallsGiveTheSameSchedules) {
  Simulation a({8, 16, true, true, true}, 17), b({8, 16, true, true, true}, 17);
  run_all(a);
  run_all(b);
  EXPECT_GT(a.scheduler().num_preemptions(), 0);
  EXPECT_EQ(a.log(), b.log());
}

TEST(Scheduler, AGroupComputesItsPromptOnceAndDrawsFromOneRow) {
  Simulation run({64, 1000, true, true, true}, 500);
  run.add(3, prompt_of(3, 18), 5, 1);
  ASSERT_TRUE(run.step());
  EXPECT_EQ(run.num_computed(), 18);
  EXPECT_EQ(run.scheduler().num_running(), 0);
  EXPECT_FALSE(run.step());
}

TEST(Scheduler, SamplesShareFullBlocksAndCopyThePartOne) {
  Simulation run({64, 1000, true, true, true}, 500);
  run.add(0, std::vector<int32_t>(18, 1), 5, 3);  // 4 full blocks and 2 ids
  run.step();
  EXPECT_EQ(run.scheduler().pool().num_blocks() - run.scheduler().pool().num_free(), 5);
  const Schedule& schedule = run.scheduler().schedule();
  EXPECT_EQ(schedule.num_tokens, run.scheduler().num_running());
  EXPECT_EQ(static_cast<int64_t>(schedule.copies.size()), run.scheduler().num_running() - 1);
}

TEST(Scheduler, ALateSampleSharesThePromptOfARunningSibling) {
  Simulation run({2, 1000, true, true, true}, 500);
  SequenceGroup& group = run.add(0, std::vector<int32_t>(18, 1), 3, 30);
  run.run();
  int64_t num_drawn = 0;
  for (const Sequence& sequence : group.sequences) num_drawn += sequence.num_response();
  EXPECT_LE(run.num_computed(), 18 + num_drawn);
}

TEST(Scheduler, ThePreemptedKeepTheirIdsAndComeBackFirst) {
  Simulation run({4, 100, true, false, false}, 6);
  for (uint64_t draw = 0; draw < 4; ++draw) run.add(draw, prompt_of(draw, 4), 1, 12);
  while (run.scheduler().num_preemptions() == 0 && run.step()) {
  }
  ASSERT_GT(run.scheduler().num_preemptions(), 0);
  const size_t oldest_waiting = static_cast<size_t>(run.scheduler().num_running());
  EXPECT_GT(run.groups()[oldest_waiting].sequences[0].num_response(), 0);
  EXPECT_EQ(run.groups()[oldest_waiting].sequences[0].num_cached, 0);
  run.run();
}

TEST(Scheduler, NewWeightsMakeEverySequenceRecompute) {
  Simulation run({8, 1000, true, true, true}, 500);
  run.add(0, prompt_of(0, 10), 4, 20);
  for (int i = 0; i < 3; ++i) run.step();
  const int64_t unfinished = run.scheduler().num_running();
  run.set_version(2);
  EXPECT_EQ(run.scheduler().num_waiting(), unfinished);
  EXPECT_EQ(run.scheduler().pool().num_free(), 500);
  run.run();
}

TEST(Scheduler, ASequenceThePoolCannotHoldIsRefused) {
  Scheduler scheduler({.max_num_batched_tokens = 10, .enable_chunked_prefill = false}, 3, kBlock);
  EXPECT_EQ(scheduler.max_ids(), 10);
  EXPECT_EQ(Scheduler({}, 3, kBlock).max_ids(), 12);
  Sequence sequence;
  sequence.ids.assign(11, 1);
  EXPECT_THROW(scheduler.add(sequence), Bug);
}

}  // namespace
}  // namespace hone::scheduler_test
