#include "rollout/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>

namespace hone {
namespace {

constexpr int64_t kBlock = 4;
constexpr RandomKey kKey{7, Stream::test};

// A run of the scheduler with a model of the cache: a slot holds a hash of the ids up to its position, and the next id
// is a function of that hash and of the draw's place, as in a real model.
class Simulation {
 public:
  // With `longest_draft` sequences get drafts of up to so many ids, as right as they happen to be.
  Simulation(const SchedulerOptions& options, int64_t num_blocks, uint32_t longest_draft = 0)
      : options_(options),
        scheduler_(options, num_blocks, kBlock),
        cache_(static_cast<size_t>(num_blocks * kBlock)),
        longest_draft_(longest_draft) {}

  SequenceGroup& add(uint64_t draw, const std::vector<int32_t>& prompt, uint32_t num_samples, int64_t max_new) {
    SequenceGroup& group = groups_.emplace_back();
    group.drawn.draw = draw;
    group.sampling.max_new_tokens = max_new;
    group.sequences.resize(num_samples);
    for (uint32_t sample = 0; sample < num_samples; ++sample) {
      Sequence& sequence = group.sequences[sample];
      sequence.group = &group;
      sequence.sample = sample;
      sequence.ids = prompt;
      sequence.num_prompt = static_cast<int64_t>(prompt.size());
      scheduler_.add(sequence);
    }
    return group;
  }

  bool step() {
    if (scheduler_.num_waiting() + scheduler_.num_running() == 0) return false;
    const Schedule& schedule = scheduler_.schedule();
    check(schedule);
    if (longest_draft_ > 0) add_drafts(schedule);
    for (auto [to, from] : schedule.copies) {
      for (int64_t i = 0; i < kBlock; ++i) slot(to, i) = slot(from, i);
    }
    for (const Schedule::Item& item : schedule.items) compute(item);
    scheduler_.computed();
    bool right = true;
    for (const auto& [sequence, row, num_drafts] : schedule.draws) {
      if (num_drafts > 0 && (!right || ended(*sequence))) continue;
      if (num_drafts > 0) ++sequence->num_cached;
      append(*sequence);
      const auto next = static_cast<size_t>(num_drafts);
      right = next < sequence->draft.size() && sequence->draft[next] == sequence->ids.back();
      num_right_ += right;
    }
    for (const Schedule::Draw& draw : schedule.draws) {
      if (draw.num_drafts == 0 && ended(*draw.sequence)) scheduler_.finish(*draw.sequence);
    }
    ++num_steps_;
    return true;
  }
  void run() {
    while (!testing::Test::HasFailure() && step()) ASSERT_LT(num_steps_, 100000);
  }

  Scheduler& scheduler() { return scheduler_; }
  std::deque<SequenceGroup>& groups() { return groups_; }
  int64_t num_steps() const { return num_steps_; }
  int64_t num_computed() const { return num_computed_; }
  int64_t num_drafts() const { return num_drafts_; }
  int64_t num_right() const { return num_right_; }
  const std::string& log() const { return log_; }

 private:
  uint64_t& slot(int32_t block, int64_t offset) { return cache_.at(static_cast<size_t>(block * kBlock + offset)); }
  static uint64_t hash(const Sequence& sequence, int64_t num_ids) {
    uint64_t h = 1469598103934665603ull;
    for (int64_t i = 0; i < num_ids; ++i) {
      const int64_t d = i - sequence.num_ids();
      const int32_t id = d < 0 ? sequence.ids[size_t(i)] : sequence.draft.at(size_t(d));
      h = (h ^ static_cast<uint64_t>(id)) * 1099511628211ull;
    }
    return h;
  }
  static int32_t next_id(const Sequence& sequence, uint64_t h, int64_t index) {
    const uint64_t bits = random_bits(kKey, sequence.group->drawn.draw, sequence.sample, static_cast<uint32_t>(index));
    return static_cast<int32_t>((h ^ bits) % 40);
  }
  static bool ended(const Sequence& sequence) {
    return sequence.ids.back() == 0 || sequence.num_response() >= sequence.group->sampling.max_new_tokens;
  }

