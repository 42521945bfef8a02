#include "rollout/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <set>

namespace hone {
namespace {

constexpr int64_t kVocab = 37, kValid = 33;

ModelConfig tiny_config() {
  ModelConfig config;
  config.vocab_size = kVocab;
  config.hidden_size = 32;
  config.intermediate_size = 48;
  config.num_layers = 2;
  config.num_heads = 4;
  config.num_kv_heads = 2;
  config.head_dim = 16;
  config.max_position_embeddings = 512;
  config.initializer_range = 0.3f;  // so that the distributions are not flat
  config.tie_word_embeddings = true;
  return config;
}

struct Mode {
  const kernels::cpu::Target* target;
  DType dtype;
};
// Every instruction set of this processor in both dtypes.
std::vector<Mode> modes() {
  std::vector<Mode> all;
  for (const kernels::cpu::Target& target : kernels::cpu::all_targets()) {
    if (!target.supported()) continue;
    for (DType dtype : {DType::f32, DType::bf16}) all.push_back({&target, dtype});
  }
  return all;
}
const Mode kDefault{&kernels::cpu::default_target(), DType::f32};

// Six prompts of 1 to 70 ids; the first and the last are the same. Group sizes 1 to 5.
struct Task {
  std::deque<Prompt> prompts;
  std::vector<DrawnPrompt> draws;
  SamplingParams sampling;

