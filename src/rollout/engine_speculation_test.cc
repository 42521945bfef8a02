// Speculation at the engine: it changes no bit of an answer, and what it saves.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "rollout/engine_test_cases.h"

namespace hone::engine_test {
namespace {

// Rows beyond the first cost nothing: everything that is proposed is computed.
SpeculationOptions always() {
  SpeculationOptions options;
  options.cost = {{1, 1.0}};
  return options;
}

// Temperatures from greedy, which repeats itself, to random.
std::vector<Group> run_mixed(const Mode& mode, const Decoder& decoder, Task task, const EngineOptions& options,
                             EngineStats* stats = nullptr, SpeculationStats* speculation = nullptr) {
  kernels::Context ctx(1, *mode.target);
  Engine engine(ctx, decoder, options);
  for (const DrawnPrompt& drawn : task.draws) {
    task.sampling.temperature = std::array{0.0f, 0.3f, 1.0f}[drawn.draw % 3];
    engine.add(drawn, Task::num_samples(drawn.draw), task.sampling);
  }
  std::vector<Group> groups = engine.run_all();
  if (stats != nullptr) *stats = engine.stats();
  if (speculation != nullptr) *speculation = engine.speculation_stats();
  return groups;
}

Task long_task() {
  Task task;
  task.sampling.max_new_tokens = 50;
  task.sampling.end_ids = {3, 17};
  return task;
}

int64_t ids_of(const std::vector<Group>& groups) {
  size_t ids = 0;
  for (const Group& group : groups) {
    for (const Trajectory& t : group.trajectories) ids += t.response_ids.size();
  }
  return static_cast<int64_t>(ids);
}

TEST(Speculation, NeverChangesAnAnswerOrABitOfItsLogprobsInRandomCombinations) {
  const Task task = long_task();
  const auto pick = [](uint32_t draw, uint32_t what, std::initializer_list<int64_t> values) {
    return *(values.begin() + random_below({9, Stream::test}, draw, 0, what, static_cast<uint32_t>(values.size())));
  };
  SpeculationStats all;
  int64_t preemptions = 0;
  uint32_t combination = 0;
  for (const Mode& mode : modes()) {
    const auto decoder = make_decoder(mode);
    const std::vector<Group> expected = run_mixed(mode, *decoder, task, options_of(1, 4096, 64, true, false));
    for (int i = 0; i < 4; ++i, ++combination) {
      const auto of = [&](uint32_t what, std::initializer_list<int64_t> values) {
        return pick(combination, what, values);
      };
      EngineOptions options = options_of(of(0, {1, 3, 8, 64}), of(1, {2, 7, 33, 150, 4096}), of(2, {5, 7, 12, 256}));
      options.enable_chunked_prefill = options.max_num_batched_tokens < 150 || of(3, {0, 1}) == 1;
      options.enable_prefix_sharing = of(4, {0, 1}) == 1;
      options.logits_bytes = of(5, {1, 64 << 20});
      options.speculation = always();
      options.speculation->num_speculative_tokens = of(6, {1, 3, 8, 40});
      options.speculation->from_group = of(7, {0, 1}) == 1;
      options.speculation->disable_by_batch_size = of(8, {0, 2});
      SCOPED_TRACE(fmt::format("{} {} combination {}", mode.target->name, name(mode.dtype), combination));
      EngineStats stats;
      SpeculationStats speculation;
      expect_same(run_mixed(mode, *decoder, task, options, &stats, &speculation), expected);
      if (testing::Test::HasFatalFailure()) return;
      preemptions += stats.num_preemptions;
      all.predict_times += speculation.predict_times;
      all.effective_times += speculation.effective_times;
      all.num_drafts += speculation.num_drafts;
      all.total_right_length += speculation.total_right_length;
      EXPECT_EQ(stats.num_generated, ids_of(expected));
    }
  }
  EXPECT_GT(preemptions, 2);
  EXPECT_GT(all.total_right_length, 100);
  EXPECT_GT(all.num_drafts, all.total_right_length + 100);  // drafts that were wrong are met as well
  EXPECT_GT(all.predict_times, all.effective_times);
}

// Answers repeat six ids; each sample has an end id (9) at an index of its own.
int32_t period(uint64_t, uint32_t sample, int64_t index) {
  return index == 20 + 3 * sample ? 9 : 10 + static_cast<int32_t>(index % 6);
}

TEST(Speculation, AnAnswerEndsAtItsEndIdInsideADraftAndAtItsLimit) {
  const auto decoder = make_decoder(kDefault);
  kernels::Context ctx(1);
  for (int64_t limit : {1, 2, 7, 24, 25, 40}) {
    Task task;
    task.sampling.max_new_tokens = limit;

    EngineOptions options = options_of(8, 512, 64);
    options.forced_id = period;
    options.speculation = always();
    for (const std::vector<int32_t>& end_ids : {std::vector<int32_t>{9}, std::vector<int32_t>{9, 15, 12}}) {
      task.sampling.end_ids = end_ids;
      Engine engine(ctx, *decoder, options);
      engine.add(task.draws[0], 5, task.sampling);
      const std::vector<Group> groups = engine.run_all();
      for (const Trajectory& t : groups.at(0).trajectories) {
        const int64_t end = end_ids.size() == 1 ? 20 + 3 * t.sample : 2;
        ASSERT_EQ(static_cast<int64_t>(t.response_ids.size()), std::min(limit, end + 1));
        EXPECT_EQ(t.finish, end < limit ? FinishReason::end : FinishReason::length);
        for (size_t i = 0; i < t.response_ids.size(); ++i) {
          EXPECT_EQ(t.response_ids[i], period(0, t.sample, static_cast<int64_t>(i)));
        }
        EXPECT_EQ(t.logprobs.size(), t.response_ids.size());
        EXPECT_EQ(t.versions.size(), t.response_ids.size());
      }
    }
  }
}

// Steps and drafts for two groups whose answers have the ids that `forced` says.
struct Outcome {
  EngineStats engine;
  SpeculationStats speculation;
};
Outcome run_forced(const std::function<int32_t(uint64_t, uint32_t, int64_t)>& forced,
                   const SpeculationOptions& speculation, int num_times = 1, int64_t limit = 60,
                   int64_t max_num_seqs = 8) {
  const auto decoder = make_decoder(kDefault);
  kernels::Context ctx(1);
  Task task;
  task.sampling.max_new_tokens = limit;
  task.sampling.ignore_eos = true;
  EngineOptions options = options_of(max_num_seqs, 512, 64);
  options.forced_id = forced;
  options.speculation = speculation;
  Engine engine(ctx, *decoder, options);
  Outcome run;
  for (int time = 0; time < num_times; ++time) {
    const EngineStats before = engine.stats();
    const SpeculationStats spoken = engine.speculation_stats();
    engine.add(task.draws[1], 3, task.sampling);  // a prompt of one id
    engine.run_all();
    run = {engine.stats(), engine.speculation_stats()};
    run.engine.num_steps -= before.num_steps;
    run.speculation.num_drafts -= spoken.num_drafts;
    run.speculation.total_right_length -= spoken.total_right_length;
  }
  return run;
}

// No id of an answer comes twice; samples of a group have the same ones, or not.
int32_t same_for_all(uint64_t, uint32_t, int64_t index) { return static_cast<int32_t>(index * 7 % 31); }

TEST(Speculation, ItsOwnTextSavesStepsWhereItRepeats) {
  SpeculationOptions own = always();
  own.from_group = own.from_history = false;
  const Outcome run = run_forced(period, own);
  EXPECT_LT(run.engine.num_steps, 20);
  EXPECT_GT(run.speculation.total_right_length, 120);
}

TEST(Speculation, TheGroupsAnswersSaveStepsForThoseThatComeLater) {
  SpeculationOptions own = always();
  own.from_group = own.from_history = false;
  SpeculationOptions group = own;
  group.from_group = true;
  const Outcome alone = run_forced(same_for_all, own, 1, 30, 1), together = run_forced(same_for_all, group, 1, 30, 1);
  EXPECT_EQ(alone.engine.num_steps, 90);
  EXPECT_LT(together.engine.num_steps, 50);
}

TEST(Speculation, EarlierAnswersToThePromptSaveStepsTheNextTime) {
  const auto unlike = [](uint64_t, uint32_t sample, int64_t index) {
    return static_cast<int32_t>((index * 7 + 11 * sample * index) % 31);
  };
  SpeculationOptions with = always();
  with.from_group = false;
  SpeculationOptions without = with;
  without.from_history = false;
  const Outcome second = run_forced(unlike, with, 2), never = run_forced(unlike, without, 2);
  EXPECT_LT(2 * second.engine.num_steps, never.engine.num_steps);
}

TEST(Speculation, NothingIsDraftedWhereRowsCostAsMuchAsStepsOrAboveTheBatchSize) {
  SpeculationOptions dear = always();
  dear.cost = {{1, 1.0}, {2, 2.0}};
  EXPECT_EQ(run_forced(period, dear).speculation.num_drafts, 0);
  SpeculationOptions few = always();
  few.disable_by_batch_size = 2;  // three samples run side by side to the same length
  EXPECT_EQ(run_forced(same_for_all, few).speculation.num_drafts, 0);
  few.disable_by_batch_size = 3;
  EXPECT_GT(run_forced(period, few).speculation.num_drafts, 0);
}

TEST(Speculation, CostsAreMeasuredBeforeTheFirstStepWhereNoneAreGiven) {
  const auto decoder = make_decoder(kDefault);
  kernels::Context ctx(1);
  const Task task;
  const std::vector<Group> expected = run(kDefault, *decoder, task, {options_of(8, 64, 64)});
  EngineOptions options = options_of(8, 64, 64);
  options.speculation = SpeculationOptions();
  Engine engine(ctx, *decoder, options);
  EXPECT_FALSE(engine.speculation_state().has_value());
  for (const DrawnPrompt& drawn : task.draws) engine.add(drawn, Task::num_samples(drawn.draw), task.sampling);
  expect_same(engine.run_all(), expected);
  const std::vector<CostPoint> cost = engine.speculation_state().value().cost;
  ASSERT_GT(cost.size(), 3u);
  EXPECT_EQ(cost.front().rows, 1);
  EXPECT_EQ(cost.back().rows, 64);  // of max_num_batched_tokens
}

TEST(Speculation, AnEngineThatGoesOnFromASavedStateDecidesAsTheOneThatSavedIt) {
  const auto decoder = make_decoder(kDefault);
  kernels::Context ctx(1);
  const Task task = long_task();
  EngineOptions options = options_of(8, 512, 64);
  options.speculation = always();
  options.speculation->cost = {{1, 1.0}, {8, 1.2}, {16, 2.0}, {64, 7.0}};
  const auto half = [&](Engine& engine) {
    for (const DrawnPrompt& drawn : task.draws) engine.add(drawn, 2, task.sampling);
    engine.run_all();
  };
  Engine whole(ctx, *decoder, options);
  half(whole);
  const SpeculationState saved = whole.speculation_state().value();
  const EngineStats steps = whole.stats();
  const SpeculationStats spoken = whole.speculation_stats();
  half(whole);

  options.speculation->cost = {{1, 1.0}};
  Engine resumed(ctx, *decoder, options), fresh(ctx, *decoder, options);
  resumed.restore_speculation(saved);
  half(resumed);
  half(fresh);
  EXPECT_EQ(resumed.stats().num_steps, whole.stats().num_steps - steps.num_steps);
  EXPECT_EQ(resumed.speculation_stats().num_drafts, whole.speculation_stats().num_drafts - spoken.num_drafts);
  EXPECT_NE(fresh.stats().num_steps, resumed.stats().num_steps);
  EXPECT_EQ(resumed.speculation_state(), whole.speculation_state());

  SpeculationState foreign = saved;
  foreign.answers.push_back({{1}, {{static_cast<int32_t>(kVocab)}}});
  EXPECT_THROW(resumed.restore_speculation(foreign), Error);
}

}  // namespace
}  // namespace hone::engine_test
