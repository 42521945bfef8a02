// Partial rollouts: stop at any step, go on later, here or in an engine of another shape.
#include <gtest/gtest.h>

#include <algorithm>

#include "rollout/engine_test_cases.h"

namespace hone::engine_test {
namespace {

// All answers when everything in flight is taken out after every `interval` steps and goes on in a new engine.
std::vector<Group> run_with_pauses(const Mode& mode, const Decoder& decoder, const Task& task, const Setting& setting,
                                   int interval, int64_t* num_pauses) {
  kernels::Context ctx(setting.num_threads, *mode.target);
  std::vector<Group> finished;
  std::vector<UnfinishedGroup> carried;
  bool more = true;
  for (bool first = true; more; first = false) {
    Engine engine(ctx, decoder, setting.options);
    for (size_t d = 0; first && d < task.draws.size(); ++d) {
      engine.add(task.draws[d], Task::num_samples(task.draws[d].draw), task.sampling);
    }
    for (const UnfinishedGroup& group : carried) engine.add(group, task.sampling);
    for (int i = 0; i < interval && more; ++i) more = engine.step();
    for (Group& group : engine.take_finished()) finished.push_back(std::move(group));
    carried = engine.take_unfinished();
    EXPECT_EQ(carried.empty(), !more);
    EXPECT_FALSE(engine.has_work());
    EXPECT_EQ(engine.take_finished().size(), 0u);
    *num_pauses += more;
  }
  std::sort(finished.begin(), finished.end(),
            [](const Group& a, const Group& b) { return a.drawn.draw < b.drawn.draw; });
  return finished;
}

TEST(PartialRollout, PausesNeverChangeAnAnswerOrABitOfItsLogprobs) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Mode mode{kDefault.target, dtype};
    const auto decoder = make_decoder(mode);
    Task task;
    task.sampling.max_new_tokens = 24;
    const std::vector<Group> expected = run(mode, *decoder, task, {options_of(64, 256, 64)});
    for (int interval : {1, 7, 11}) {
      for (const Setting& setting : std::vector<Setting>{{options_of(64, 256, 64)}, {options_of(8, 40, 6), 2}}) {
        if (interval == 1 && setting.options.num_kv_blocks == 6) continue;  // prompts of two steps would never draw
        SCOPED_TRACE(fmt::format("{} interval {} blocks {}", name(dtype), interval, setting.options.num_kv_blocks));
        int64_t num_pauses = 0;
        expect_same(run_with_pauses(mode, *decoder, task, setting, interval, &num_pauses), expected);
        EXPECT_GT(num_pauses, 1);
      }
    }
  }
}

TEST(PartialRollout, WhatIsTakenOutIsEverySampleOfTheGroupsInFlight) {
  const auto decoder = make_decoder(kDefault);
  kernels::Context ctx(1);
  Task task;
  Engine engine(ctx, *decoder, options_of(2, 64, 64));
  for (const DrawnPrompt& drawn : task.draws) engine.add(drawn, Task::num_samples(drawn.draw), task.sampling);
  std::vector<Group> finished;
  bool some_ended = false, some_waited = false;
  while (!some_ended) {
    ASSERT_TRUE(engine.step());
    for (Group& group : engine.take_finished()) finished.push_back(std::move(group));
    some_ended = engine.num_running() + engine.num_waiting() < [&] {
      int64_t left = 0;
      for (const DrawnPrompt& drawn : task.draws) left += Task::num_samples(drawn.draw);
      for (const Group& group : finished) left -= static_cast<int64_t>(group.trajectories.size());
      return left;
    }();
  }
  const std::vector<UnfinishedGroup> taken = engine.take_unfinished();
  EXPECT_EQ(engine.num_running() + engine.num_waiting(), 0);
  EXPECT_EQ(taken.size() + finished.size(), task.draws.size());
  some_ended = false;
  for (const UnfinishedGroup& group : taken) {
    EXPECT_EQ(static_cast<int>(group.samples.size()), Task::num_samples(group.drawn.draw));
    EXPECT_EQ(group.temperature, 1.0f);
    for (const UnfinishedSample& sample : group.samples) {
      EXPECT_EQ(sample.logprobs.size(), sample.response_ids.size());
      EXPECT_EQ(sample.versions, std::vector<int32_t>(sample.response_ids.size(), 1));
      some_ended = some_ended || sample.finish.has_value();
      some_waited = some_waited || sample.response_ids.empty();
    }
  }
  EXPECT_TRUE(some_ended);
  EXPECT_TRUE(some_waited);
}

