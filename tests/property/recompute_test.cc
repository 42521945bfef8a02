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
      const double bytes = Trainer::memory(config, dtype, options, {1000, 1000, 0}).bytes();
      EXPECT_LT(bytes, before) << name(mode);
      before = bytes;
    }
  }
}

// What a run is refused for is what it would take: every part within a twentieth, in every mode, of a policy, of
// adapters and of a critic.
TEST(Recompute, TheMemoryAskedForIsWhatAStepTakes) {
  struct Form {
    const char* name;
    int64_t rank;
    bool value_head;
  };
  for (const Form& form : {Form{"policy", 0, false}, {"adapters", 8, false}, {"critic", 0, true}}) {
    ModelConfig config = tiny_model_config(600, 16);
    config.num_layers = 6;
    config.value_head = form.value_head;
    LoraConfig lora;
    lora.rank = form.rank;
    ASSERT_TRUE(set_modules(lora, {"all-linear"}, {}));
    std::vector<TrainSequence> sequences(2);
    for (TrainSequence& sequence : sequences) {
      for (int i = 0; i < 301; ++i) sequence.ids.push_back(i % 600);
      sequence.num_prompt = 1;
      sequence.old_logprobs.assign(300, -6.0f);
      sequence.advantage = 1.0f;
      if (!form.value_head) continue;
      sequence.values.assign(300, 0.0f);
      sequence.returns.assign(300, 1.0f);
    }
    const Objective objective = form.value_head ? Objective() : test::policy_objective();
    for (const DType dtype : {DType::f32, DType::bf16}) {
      for (const Recompute mode : kRecomputeModes) {
        SCOPED_TRACE(fmt::format("{} {} {}", form.name, name(dtype), name(mode)));
        TrainerOptions options;
        options.micro_batch_tokens = 600;
        options.logits_bytes = 1 << 18;
        options.recompute = mode;
        options.valid_vocab = form.value_head ? 0 : config.vocab_size;
        kernels::Context ctx(1);
        Decoder decoder(config, dtype, lora);
        decoder.initialize(ctx, 6);
        if (form.rank > 0) decoder.initialize_adapters(ctx, 6);
        const double trained = form.rank > 0 ? static_cast<double>(decoder.lora_layout().num_parameters()) : 0;
        Trainer trainer(ctx, decoder, options);
        trainer.step(sequences, objective, 1e-3);
        const TrainerMemory asked = Trainer::memory(config, dtype, options, {300, 600, 0, trained});
        const TrainerMemory taken = trainer.memory_taken();
        EXPECT_NEAR(asked.states, taken.states, 0.01 * taken.states);
        EXPECT_NEAR(asked.transposed, taken.transposed, 0.05 * taken.transposed);
        EXPECT_NEAR(asked.activations, taken.activations, 0.05 * taken.activations);
        EXPECT_NEAR(asked.kv, taken.kv, 0.05 * taken.kv);
        EXPECT_NEAR(asked.scratch, taken.scratch, 0.05 * taken.scratch);

        kernels::Context scoring_ctx(1);
        Trainer scoring(scoring_ctx, decoder, options);
        scoring.score(sequences);
        const TrainerMemory score_asked = Trainer::memory(config, dtype, options, {300, 0, 600, trained});
        EXPECT_NEAR(score_asked.scratch, scoring.memory_taken().scratch, 0.05 * score_asked.scratch);
      }
    }
  }
}

}  // namespace
}  // namespace hone
