// Random requests through engines of random settings, with aborts, pauses and memory given back in between: every
// answer is that of the request alone, to the bit, and every block is free at the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "rollout/engine_test_cases.h"

namespace hone::engine_test {
namespace {

class Numbers {
 public:
  explicit Numbers(uint64_t seed) : seed_(seed) {}
  int64_t below(uint32_t bound) { return random_below({seed_, Stream::test}, 1, 0, next_++, bound); }
  bool one_in(uint32_t n) { return below(n) == 0; }

 private:
  uint64_t seed_;
  uint32_t next_ = 0;
};

struct Request {
  DrawnPrompt drawn;
  int num_samples;
};

// Prompts of 1 to 75 ids, many with a beginning that others have too.
std::vector<Request> random_requests(Numbers& numbers, std::deque<Prompt>& prompts, size_t count) {
  std::vector<Request> requests;
  for (size_t r = 0; r < count; ++r) {
    Prompt& prompt = prompts.emplace_back();
    const int64_t beginning = numbers.below(3), shared = numbers.below(70), own = 1 + numbers.below(5);
    for (int64_t i = 0; i < shared; ++i) prompt.ids.push_back(static_cast<int32_t>((beginning + i * i) % kValid));
    for (int64_t i = 0; i < own; ++i) prompt.ids.push_back(static_cast<int32_t>(numbers.below(kValid)));
    requests.push_back({{&prompt, r}, static_cast<int>(1 + numbers.below(4))});
  }
  return requests;
}

EngineOptions random_engine(Numbers& numbers) {
  const bool chunked = !numbers.one_in(3);
  EngineOptions options = options_of(1 + numbers.below(10), chunked ? 2 + numbers.below(60) : 110 + numbers.below(50),
                                     4 + numbers.below(8), chunked, !numbers.one_in(3), !numbers.one_in(3));
  if (numbers.one_in(2)) {
    options.speculation.emplace();
    options.speculation->cost = {{1, 1.0}};  // rows beyond the first are free: everything that is proposed is computed
  }
  return options;
}

class RandomRun {
 public:
  RandomRun(uint64_t seed, kernels::Context& ctx, const Decoder& decoder, const SamplingParams& sampling,
            const std::vector<Request>& requests)
      : numbers_(seed), ctx_(ctx), decoder_(decoder), sampling_(sampling), requests_(requests) {
    restart();
  }

  std::vector<Group> run() {
    size_t added = 0;
    while (added < requests_.size() || engine_->has_work()) {
      if (added < requests_.size() && numbers_.one_in(3)) {
        engine_->add(requests_[added].drawn, requests_[added].num_samples, sampling_);
        ++added;
      }
      if (numbers_.one_in(60) && added > 0) abort_one(added);
      if (numbers_.one_in(40)) pause();
      if (numbers_.one_in(40)) engine_->free_cache();
      engine_->step();
      take();
    }
    EXPECT_EQ(engine_->num_free_kv_blocks(), engine_->num_kv_blocks());
    std::sort(done_.begin(), done_.end(), [](const Group& a, const Group& b) { return a.drawn.draw < b.drawn.draw; });
    return std::move(done_);
  }
  int64_t num_aborted() const { return num_aborted_; }
  int64_t num_pauses() const { return num_pauses_; }
  const EngineStats& stats() const { return stats_; }

 private:
  void take() {
    for (Group& group : engine_->take_finished()) done_.push_back(std::move(group));
  }
  void restart() {
    if (engine_) {
      stats_.num_preemptions += engine_->stats().num_preemptions;
      stats_.num_reused += engine_->stats().num_reused;
    }
    engine_ = std::make_unique<Engine>(ctx_, decoder_, random_engine(numbers_));
  }
  // All that is in flight goes on in another engine, or in the same one.
  void pause() {
    const std::vector<UnfinishedGroup> taken = engine_->take_unfinished();
    EXPECT_EQ(engine_->num_free_kv_blocks(), engine_->num_kv_blocks());
    if (numbers_.one_in(2)) restart();
    for (const UnfinishedGroup& group : taken) engine_->add(group, sampling_);
    ++num_pauses_;
  }
  void abort_one(size_t added) {
    const auto draw = static_cast<uint64_t>(numbers_.below(static_cast<uint32_t>(added)));
    const auto samples = static_cast<uint32_t>(requests_[draw].num_samples);
    num_aborted_ += numbers_.one_in(2) ? engine_->abort(draw)
                                       : engine_->abort(draw, static_cast<uint32_t>(numbers_.below(samples)));
  }