TEST(PartialRollout, NewerWeightsGoOnWithTheirOwnDistributionAndSaySo) {
  kernels::Context ctx(1);
  const auto decoder = make_decoder(kDefault);
  Task task;
  task.sampling.ignore_eos = true;
  std::vector<UnfinishedGroup> taken;
  {
    Engine engine(ctx, *decoder, options_of(8, 64, 64));
    engine.add(task.draws[0], 2, task.sampling);
    for (int i = 0; i < 10; ++i) engine.step();
    taken = engine.take_unfinished();
  }
  Parameter& table = decoder->parameters()[0];
  for (int64_t i = 0; i < 100; ++i) table.set(i, table.get(i) + 0.5f);
  decoder->publish(ctx, 2);
  Engine engine(ctx, *decoder, options_of(8, 64, 64));
  engine.add(taken.at(0), task.sampling);
  const std::vector<Group> groups = engine.run_all();
  for (const Trajectory& t : groups.at(0).trajectories) {
    const UnfinishedSample& before = taken[0].samples[t.sample];
    std::vector<int32_t> versions(10, 1);
    versions.resize(40, 2);
    EXPECT_EQ(t.versions, versions);
    EXPECT_TRUE(std::equal(before.response_ids.begin(), before.response_ids.end(), t.response_ids.begin()));
    EXPECT_TRUE(std::equal(before.logprobs.begin(), before.logprobs.end(), t.logprobs.begin()));
    const std::vector<float> now = score(ctx, *decoder, t, 1.0f, kValid);
    EXPECT_TRUE(std::equal(now.begin() + 10, now.end(), t.logprobs.begin() + 10));
    EXPECT_FALSE(std::equal(now.begin(), now.begin() + 10, t.logprobs.begin()));
  }
}

TEST(PartialRollout, SamplesThatHaveEndedKeepTheirReasonAndALowerLimitEndsTheOthers) {
  kernels::Context ctx(1);
  const auto decoder = make_decoder(kDefault);
  const Task task;
  SamplingParams sampling = task.sampling;
  sampling.max_new_tokens = 2;
  UnfinishedGroup group{
      task.draws[0], 1.0f, {{{3}, {-1.0f}, {1}, FinishReason::end}, {{5, 6}, {-1.0f, -2.0f}, {1, 1}, {}}}};
  Engine engine(ctx, *decoder, options_of(8, 64, 64));
  engine.add(group, sampling);
  EXPECT_FALSE(engine.has_work());
  const std::vector<Group> done = engine.take_finished();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].trajectories[0].finish, FinishReason::end);
  EXPECT_EQ(done[0].trajectories[0].response_ids, std::vector<int32_t>{3});
  EXPECT_EQ(done[0].trajectories[1].finish, FinishReason::length);
  EXPECT_EQ(done[0].trajectories[1].logprobs, (std::vector<float>{-1.0f, -2.0f}));
}

TEST(PartialRollout, WhatCannotGoOnIsRefused) {
  kernels::Context ctx(1);
  const auto decoder = make_decoder(kDefault);
  const Task task;
  const auto message = [&](const UnfinishedGroup& group) {
    Engine engine(ctx, *decoder, options_of(8, 64, 64));
    try {
      engine.add(group, task.sampling);
    } catch (const Error& error) {
      EXPECT_FALSE(engine.has_work());
      return std::string(error.what());
    }
    return std::string("goes on");
  };
  UnfinishedGroup group{task.draws[0], 1.0f, {{{5}, {-1.0f}, {1}, {}}}};
  EXPECT_EQ(message(group), "goes on");
  group.temperature = 0.5f;
  EXPECT_NE(message(group).find("begun at temperature 0.5, and would go on at 1"), std::string::npos);
  group.temperature = 1.0f;
  group.samples[0].response_ids[0] = kValid;
  EXPECT_NE(message(group).find("has token 33, the tokenizer knows 33"), std::string::npos);
}

TEST(PartialRollout, OneSampleCanBeAborted) {
  kernels::Context ctx(1);
  const auto decoder = make_decoder(kDefault);
  Task task;
  task.sampling.ignore_eos = true;
  Engine engine(ctx, *decoder, options_of(3, 64, 64));
  engine.add(task.draws[0], 4, task.sampling);
  for (int i = 0; i < 3; ++i) engine.step();
  EXPECT_TRUE(engine.abort(task.draws[0].draw, 1));   // runs
  EXPECT_TRUE(engine.abort(task.draws[0].draw, 3));   // waits
  EXPECT_FALSE(engine.abort(task.draws[0].draw, 1));  // has ended
  EXPECT_FALSE(engine.abort(task.draws[1].draw, 0));  // is not in flight
  EXPECT_EQ(engine.num_running(), 2);
  EXPECT_EQ(engine.num_waiting(), 0);
  const std::vector<Group> groups = engine.run_all();
  ASSERT_EQ(groups.size(), 1u);
  const std::vector<size_t> lengths{40, 3, 40, 0};
  for (const Trajectory& t : groups[0].trajectories) {
    EXPECT_EQ(t.response_ids.size(), lengths[t.sample]);
    EXPECT_EQ(t.finish, t.sample % 2 == 0 ? FinishReason::length : FinishReason::aborted);
  }
}

}  // namespace
}  // namespace hone::engine_test
