// What the tests of the scheduler share: a run of it with a model of the cache.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>

#include "rollout/scheduler.h"

namespace hone::scheduler_test {

constexpr int64_t kBlock = 4;
constexpr RandomKey kKey{7, Stream::test};

inline uint64_t chained(uint64_t hash, int32_t id) { return (hash ^ static_cast<uint64_t>(id)) * 1099511628211ull; }
inline int32_t next_id(uint64_t hash, uint64_t draw, uint32_t sample, int64_t position) {
  return static_cast<int32_t>((hash ^ random_bits(kKey, draw, sample, static_cast<uint32_t>(position))) % 40);
}

// A slot of the cache holds a hash of version, adapter and the ids up to its position, and the next id is a function of
// that hash and of the draw's place, as in a real model.
class Simulation {
 public:
  // With `longest_draft` sequences get drafts of up to so many ids, as right as they happen to be.
  Simulation(const SchedulerOptions& options, int64_t num_blocks, uint32_t longest_draft = 0)
      : options_(options),
        scheduler_(options, num_blocks, kBlock),
        cache_(static_cast<size_t>(num_blocks * kBlock)),
        longest_draft_(longest_draft) {}

  // What stands before position 0.
  static uint64_t hash_before(int32_t version, int32_t adapter) {
    return 1469598103934665603ull + static_cast<uint64_t>(100 * version + adapter);
  }

  SequenceGroup& add(uint64_t draw, const std::vector<int32_t>& prompt, uint32_t num_samples, int64_t max_new,
                     int32_t adapter = 0) {
    SequenceGroup& group = groups_.emplace_back();
    group.drawn.draw = draw;
    group.sampling.max_new_tokens = max_new;
    group.adapter = adapter;
    group.sequences.resize(num_samples);
    for (uint32_t sample = 0; sample < num_samples; ++sample) {
      Sequence& sequence = group.sequences[sample];
      sequence.group = &group;
      sequence.sample = sample;
      sequence.ids = prompt;
      sequence.num_prompt = static_cast<int64_t>(prompt.size());
      enter(sequence);
    }
    return group;
  }
  // Gives the scheduler a sequence that it does not know or has finished with.
  void enter(Sequence& sequence) {
    arrivals_[&sequence] = num_arrivals_++;
    scheduler_.add(sequence);
  }
  void set_version(int32_t version) {
    version_ = version;
    hashes_.clear();
    scheduler_.recompute_all(version);
  }

