// Requests and their answers: how they end, what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "rollout/engine_test_cases.h"

namespace hone::engine_test {
namespace {

TEST(Engine, AnyEndIdEndsAnAnswerAndIsItsLastId) {
  const auto decoder = make_decoder(kDefault);
  Task task;
  std::set<int32_t> last_ids;
  int64_t num_cut = 0;
  for (const Group& group : run(kDefault, *decoder, task, {options_of(64, 64, 64)})) {
    for (const Trajectory& t : group.trajectories) {
      EXPECT_EQ(t.logprobs.size(), t.response_ids.size());
      EXPECT_EQ(t.versions, std::vector<int32_t>(t.response_ids.size(), 1));
      EXPECT_EQ(t.prompt_ids, group.drawn.prompt->ids);
      const auto is_end = [](int32_t id) { return id == 3 || id == 9; };
      const int64_t num_ends = std::count_if(t.response_ids.begin(), t.response_ids.end(), is_end);
      if (t.finish == FinishReason::end) {
        EXPECT_EQ(num_ends, 1);
        EXPECT_TRUE(is_end(t.response_ids.back()));
        last_ids.insert(t.response_ids.back());
      } else {
        EXPECT_EQ(t.finish, FinishReason::length);
        EXPECT_EQ(num_ends, 0);
        EXPECT_EQ(t.response_ids.size(), 40u);
        ++num_cut;
      }
      for (int32_t id : t.response_ids) EXPECT_LT(id, kValid);
    }
  }
  EXPECT_EQ(last_ids.size(), 2u);
  EXPECT_GT(num_cut, 0);

  task.sampling.ignore_eos = true;
  for (const Group& group : run(kDefault, *decoder, task, {options_of(64, 64, 64)})) {
    for (const Trajectory& t : group.trajectories) {
      EXPECT_EQ(t.response_ids.size(), 40u);
      EXPECT_EQ(t.finish, FinishReason::length);
    }
  }
}

TEST(Engine, ShortAnswersAreAnswers) {
  const auto decoder = make_decoder(kDefault);
  kernels::Context ctx(1);
  Task task;
  Engine engine(ctx, *decoder, options_of(8, 64, 64));
  task.sampling.max_new_tokens = 0;
  engine.add(task.draws[0], 3, task.sampling);
  EXPECT_FALSE(engine.step());
  task.sampling.max_new_tokens = 1;
  engine.add(task.draws[1], 2, task.sampling);
  for (int32_t id = 0; id < kValid; ++id) task.sampling.end_ids.push_back(id);
  engine.add(task.draws[2], 2, task.sampling);
  const std::vector<Group> groups = engine.run_all();
  ASSERT_EQ(groups.size(), 3u);
  for (const Trajectory& t : groups[0].trajectories) {
    EXPECT_TRUE(t.response_ids.empty() && t.logprobs.empty());
    EXPECT_EQ(t.finish, FinishReason::length);
  }
  for (const Trajectory& t : groups[2].trajectories) {
    EXPECT_EQ(t.response_ids.size(), 1u);
    EXPECT_EQ(t.finish, FinishReason::end);
  }
  EXPECT_EQ(engine.stats().num_generated, 4);
  EXPECT_EQ(engine.stats().num_prefilled, 1 + 70);
}

TEST(Engine, GreedyTakesTheHighestLogitWhateverTheSeed) {
  const auto decoder = make_decoder(kDefault);
  Task task;
  task.sampling.temperature = 0;
  const std::vector<Group> first = run(kDefault, *decoder, task, {options_of(8, 64, 64)});
  task.sampling.key = {12, Stream::validation};
  expect_same(run(kDefault, *decoder, task, {options_of(8, 64, 64)}), first);
  for (const Group& group : first) {
    for (const Trajectory& t : group.trajectories) EXPECT_EQ(t.response_ids, group.trajectories[0].response_ids);
  }
}

TEST(Engine, AnAbortedGroupKeepsWhatItHasAndGivesItsBlocksBack) {
  const auto decoder = make_decoder(kDefault);
  kernels::Context ctx(1);
  Task task;
  task.sampling.ignore_eos = true;
  Engine engine(ctx, *decoder, options_of(3, 64, 64));
  engine.add(task.draws[0], 4, task.sampling);
  engine.add(task.draws[1], 2, task.sampling);
  for (int i = 0; i < 3; ++i) engine.step();
  EXPECT_TRUE(engine.abort(task.draws[0].draw));
  EXPECT_FALSE(engine.abort(task.draws[0].draw));
  const std::vector<Group> aborted = engine.take_finished();
  ASSERT_EQ(aborted.size(), 1u);
  EXPECT_EQ(aborted[0].trajectories[0].response_ids.size(), 3u);
  EXPECT_EQ(aborted[0].trajectories[3].response_ids.size(), 0u);
  EXPECT_EQ(aborted[0].trajectories[0].finish, FinishReason::aborted);
  EXPECT_EQ(engine.num_running(), 0);
  EXPECT_EQ(engine.run_all().size(), 1u);
}

TEST(Engine, WhatCannotFitIsRefusedWithTheSizes) {
  const auto decoder = make_decoder(kDefault);
  kernels::Context ctx(1);
  const Task task;
  const auto message = [&](const EngineOptions& options, const DrawnPrompt& drawn, int64_t max_new) {
    SamplingParams sampling = task.sampling;
    sampling.max_new_tokens = max_new;
    try {
      Engine(ctx, *decoder, options).add(drawn, 1, sampling);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("fits");
  };
  EXPECT_EQ(message(options_of(8, 64, 3), task.draws[2], 27), "fits");  // 96 of the 97 ids are computed
  EXPECT_NE(message(options_of(8, 64, 3), task.draws[2], 28).find("need 4 blocks of the KV cache, which has 3"),
            std::string::npos);
  EXPECT_NE(message(options_of(8, 64, 64, false), task.draws[2], 1).find("exceed max_num_batched_tokens, 64"),
            std::string::npos);
  EXPECT_NE(message(options_of(8, 64, 64), task.draws[2], 443).find("512 positions"), std::string::npos);
  const Prompt empty,
      foreign{.ids = {1, kVocab}, .text = "", .data_source = "", .ground_truth = "", .file = "a.jsonl", .line = 4};
  EXPECT_NE(message(options_of(8, 64, 64), {&empty, 5}, 1).find("prompt 5: the prompt has no tokens"),
            std::string::npos);
  EXPECT_NE(message(options_of(8, 64, 64), {&foreign, 5}, 1).find("a.jsonl:4: the prompt has token 37"),
            std::string::npos);
  EXPECT_NE(message(options_of(8, 64, 0), task.draws[0], 1).find("num_kv_blocks 0; each must be at least 1"),
            std::string::npos);
}

TEST(Engine, LogitsThatAreNotFiniteStopTheRun) {
  kernels::Context ctx(1);
  const auto decoder = make_decoder(kDefault);
  decoder->parameters().back().set(0, std::nanf(""));
  decoder->publish(ctx, 2);
  const Task task;
  try {
    run(kDefault, *decoder, task, {options_of(8, 64, 64)});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 4);
  }
}

}  // namespace
}  // namespace hone::engine_test