  void compute(const Schedule::Item& item) {
    const Sequence& sequence = *item.sequence;
    const int64_t end = sequence.num_cached + item.num_tokens;
    for (int64_t p = sequence.num_cached; p < end; ++p) {
      const int32_t block = sequence.block_table.at(size_t(p / kBlock));
      ASSERT_FALSE(read_by_others(sequence, p)) << "written while shared";
      slot(block, p % kBlock) = hash(sequence, p + 1);
    }
    for (int64_t p = 0; p < end; ++p) {
      ASSERT_EQ(slot(sequence.block_table.at(size_t(p / kBlock)), p % kBlock), hash(sequence, p + 1))
          << "position " << p;
    }
    num_computed_ += item.num_tokens;
  }
  // Whether another sequence has that position in the cache, in the same block.
  bool read_by_others(const Sequence& sequence, int64_t position) const {
    const size_t index = static_cast<size_t>(position / kBlock);
    for (const Sequence* other : scheduler_.running()) {
      if (other == &sequence || other->num_cached <= position) continue;
      if (other->block_table[index] == sequence.block_table[index]) return true;
    }
    return false;
  }
  void append(Sequence& sequence) {
    const int64_t last = sequence.num_ids() - 1;
    const uint64_t h = slot(sequence.block_table.at(size_t(last / kBlock)), last % kBlock);
    ASSERT_EQ(h, hash(sequence, last + 1));
    sequence.ids.push_back(next_id(sequence, h, sequence.num_response()));
  }

  // Of random length; every third id is another than the next one, so drafts are right for a while or throughout.
  void add_drafts(const Schedule& schedule) {
    int64_t left = options_.max_num_batched_tokens - schedule.num_tokens;
    for (const Schedule::Item& item : schedule.items) {
      Sequence& sequence = *item.sequence;
      sequence.draft.clear();
      const int64_t limit = sequence.group->sampling.max_new_tokens - sequence.num_response() - 1;
      if (item.num_tokens < sequence.num_uncached() || sequence.num_response() == 0) continue;
      const uint32_t wanted = random_below(kKey, num_dice_++, 2000, 0, longest_draft_ + 1);
      for (int64_t d = 0; d < std::min({int64_t{wanted}, limit, left}); ++d) {
        const int32_t next = next_id(sequence, hash(sequence, sequence.num_ids() + d), sequence.num_response() + d);
        const bool wrong = random_below(kKey, num_dice_++, 2001, 0, 3) == 0;
        sequence.draft.push_back(wrong ? next + 1 : next);
      }
      left -= static_cast<int64_t>(sequence.draft.size());
      num_drafts_ += static_cast<int64_t>(sequence.draft.size());
    }
    const int64_t preemptions = scheduler_.num_preemptions();
    scheduler_.add_drafts();
    ASSERT_EQ(scheduler_.num_preemptions(), preemptions);
    check(schedule);
  }

  void check(const Schedule& schedule) {
    EXPECT_FALSE(schedule.items.empty());
    EXPECT_LE(schedule.num_tokens, options_.max_num_batched_tokens);
    EXPECT_LE(scheduler_.num_running(), options_.max_num_seqs);
    int64_t num_tokens = 0;
    bool prefill = false;
    for (const Schedule::Item& item : schedule.items) {
      EXPECT_GT(item.num_tokens, 0);
      num_tokens += item.num_tokens;
      const bool cut = item.num_tokens < item.sequence->num_uncached();
      if (cut) {
        EXPECT_EQ(&item, &schedule.items.back());
        EXPECT_TRUE(options_.enable_chunked_prefill);
      }
      if (item.sequence->num_uncached() > 1) prefill = true;
      if (item.sequence->num_response() > 1 && item.sequence->num_uncached() == 1) {
        EXPECT_FALSE(prefill) << "decode after a prefill";
      }
      log_ += std::to_string(item.sequence->group->drawn.draw) + "/" + std::to_string(item.sequence->sample) + "+" +
              std::to_string(item.num_tokens) + " ";
    }
    EXPECT_EQ(num_tokens, schedule.num_tokens);
    for (size_t i = 1; i < schedule.draws.size(); ++i) EXPECT_LE(schedule.draws[i - 1].row, schedule.draws[i].row);
    for (int32_t block = 0; block < scheduler_.pool().num_blocks(); ++block) {
      int32_t owners = 0;
      for (const Sequence* sequence : scheduler_.running()) {
        owners += static_cast<int32_t>(std::count(sequence->block_table.begin(), sequence->block_table.end(), block));
      }
      ASSERT_EQ(owners, scheduler_.pool().num_owners(block));
    }
    log_ += "| ";
  }