  bool step() {
    if (scheduler_.num_waiting() + scheduler_.num_running() == 0) return false;
    const std::vector<Sequence*> ran = scheduler_.running();
    const Schedule& schedule = scheduler_.schedule();
    check(schedule, ran);
    if (longest_draft_ > 0) add_drafts(schedule, ran);
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
  static bool ended(const Sequence& sequence) {
    return sequence.ids.back() == 0 || sequence.num_response() >= sequence.group->sampling.max_new_tokens;
  }
  // What the slot of each position has to hold.
  const std::vector<uint64_t>& hashes(const Sequence& sequence) {
    std::vector<uint64_t>& known = hashes_[&sequence];
    while (known.size() < sequence.ids.size()) {
      const uint64_t before = known.empty() ? hash_before(version_, sequence.group->adapter) : known.back();
      known.push_back(chained(before, sequence.ids[known.size()]));
    }
    return known;
  }
  void compute(const Schedule::Item& item) {
    const Sequence& sequence = *item.sequence;
    std::vector<uint64_t> expected = hashes(sequence);
    for (const int32_t id : sequence.draft) expected.push_back(chained(expected.back(), id));
    const int64_t begin = sequence.num_cached, end = begin + item.num_tokens;
    for (int64_t first = begin; first < end; first = (first / kBlock + 1) * kBlock) {
      const int32_t block = sequence.block_table.at(size_t(first / kBlock));
      ASSERT_FALSE(read_by_others(sequence, first)) << "written while shared";
      ASSERT_FALSE(options_.enable_prefix_caching && scheduler_.prefix_cache().contains(block))
          << "written while known";
      for (int64_t p = first; p < std::min(end, (first / kBlock + 1) * kBlock); ++p) {
        slot(block, p % kBlock) = expected[size_t(p)];
      }
    }
    for (int64_t first = 0; first < end; first += kBlock) {
      const uint64_t* slots = &slot(sequence.block_table[size_t(first / kBlock)], 0);
      const auto num = static_cast<size_t>(std::min(kBlock, end - first));
      ASSERT_EQ(std::memcmp(slots, &expected[size_t(first)], num * sizeof(uint64_t)), 0) << "position " << first;
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
    ASSERT_EQ(h, hashes(sequence)[size_t(last)]);
    sequence.ids.push_back(next_id(h, sequence.group->drawn.draw, sequence.sample, sequence.num_response()));
  }

  // Of random length; every third id is another than the next one, so drafts are right for a while or throughout.
  void add_drafts(const Schedule& schedule, const std::vector<Sequence*>& ran) {
    int64_t left = options_.max_num_batched_tokens - schedule.num_tokens;
    for (const Schedule::Item& item : schedule.items) {
      Sequence& sequence = *item.sequence;
      sequence.draft.clear();
      const int64_t limit = sequence.group->sampling.max_new_tokens - sequence.num_response() - 1;
      if (item.num_tokens < sequence.num_uncached() || sequence.num_response() == 0) continue;
      const uint32_t wanted = random_below(kKey, num_dice_++, 2000, 0, longest_draft_ + 1);
      uint64_t hash = hashes(sequence).back();
      for (int64_t d = 0; d < std::min({int64_t{wanted}, limit, left}); ++d) {
        const int32_t next = next_id(hash, sequence.group->drawn.draw, sequence.sample, sequence.num_response() + d);
        const bool wrong = random_below(kKey, num_dice_++, 2001, 0, 3) == 0;
        sequence.draft.push_back(wrong ? next + 1 : next);
        hash = chained(hash, sequence.draft.back());
      }
      left -= static_cast<int64_t>(sequence.draft.size());
      num_drafts_ += static_cast<int64_t>(sequence.draft.size());
    }
    const int64_t preemptions = scheduler_.num_preemptions();
    scheduler_.add_drafts();
    ASSERT_EQ(scheduler_.num_preemptions(), preemptions);
    check(schedule, ran);
  }

  void check(const Schedule& schedule, const std::vector<Sequence*>& ran) {
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
      const bool decodes = item.sequence->num_uncached() == 1 && std::count(ran.begin(), ran.end(), item.sequence) > 0;
      EXPECT_FALSE(decodes && prefill) << "decode after a prefill";
      prefill = prefill || !decodes;
      log_ += std::to_string(item.sequence->group->drawn.draw) + "/" + std::to_string(item.sequence->sample) + "+" +
              std::to_string(item.num_tokens) + " ";
    }
    EXPECT_EQ(num_tokens, schedule.num_tokens);
    for (size_t i = 1; i < schedule.draws.size(); ++i) EXPECT_LE(schedule.draws[i - 1].row, schedule.draws[i].row);
    log_ += "| ";
    check_order();
    check_owners();
  }
  void check_order() {
    int64_t last = -1;
    bool right = true;
    const auto look = [&](const Sequence* sequence) {
      const int64_t arrival = arrivals_.find(sequence)->second;
      right = right && last < arrival;
      last = arrival;
    };
    for (const Sequence* sequence : scheduler_.running()) look(sequence);
    for (const Sequence* sequence : scheduler_.waiting()) look(sequence);
    ASSERT_TRUE(right) << "not in the order of arrival";
  }
  void check_owners() {
    const BlockPool& pool = scheduler_.pool();
    owners_.assign(static_cast<size_t>(pool.num_blocks()), 0);
    for (const Sequence* sequence : scheduler_.running()) {
      for (const int32_t block : sequence->block_table) ++owners_[static_cast<size_t>(block)];
    }
    bool right = true;
    for (const Sequence* sequence : scheduler_.waiting()) right = right && sequence->block_table.empty();
    int64_t num_free = 0;
    for (int32_t block = 0; block < static_cast<int32_t>(owners_.size()); ++block) {
      const int32_t owners = owners_[static_cast<size_t>(block)];
      right = right && owners == pool.num_owners(block);
      num_free += owners == 0;
    }
    ASSERT_TRUE(right) << "owners are not the block tables a block stands in";
    ASSERT_EQ(num_free, pool.num_free());
  }

  SchedulerOptions options_;
  Scheduler scheduler_;
  std::vector<uint64_t> cache_;
  int32_t version_ = 0;
  std::deque<SequenceGroup> groups_;
  std::unordered_map<const Sequence*, std::vector<uint64_t>> hashes_;
  std::unordered_map<const Sequence*, int64_t> arrivals_;
  uint32_t longest_draft_;
  uint64_t num_dice_ = 0;
  int64_t num_arrivals_ = 0, num_steps_ = 0, num_computed_ = 0, num_drafts_ = 0, num_right_ = 0;
  std::vector<int32_t> owners_;
  std::string log_;
};

inline std::vector<int32_t> prompt_of(uint64_t draw, int64_t length) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < length; ++i) {
    ids.push_back(static_cast<int32_t>(1 + random_below(kKey, draw, 1000, static_cast<uint32_t>(i), 39)));
  }
  return ids;
}

}  // namespace hone::scheduler_test