  Numbers numbers_;
  kernels::Context& ctx_;
  const Decoder& decoder_;
  SamplingParams sampling_;
  const std::vector<Request>& requests_;
  std::unique_ptr<Engine> engine_;
  std::vector<Group> done_;
  EngineStats stats_;
  int64_t num_aborted_ = 0, num_pauses_ = 0;
};

// An aborted answer is the beginning of the whole one.
void expect_beginning(const Trajectory& t, Trajectory whole) {
  const size_t length = t.response_ids.size();
  ASSERT_LE(length, whole.response_ids.size());
  whole.response_ids.resize(length);
  whole.logprobs.resize(length);
  whole.versions.resize(length);
  EXPECT_EQ(t.response_ids, whole.response_ids);
  EXPECT_EQ(t.logprobs, whole.logprobs);
  EXPECT_EQ(t.versions, whole.versions);
}

TEST(EngineRandom, AnswersAreThoseOfEachRequestAloneToTheBit) {
  kernels::Context ctx(1);
  const auto decoder = make_decoder(kDefault);
  SamplingParams sampling = Task().sampling;
  sampling.max_new_tokens = 25;
  Numbers numbers(1);
  std::deque<Prompt> prompts;
  const std::vector<Request> requests = random_requests(numbers, prompts, 60);
  std::vector<Group> alone;
  for (const Request& request : requests) {
    Engine engine(ctx, *decoder, options_of(1, 512, 8, true, false, false));
    engine.add(request.drawn, request.num_samples, sampling);
    alone.push_back(std::move(engine.run_all().at(0)));
  }
  int64_t num_aborted = 0, num_pauses = 0, num_preemptions = 0, num_reused = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    RandomRun run(seed, ctx, *decoder, sampling, requests);
    const std::vector<Group> groups = run.run();
    ASSERT_EQ(groups.size(), alone.size());
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t k = 0; k < groups[g].trajectories.size(); ++k) {
        const Trajectory& t = groups[g].trajectories[k];
        if (t.finish != FinishReason::aborted) {
          ASSERT_EQ(t.finish, alone[g].trajectories[k].finish);
          ASSERT_EQ(t.response_ids, alone[g].trajectories[k].response_ids);
        }
        expect_beginning(t, alone[g].trajectories[k]);
        if (HasFailure()) return;
      }
    }
    num_aborted += run.num_aborted();
    num_pauses += run.num_pauses();
    num_preemptions += run.stats().num_preemptions;
    num_reused += run.stats().num_reused;
  }
  EXPECT_GT(num_aborted, 5);
  EXPECT_GT(num_pauses, 10);
  EXPECT_GT(num_preemptions, 3);
  EXPECT_GT(num_reused, 1000);
}

// Memory that is no file's: the system takes pages of the program itself back whenever it likes.
int64_t resident_kib() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0, of_files = 0;
  file >> total >> resident >> of_files;
  return (resident - of_files) * 4;
}

TEST(EngineRandom, TheMemoryOfTheCacheGoesBackToTheSystemAndIsTakenAgain) {
  kernels::Context ctx(1);
  const auto decoder = make_decoder(kDefault);
  SamplingParams sampling = Task().sampling;
  sampling.max_new_tokens = 1;
  std::deque<Prompt> prompts(16);
  Engine engine(ctx, *decoder, options_of(16, 512, 256));  // 256 blocks of 16 KiB
  const auto ask = [&] {
    for (uint64_t draw = 0; draw < 16; ++draw) {
      prompts[draw].ids.assign(500, static_cast<int32_t>(draw));
      engine.add({&prompts[draw], draw}, 1, sampling);
    }
    return engine.run_all();
  };
  const std::vector<Group> first = ask();
  const int64_t used = resident_kib();
  engine.free_cache();
  const int64_t given_back = used - resident_kib();
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_GT(given_back, 3700);  // 4096 KiB
#else
  EXPECT_LE(given_back, used);
#endif
  EXPECT_EQ(engine.num_free_kv_blocks(), 256);
  const std::vector<Group> again = ask();
  EXPECT_GT(resident_kib(), used - 300);
  expect_same(again, first);
}

}  // namespace
}  // namespace hone::engine_test