  SchedulerOptions options_;
  Scheduler scheduler_;
  std::vector<uint64_t> cache_;
  std::deque<SequenceGroup> groups_;
  uint32_t longest_draft_;
  uint64_t num_dice_ = 0;
  int64_t num_steps_ = 0, num_computed_ = 0, num_drafts_ = 0, num_right_ = 0;
  std::string log_;
};

std::vector<int32_t> prompt_of(uint64_t draw, int64_t length) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < length; ++i) {
    ids.push_back(static_cast<int32_t>(1 + random_below(kKey, draw, 1000, static_cast<uint32_t>(i), 39)));
  }
  return ids;
}

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
  Simulation plain({.max_num_seqs = 1, .max_num_batched_tokens = 1000, .enable_prefix_sharing = false}, 100);
  const Answers expected = run_all(plain);
  int64_t preemptions = 0;
  for (int64_t seqs : {1, 2, 3, 8, 64}) {
    for (int64_t budget : {1, 2, 3, 7, 16, 50, 1000}) {
      for (int64_t num_blocks : {12, 13, 17, 30, 500}) {
        for (bool sharing : {false, true}) {
          for (bool chunked : {false, true}) {
            if (!chunked && budget < 46) continue;
            SCOPED_TRACE(fmt::format("seqs {} budget {} blocks {} sharing {} chunked {}", seqs, budget, num_blocks,
                                     sharing, chunked));
            Simulation run({seqs, budget, chunked, sharing}, num_blocks);
            ASSERT_EQ(run_all(run), expected);
            preemptions += run.scheduler().num_preemptions();
            if (HasFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_GT(preemptions, 100);
}

TEST(Scheduler, DraftsChangeNoAnswerAndPreemptNobody) {
  Simulation plain({.max_num_seqs = 1, .max_num_batched_tokens = 1000, .enable_prefix_sharing = false}, 100);
  const Answers expected = run_all(plain);
  int64_t preemptions = 0, drafts = 0, right = 0;
  for (int64_t seqs : {3, 8}) {
    for (int64_t budget : {7, 1000}) {
      for (int64_t num_blocks : {12, 17, 500}) {
        SCOPED_TRACE(fmt::format("seqs {} budget {} blocks {}", seqs, budget, num_blocks));
        Simulation run({seqs, budget, true, true}, num_blocks, 9);  // over two borders of blocks
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
  Simulation a({8, 16, true, true}, 17), b({8, 16, true, true}, 17);
  run_all(a);
  run_all(b);
  EXPECT_GT(a.scheduler().num_preemptions(), 0);
  EXPECT_EQ(a.log(), b.log());
}

TEST(Scheduler, AGroupComputesItsPromptOnceAndDrawsFromOneRow) {
  Simulation run({64, 1000, true, true}, 500);
  run.add(3, prompt_of(3, 18), 5, 1);
  ASSERT_TRUE(run.step());
  EXPECT_EQ(run.num_computed(), 18);
  EXPECT_EQ(run.scheduler().num_running(), 0);
  EXPECT_FALSE(run.step());
}

TEST(Scheduler, SamplesShareFullBlocksAndCopyThePartOne) {
  Simulation run({64, 1000, true, true}, 500);
  run.add(0, std::vector<int32_t>(18, 1), 5, 3);  // 4 full blocks and 2 ids
  run.step();
  EXPECT_EQ(run.scheduler().pool().num_blocks() - run.scheduler().pool().num_free(), 5);
  const Schedule& schedule = run.scheduler().schedule();
  EXPECT_EQ(schedule.num_tokens, run.scheduler().num_running());
  EXPECT_EQ(static_cast<int64_t>(schedule.copies.size()), run.scheduler().num_running() - 1);
}

TEST(Scheduler, ALateSampleSharesThePromptOfARunningSibling) {
  Simulation run({2, 1000, true, true}, 500);
  SequenceGroup& group = run.add(0, std::vector<int32_t>(18, 1), 3, 30);
  run.run();
  int64_t num_drawn = 0;
  for (const Sequence& sequence : group.sequences) num_drawn += sequence.num_response();
  EXPECT_LE(run.num_computed(), 18 + num_drawn);
}

TEST(Scheduler, ThePreemptedKeepTheirIdsAndComeBackFirst) {
  Simulation run({4, 100, true, false}, 6);
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
  Simulation run({8, 1000, true, true}, 500);
  run.add(0, prompt_of(0, 10), 4, 20);
  for (int i = 0; i < 3; ++i) run.step();
  const int64_t unfinished = run.scheduler().num_running();
  run.scheduler().recompute_all();
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
}  // namespace hone
