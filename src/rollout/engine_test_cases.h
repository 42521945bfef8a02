// What the tests of the engine share: a tiny model, prompts to answer, and what two runs must agree in.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "models/tiny_config.h"
#include "rollout/engine.h"

namespace hone::engine_test {

constexpr int64_t kVocab = 37, kValid = 33;

struct Mode {
  const kernels::cpu::Target* target;
  DType dtype;
};
// Every instruction set of this processor in both dtypes.
inline std::vector<Mode> modes() {
  std::vector<Mode> all;
  for (const kernels::cpu::Target& target : kernels::cpu::all_targets()) {
    if (!target.supported()) continue;
    for (DType dtype : {DType::f32, DType::bf16}) all.push_back({&target, dtype});
  }
  return all;
}
inline const Mode kDefault{&kernels::cpu::default_target(), DType::f32};

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

inline std::unique_ptr<Decoder> make_decoder(const Mode& mode) {
  kernels::Context ctx(1, *mode.target);
  ModelConfig config = tiny_model_config(kVocab, 16);
  config.hidden_size = 32;  // answers then run to their limit and end on end ids alike
  config.intermediate_size = 48;
  auto decoder = std::make_unique<Decoder>(config, mode.dtype);
  decoder->initialize(1);
  decoder->publish(ctx, 1);
  return decoder;
}

// Every answer of the task, and what it took.
inline std::vector<Group> run(const Mode& mode, const Decoder& decoder, const Task& task, const Setting& setting,
                              EngineStats* stats = nullptr) {
  kernels::Context ctx(setting.num_threads, *mode.target);
  Engine engine(ctx, decoder, setting.options);
  for (const DrawnPrompt& drawn : task.draws) engine.add(drawn, Task::num_samples(drawn.draw), task.sampling);
  std::vector<Group> groups = engine.run_all();
  if (stats != nullptr) *stats = engine.stats();
  return groups;
}

inline EngineOptions options_of(int64_t seqs, int64_t budget, int64_t num_blocks, bool chunked = true,
                                bool sharing = true, bool caching = true) {
  EngineOptions options;
  options.max_num_seqs = seqs;
  options.max_num_batched_tokens = budget;
  options.num_kv_blocks = num_blocks;
  options.enable_chunked_prefill = chunked;
  options.enable_prefix_sharing = sharing;
  options.enable_prefix_caching = caching;
  return options;
}

inline void expect_same(const std::vector<Group>& groups, const std::vector<Group>& expected) {
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
inline std::vector<float> score(kernels::Context& ctx, const Decoder& decoder, const Trajectory& t, float temperature,
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

}  // namespace hone::engine_test
