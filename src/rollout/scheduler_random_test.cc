// Random requests through random schedulers with tiny memories, with aborts, pauses and lost caches: the invariants on
// top of scheduler.h hold in every step, everything ends, and answers are those of a request alone.
#include <gtest/gtest.h>

#include <set>

#include "rollout/scheduler_test_cases.h"

namespace hone::scheduler_test {
namespace {

class Numbers {
 public:
  explicit Numbers(uint64_t seed) : seed_(seed) {}
  uint32_t below(uint32_t bound) { return random_below(kKey, 5000 + seed_, 0, next_++, bound); }
  bool one_in(uint32_t n) { return below(n) == 0; }

 private:
  uint64_t seed_;
  uint32_t next_ = 0;
};

std::vector<int32_t> random_prompt(Numbers& numbers) {
  std::vector<int32_t> ids = prompt_of(numbers.below(4), 20);  // four beginnings that requests share
  ids.resize(numbers.below(21));
  const uint32_t num_own = numbers.below(6) + (ids.empty() ? 1 : 0);
  for (uint32_t i = 0; i < num_own; ++i) ids.push_back(static_cast<int32_t>(1 + numbers.below(39)));
  return ids;
}

SchedulerOptions random_options(Numbers& numbers) {
  SchedulerOptions options;
  options.max_num_seqs = 1 + numbers.below(12);
  options.enable_chunked_prefill = !numbers.one_in(4);
  options.max_num_batched_tokens = options.enable_chunked_prefill ? 1 + numbers.below(40) : 46 + numbers.below(20);
  options.enable_prefix_sharing = !numbers.one_in(4);
  options.enable_prefix_caching = !numbers.one_in(4);
  return options;
}

// What a request gives that nobody else is beside.
std::vector<int32_t> alone(const Sequence& sequence) {
  const SequenceGroup& group = *sequence.group;
  std::vector<int32_t> ids(sequence.ids.begin(), sequence.ids.begin() + sequence.num_prompt);
  uint64_t hash = Simulation::hash_before(0, group.adapter);
  for (const int32_t id : ids) hash = chained(hash, id);
  for (int64_t i = 0; i < group.sampling.max_new_tokens; ++i) {
    ids.push_back(next_id(hash, group.drawn.draw, sequence.sample, i));
    if (ids.back() == 0) break;
    hash = chained(hash, ids.back());
  }
  return ids;
}

class RandomRun {
 public:
  explicit RandomRun(uint64_t seed)
      : numbers_(seed), run_(random_options(numbers_), 12 + numbers_.below(20), numbers_.below(3) == 0 ? 6 : 0) {}

  void requests(int64_t num_requests) {
    while (num_requests_ < num_requests || run_.scheduler().num_waiting() + run_.scheduler().num_running() > 0) {
      if (num_requests_ < num_requests && numbers_.one_in(4)) add();
      if (numbers_.one_in(50)) abort_one();
      if (numbers_.one_in(100)) pause();
      if (numbers_.one_in(100)) run_.scheduler().recompute_all(0);
      run_.step();
      if (testing::Test::HasFailure()) return;
    }
  }
  void check_end() {
    const BlockPool& pool = run_.scheduler().pool();
    EXPECT_EQ(pool.num_free(), pool.num_blocks());
    EXPECT_EQ(pool.num_idle(), run_.scheduler().prefix_cache().num_entries());
    for (const SequenceGroup& group : run_.groups()) {
      for (const Sequence& sequence : group.sequences) {
        std::vector<int32_t> expected = alone(sequence);
        if (aborted_.contains(&sequence)) {
          ASSERT_LE(sequence.ids.size(), expected.size());
          expected.resize(sequence.ids.size());
        }
        ASSERT_EQ(sequence.ids, expected) << "draw " << group.drawn.draw << " sample " << sequence.sample;
      }
    }
  }
  Scheduler& scheduler() { return run_.scheduler(); }
  int64_t num_requests() const { return num_requests_; }
  int64_t num_pauses() const { return num_pauses_; }
  size_t num_aborted() const { return aborted_.size(); }

 private:
  void add() {
    const uint32_t num_samples = 1 + numbers_.below(5);
    run_.add(run_.groups().size(), random_prompt(numbers_), num_samples, 1 + numbers_.below(20),
             static_cast<int32_t>(numbers_.below(2)));
    num_requests_ += num_samples;
  }
  std::vector<Sequence*> in_flight() {
    std::vector<Sequence*> all(run_.scheduler().running());
    all.insert(all.end(), run_.scheduler().waiting().begin(), run_.scheduler().waiting().end());
    return all;
  }
  void abort_one() {
    const std::vector<Sequence*> all = in_flight();
    if (all.empty()) return;
    Sequence& sequence = *all[numbers_.below(static_cast<uint32_t>(all.size()))];
    run_.scheduler().finish(sequence);
    aborted_.insert(&sequence);
  }
  void pause() {
    const std::vector<Sequence*> all = in_flight();
    for (Sequence* sequence : all) run_.scheduler().finish(*sequence);
    ASSERT_EQ(run_.scheduler().pool().num_free(), run_.scheduler().pool().num_blocks());
    for (Sequence* sequence : all) run_.enter(*sequence);
    ++num_pauses_;
  }

  Numbers numbers_;
  Simulation run_;
  int64_t num_requests_ = 0, num_pauses_ = 0;
  std::set<const Sequence*> aborted_;
};

TEST(SchedulerRandom, TenThousandRequestsEndWithAllBlocksFreeAndTheAnswersOfEachAlone) {
  int64_t num_requests = 0, num_preemptions = 0, num_reused = 0, num_pauses = 0;
  size_t num_aborted = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    RandomRun run(seed);
    run.requests(250);
    run.check_end();
    if (HasFailure()) return;
    num_requests += run.num_requests();
    num_preemptions += run.scheduler().num_preemptions();
    num_reused += run.scheduler().num_reused();
    num_pauses += run.num_pauses();
    num_aborted += run.num_aborted();
  }
  EXPECT_GE(num_requests, 10000);
  EXPECT_GT(num_preemptions, 500);
  EXPECT_GT(num_reused, 10000);
  EXPECT_GT(num_pauses, 100);
  EXPECT_GT(num_aborted, 200u);
}

TEST(SchedulerRandom, NewWeightsNeverMeetKeysAndValuesOfOldOnes) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    Numbers numbers(1000 + seed);
    Simulation run(random_options(numbers), 12 + numbers.below(20));
    for (int32_t version = 1; version < 8; ++version) {
      for (int i = 0; i < 4; ++i) run.add(run.groups().size(), random_prompt(numbers), 1 + numbers.below(4), 10);
      for (int i = 0; i < 12; ++i) run.step();  // compares every slot with the hash of this version
      run.set_version(version);
      ASSERT_EQ(run.scheduler().pool().num_free(), run.scheduler().pool().num_blocks());
      ASSERT_EQ(run.scheduler().prefix_cache().num_entries(), 0);
    }
    run.run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace hone::scheduler_test
