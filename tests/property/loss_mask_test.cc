// A sequence with a loss mask trains exactly as the mask says: bits are compared.
#include <gtest/gtest.h>

#include <cstring>

#include "support/tiny_training.h"

namespace hone {
namespace {

struct Outcome {
  double loss = 0;
  int64_t num_tokens = 0;
  std::vector<float> gradient;
  bool operator==(const Outcome& other) const {
    return loss == other.loss && num_tokens == other.num_tokens && gradient.size() == other.gradient.size() &&
           std::memcmp(gradient.data(), other.gradient.data(), gradient.size() * sizeof(float)) == 0;
  }
};

TrainSequence sequence(int64_t num_prompt, std::vector<uint8_t> mask, uint32_t seed = 1) {
  TrainSequence s;
  for (uint32_t i = 0; i < 12; ++i) {
    s.ids.push_back(static_cast<int32_t>(random_below({seed, Stream::test}, i, 0, 0, 13)));
  }
  s.num_prompt = num_prompt;
  s.loss_mask = std::move(mask);
  return s;
}

Outcome outcome(const std::vector<TrainSequence>& sequences, int64_t micro_batch_tokens = 1000) {
  kernels::Context ctx(1);
  Decoder decoder(test::tiny_config(), DType::f32);
  decoder.initialize(4);
  Trainer trainer(ctx, decoder, test::tiny_trainer_options(micro_batch_tokens));
  const TrainStep step = trainer.accumulate(sequences, Objective{});
  return {step.loss, step.num_tokens, test::gradients_of(decoder)};
}

TEST(LossMask, OfOnesIsNoMask) {
  EXPECT_EQ(outcome({sequence(4, std::vector<uint8_t>(8, 1))}), outcome({sequence(4, {})}));
}

TEST(LossMask, ThatBeginsLaterIsALongerPrompt) {
  EXPECT_EQ(outcome({sequence(4, {0, 0, 0, 1, 1, 1, 1, 1})}), outcome({sequence(7, {})}));
}

TEST(LossMask, LeavesTheOtherIdsOutOfTheMean) {
  const Outcome first = outcome({sequence(4, {1, 1, 0, 0, 0, 0, 0, 0})}),
                last = outcome({sequence(4, {0, 0, 0, 0, 0, 0, 0, 1})}),
                both = outcome({sequence(4, {1, 1, 0, 0, 0, 0, 0, 1})});
  EXPECT_EQ(both.num_tokens, 3);
  EXPECT_NEAR(both.loss, (2 * first.loss + last.loss) / 3, 1e-6);
}

TEST(LossMask, OfZerosTakesNoPart) {
  const TrainSequence none = sequence(4, std::vector<uint8_t>(8, 0), 2);
  EXPECT_EQ(outcome({none, sequence(4, {})}), outcome({sequence(4, {})}));
  EXPECT_EQ(outcome({none}).num_tokens, 0);
}

}  // namespace
}  // namespace hone