  Task() {
    int32_t next = 5;
    for (int64_t length : {33, 1, 70, 2, 32, 33}) {
      Prompt& prompt = prompts.emplace_back();
      for (int64_t i = 0; i < length; ++i) prompt.ids.push_back(next = (next * 7 + 11) % static_cast<int32_t>(kValid));
    }
    prompts.back().ids = prompts.front().ids;
    for (uint64_t draw = 0; draw < prompts.size(); ++draw) draws.push_back({&prompts[draw], 100 + draw});
    sampling.max_new_tokens = 40;
    sampling.end_ids = {3, 9};
    sampling.key = {11, Stream::train};
    sampling.valid_vocab = kValid;
  }
  static int num_samples(uint64_t draw) { return 1 + static_cast<int>((draw * 3) % 5); }
};

struct Setting {
  EngineOptions options;
  int num_threads = 1;
};

std::unique_ptr<Decoder> make_decoder(const Mode& mode) {
  kernels::Context ctx(1, *mode.target);
  auto decoder = std::make_unique<Decoder>(tiny_config(), mode.dtype);
  decoder->initialize(1);
  decoder->publish(ctx, 1);
  return decoder;
}

// Every answer of the task, and what it took.
std::vector<Group> run(const Mode& mode, const Decoder& decoder, const Task& task, const Setting& setting,
                       EngineStats* stats = nullptr) {
  kernels::Context ctx(setting.num_threads, *mode.target);
  Engine engine(ctx, decoder, setting.options);
  for (const DrawnPrompt& drawn : task.draws) engine.add(drawn, Task::num_samples(drawn.draw), task.sampling);
  std::vector<Group> groups = engine.run_all();
  if (stats != nullptr) *stats = engine.stats();
  return groups;
}

EngineOptions options_of(int64_t seqs, int64_t budget, int64_t num_blocks, bool chunked = true, bool sharing = true) {
  EngineOptions options;
  options.max_num_seqs = seqs;
  options.max_num_batched_tokens = budget;
  options.num_kv_blocks = num_blocks;
  options.enable_chunked_prefill = chunked;
  options.enable_prefix_sharing = sharing;
  return options;
}

void expect_same(const std::vector<Group>& groups, const std::vector<Group>& expected) {
  ASSERT_EQ(groups.size(), expected.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    ASSERT_EQ(groups[g].drawn.draw, expected[g].drawn.draw);
    ASSERT_EQ(groups[g].trajectories.size(), expected[g].trajectories.size());
    for (size_t k = 0; k < groups[g].trajectories.size(); ++k) {
      const Trajectory &a = groups[g].trajectories[k], &b = expected[g].trajectories[k];
      SCOPED_TRACE(fmt::format("draw {} sample {}", a.draw, k));
      ASSERT_EQ(a.sample, k);
      ASSERT_EQ(a.response_ids, b.response_ids);
      ASSERT_EQ(a.logprobs, b.logprobs);  // finite: equal means the same bits (but for the sign of 0)
      ASSERT_EQ(a.versions, b.versions);
      ASSERT_EQ(a.finish, b.finish);
    }
  }
}

// Log-probs of an answer by one forward of the whole sequence, as training computes them.
std::vector<float> score(kernels::Context& ctx, const Decoder& decoder, const Trajectory& t, float temperature,
                         int64_t valid_vocab) {
  ForwardBatch batch;
  batch.ids = t.prompt_ids;
  batch.ids.insert(batch.ids.end(), t.response_ids.begin(), t.response_ids.end());
  batch.ids.pop_back();
  const int64_t T = batch.num_tokens(), R = static_cast<int64_t>(t.response_ids.size());
  for (int32_t i = 0; i < T; ++i) {
    batch.positions.push_back(i);
    batch.slots.push_back(i);
  }
  for (int64_t r = 0; r < R; ++r) batch.logit_rows.push_back(static_cast<int32_t>(T - R + r));
  batch.cu_seqlens = {0, static_cast<int32_t>(T)};
  batch.context_lens = {static_cast<int32_t>(T)};
  batch.max_blocks = (T + kernels::kKvBlock - 1) / kernels::kKvBlock;
  for (int32_t b = 0; b < batch.max_blocks; ++b) batch.block_table.push_back(b);

  KvCache kv(decoder.config(), decoder.dtype(), batch.max_blocks);
  Arena::Scope scope(ctx.scratch);
  ComputeView y_RD = ctx.scratch.take(decoder.dtype(), R, decoder.config().hidden_size);
  View<float> logits_RV = ctx.scratch.take<float>(R, kVocab);
  decoder.forward(ctx, batch, kv, y_RD);
  decoder.logits(ctx, logits_RV, y_RD);
  std::vector<float> logprobs(static_cast<size_t>(R)), entropy(logprobs), lse(logprobs);
  kernels::logprob_forward(ctx, {{logprobs.data(), R}, {entropy.data(), R}, {lse.data(), R}}, logits_RV, t.response_ids,
                           temperature, valid_vocab);
  return logprobs;
}

TEST(Engine, SettingsNeverChangeAnAnswerOrABitOfItsLogprobs) {
  for (const Mode& mode : modes()) {
    const auto decoder = make_decoder(mode);
    Task task;
    task.sampling.max_new_tokens = 80;
    task.sampling.end_ids = {3};
    const std::vector<Group> expected = run(mode, *decoder, task, {options_of(1, 4096, 64, true, false)});
    int64_t preemptions = 0;
    for (const Setting& setting : std::vector<Setting>{
             {options_of(8, 4096, 64)},
             {options_of(64, 4096, 256)},
             {options_of(64, 4096, 256, true, false)},
             {options_of(64, 4096, 256, false)},
             {options_of(64, 1, 256)},
             {options_of(64, 2, 256)},
             {options_of(64, 7, 256)},
             {options_of(8, 33, 64)},
             {options_of(64, 64, 256)},
             {options_of(64, 64, 5)},
             {options_of(8, 16, 5, true, false)},
             {options_of(64, 4096, 6)},
             {options_of(3, 150, 7, false)},
         }) {
      SCOPED_TRACE(fmt::format("{} {} seqs {} budget {} blocks {} chunked {} sharing {}", mode.target->name,
                               name(mode.dtype), setting.options.max_num_seqs, setting.options.max_num_batched_tokens,
                               setting.options.num_kv_blocks, setting.options.enable_chunked_prefill,
                               setting.options.enable_prefix_sharing));
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
  float& weight = decoder->parameters()[3].master()[5];
  weight = std::nextafter(weight, 10.0f);
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

TEST(Engine, NewWeightsBetweenStepsAreUsedByEveryLaterDraw) {
  kernels::Context ctx(1);
  const auto decoder = make_decoder(kDefault);
  Task task;
  task.sampling.ignore_eos = true;
  Engine engine(ctx, *decoder, options_of(8, 64, 64));
  engine.add(task.draws[0], 2, task.sampling);
  for (int i = 0; i < 10; ++i) engine.step();
  for (float& w : std::span(decoder->parameters()[0].master().data, 100)) w += 0.5f;
  decoder->publish(ctx, 2);
  const Trajectory t = engine.run_all().at(0).trajectories.at(0);
  const auto first_new = std::find(t.versions.begin(), t.versions.end(), 2) - t.versions.begin();
  EXPECT_EQ(first_new, 10);
  const std::vector<float> now = score(ctx, *decoder, t, 1.0f, kValid);
  EXPECT_TRUE(std::equal(now.begin() + first_new, now.end(), t.logprobs.begin() + first_new));
  EXPECT_FALSE(std::equal(now.begin(), now.begin() + first_new, t.logprobs.begin()));
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
  EngineOptions small;
  small.kv_bytes = 100;
  EXPECT_NE(message(small, task.draws[0], 1).find("100 bytes holds no block"), std::string::npos);
}

TEST(Engine, LogitsThatAreNotFiniteStopTheRun) {
  kernels::Context ctx(1);
  const auto decoder = make_decoder(kDefault);
  decoder->parameters().back().master()[0] = std::nanf("");
  decoder->publish(ctx, 2);
  const Task task;
  try {
    run(kDefault, *decoder, task, {options_of(8, 64, 64)});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 4);
  }
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
}  // namespace hone
