// Laws 1 and 2 at the engine: what changes no bit of an answer, and what does.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "rollout/engine_test_cases.h"

namespace hone::engine_test {
namespace {

TEST(Engine, SettingsNeverChangeAnAnswerOrABitOfItsLogprobs) {
  for (const Mode& mode : modes()) {
    const auto decoder = make_decoder(mode);
    Task task;
    task.sampling.max_new_tokens = 80;
    task.sampling.end_ids = {3};
    const std::vector<Group> expected = run(mode, *decoder, task, {options_of(1, 4096, 64, true, false, false)});
    int64_t preemptions = 0;
    for (const Setting& setting : std::vector<Setting>{
             {options_of(8, 4096, 64)},
             {options_of(64, 4096, 256)},
             {options_of(64, 4096, 256, true, false, false)},
             {options_of(64, 4096, 256, true, true, false)},
             {options_of(64, 4096, 256, false)},
             {options_of(64, 1, 256)},
             {options_of(64, 2, 256)},
             {options_of(64, 7, 256)},
             {options_of(8, 33, 64)},
             {options_of(64, 64, 256)},
             {options_of(64, 64, 5)},
             {options_of(8, 16, 5, true, false)},
             {options_of(8, 16, 5, true, false, false)},
             {options_of(64, 4096, 6)},
             {options_of(3, 150, 7, false)},
         }) {
      SCOPED_TRACE(fmt::format("{} {} seqs {} budget {} blocks {} chunked {} sharing {} caching {}", mode.target->name,
                               name(mode.dtype), setting.options.max_num_seqs, setting.options.max_num_batched_tokens,
                               setting.options.num_kv_blocks, setting.options.enable_chunked_prefill,
                               setting.options.enable_prefix_sharing, setting.options.enable_prefix_caching));
      EngineStats stats;
      expect_same(run(mode, *decoder, task, setting, &stats), expected);
      if (testing::Test::HasFatalFailure()) return;
      preemptions += stats.num_preemptions;
    }
    EXPECT_GT(preemptions, 3);
  }
}

TEST(Engine, ThreadsNeverChangeAnAnswerOrABitOfItsLogprobs) {
  for (DType dtype : {DType::f32, DType::bf16}) {
    const Mode mode{kDefault.target, dtype};
    const auto decoder = make_decoder(mode);
    Task task;
    task.sampling.max_new_tokens = 12;
    const std::vector<Group> expected = run(mode, *decoder, task, {options_of(8, 64, 64), 1});
    for (int num_threads : {2, 4})
      expect_same(run(mode, *decoder, task, {options_of(64, 50, 8), num_threads}), expected);
  }
}

TEST(Engine, OneForwardOfTheWholeSequenceGivesTheSameLogprobBits) {
  for (const Mode& mode : modes()) {
    kernels::Context ctx(1, *mode.target);
    const auto decoder = make_decoder(mode);
    Task task;
    Engine engine(ctx, *decoder, options_of(8, 40, 12));
    for (const DrawnPrompt& drawn : task.draws) {  // one batch of three temperatures
      task.sampling.temperature = std::array{1.0f, 0.6f, 0.0f}[drawn.draw % 3];
      engine.add(drawn, Task::num_samples(drawn.draw), task.sampling);
    }
    for (const Group& group : engine.run_all()) {
      for (const Trajectory& t : group.trajectories) {
        EXPECT_EQ(t.temperature, (std::array{1.0f, 0.6f, 0.0f}[t.draw % 3]));
        EXPECT_EQ(t.logprobs, score(ctx, *decoder, t, t.temperature > 0 ? t.temperature : 1.0f, kValid));
      }
    }
  }
}

TEST(Engine, AWeightThatDiffersInItsLastBitShows) {
  kernels::Context ctx(1);
  const auto decoder = make_decoder(kDefault);
  const Task task;
  const std::vector<Group> groups = run(kDefault, *decoder, task, {options_of(8, 64, 64)});
  Parameter& weights = decoder->parameters()[3];
  weights.set(5, std::nextafter(weights.get(5), 10.0f));
  decoder->publish(ctx, 2);
  EXPECT_NE(groups[0].trajectories[0].logprobs, score(ctx, *decoder, groups[0].trajectories[0], 1.0f, kValid));
}

TEST(Engine, TheSamePromptTwiceGivesTwoGroupsWithDifferentSamples) {
  const auto decoder = make_decoder(kDefault);
  const Task task;
  kernels::Context ctx(1);
  const auto sample = [&](const std::vector<uint64_t>& draws) {
    Engine engine(ctx, *decoder, options_of(8, 64, 64));
    for (uint64_t draw : draws) engine.add({&task.prompts[draw == 1 ? 2 : 0], draw}, 4, task.sampling);
    return engine.run_all();
  };
  const std::vector<Group> both = sample({7, 8}), alone = sample({8}), others = sample({1, 8, 9});
  std::set<std::vector<int32_t>> answers;
  for (const Group& group : both) {
    for (const Trajectory& t : group.trajectories) answers.insert(t.response_ids);
  }
  EXPECT_EQ(answers.size(), 8u);
  expect_same({both[1]}, alone);
  expect_same({others[1]}, alone);
}

TEST(Engine, NewWeightsBetweenStepsAreUsedByEveryLaterDraw) {
  kernels::Context ctx(1);
  const auto decoder = make_decoder(kDefault);
  Task task;
  task.sampling.ignore_eos = true;
  Engine engine(ctx, *decoder, options_of(8, 64, 64));
  engine.add(task.draws[0], 2, task.sampling);
  for (int i = 0; i < 10; ++i) engine.step();
  Parameter& table = decoder->parameters()[0];
  for (int64_t i = 0; i < 100; ++i) table.set(i, table.get(i) + 0.5f);
  decoder->publish(ctx, 2);
  const Trajectory t = engine.run_all().at(0).trajectories.at(0);
  const auto first_new = std::find(t.versions.begin(), t.versions.end(), 2) - t.versions.begin();
  EXPECT_EQ(first_new, 10);
  const std::vector<float> now = score(ctx, *decoder, t, 1.0f, kValid);
  EXPECT_TRUE(std::equal(now.begin() + first_new, now.end(), t.logprobs.begin() + first_new));
  EXPECT_FALSE(std::equal(now.begin(), now.begin() + first_new, t.logprobs.begin()));
}

TEST(Engine, SmallLogitBuffersChangeNothing) {
  const auto decoder = make_decoder(kDefault);
  const Task task;
  EngineOptions options = options_of(64, 256, 64);
  const std::vector<Group> expected = run(kDefault, *decoder, task, {options});
  for (int64_t bytes : {1, 4 * 3 * static_cast<int>(kVocab)}) {
    options.logits_bytes = bytes;
    expect_same(run(kDefault, *decoder, task, {options}), expected);
  }
}

}  // namespace
}  // namespace hone::engine_test
