// Recomputed activations: the gradients are those of kept ones to the bit, in every family and dtype, with prompts
// shared or not and whatever the micro-batches.
#include <gtest/gtest.h>

#include <cstring>

#include "support/tiny_training.h"

namespace hone {
namespace {

constexpr Recompute kRecomputeModes[] = {Recompute::none, Recompute::selective, Recompute::full};

// Families of answers to prompts that end within, at and after a block of the cache.
std::vector<TrainSequence> sequences_of(int64_t valid_vocab) {
  std::vector<TrainSequence> sequences;
  for (uint32_t s = 0; s < 8; ++s) {
    TrainSequence& sequence = sequences.emplace_back();
    const uint32_t family = s / 3, prompt = 30 + family, answer = 2 + 9 * (s % 3);
    for (uint32_t i = 0; i < prompt + answer; ++i) {
      const uint64_t key = i < prompt ? family : 10 + s;
      const auto below = static_cast<uint32_t>(valid_vocab);
      sequence.ids.push_back(static_cast<int32_t>(random_below({5, Stream::test}, key, i, 0, below)));
    }
    sequence.num_prompt = prompt;
    sequence.old_logprobs.assign(answer, -2.4f);
    sequence.advantage = s % 2 == 0 ? 1.5f : -0.5f;
  }
  return sequences;
}

// The gradients, and the state after two steps.
std::vector<float> result_of(const ModelConfig& config, DType dtype, TrainerOptions options, int threads) {
  kernels::Context ctx(threads);
  Decoder decoder(config, dtype);
  decoder.initialize(6);
  test::randomize_norms(decoder, 6);
  options.valid_vocab = test::kTinyValidVocab;
  Trainer trainer(ctx, decoder, options);
  Objective objective = test::policy_objective();
  objective.entropy_coeff = 0.01;
  const auto sequences = sequences_of(options.valid_vocab);
  trainer.accumulate(sequences, objective);
  std::vector<float> all = test::gradients_of(decoder);
  for (int step = 0; step < 2; ++step) trainer.step(sequences, objective, 1e-2);
  for (const auto& logprobs : trainer.score(sequences)) all.insert(all.end(), logprobs.begin(), logprobs.end());
  return all;
}

TEST(Recompute, GradientsAreTheSameBitsInEveryMode) {
  for (const auto& [family, config] : test::tiny_families()) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      for (const bool share : {false, true}) {
        for (const int64_t budget : {60, 1000}) {
          SCOPED_TRACE(fmt::format("{} {} share {} budget {}", family, name(dtype), share, budget));
          std::vector<float> kept;
          for (const Recompute mode : kRecomputeModes) {
            TrainerOptions options;
            options.micro_batch_tokens = budget;
            options.share_prompts = share;
            options.recompute = mode;
            const auto result = result_of(config, dtype, options, mode == Recompute::full ? 2 : 1);
            if (mode == Recompute::none) kept = result;
            ASSERT_EQ(result.size(), kept.size());
            EXPECT_EQ(std::memcmp(result.data(), kept.data(), kept.size() * sizeof(float)), 0) << name(mode);
          }
        }
      }
    }
  }
}

TEST(Recompute, EachModeAsksForLessMemoryThanTheOneBefore) {
  ModelConfig config = test::tiny_config();
  config.num_layers = 12;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    double before = 1e30;
    for (const Recompute mode : kRecomputeModes) {
      TrainerOptions options;
      options.recompute = mode;
      const double bytes = Trainer::memory_bytes(config, dtype, options, {1000, 1000, 0});
      EXPECT_LT(bytes, before) << name(mode);
      before = bytes;
    }
  }
}

}  // namespace
}  // namespace hone
