// Gradients of a critic, its head included, under the clipped value loss against finite differences of the loss.
#include <gtest/gtest.h>

#include <cmath>

#include "support/tiny_model.h"
#include "train/trainer.h"

namespace hone {
namespace {

ModelConfig value_config() {
  ModelConfig config = test::tiny_config();
  config.value_head = true;
  return config;
}

class ValueGradients : public ::testing::Test {
 protected:
  ValueGradients() : decoder_(value_config(), DType::f32), trainer_(make_trainer()) {
    for (uint32_t s = 0; s < 4; ++s) {
      TrainSequence sequence;
      sequence.num_prompt = 2 + s;
      for (uint32_t i = 0; i < 8 + 4 * s; ++i) {
        sequence.ids.push_back(static_cast<int32_t>(random_below({1, Stream::test}, s, i, 0, 14)));
      }
      if (s == 2) sequence.loss_mask.assign(static_cast<size_t>(sequence.num_response()), 1), sequence.loss_mask[1] = 0;
      sequences_.push_back(std::move(sequence));
    }
    const auto now = trainer_.score(sequences_);
    for (size_t s = 0; s < sequences_.size(); ++s) {
      for (size_t i = 0; i < now[s].size(); ++i) {
        // every third value stands outside the range, on the side of its target
        const float old = now[s][i] - ((s + i) % 3 == 0 ? 0.4f : 0.05f);
        sequences_[s].values.push_back(old);
        sequences_[s].returns.push_back(now[s][i] + ((s + i) % 2 == 0 ? 0.7f : -0.3f));
      }
    }
    objective_.cliprange_value = 0.2;
    objective_.aggregation = algorithms::LossAggregation::seq_mean_token_mean;
  }

  Trainer make_trainer(int64_t micro_batch_tokens = 30) {
    decoder_.initialize(2);
    test::randomize_norms(decoder_, 2);
    for (int64_t i = 0; i < decoder_.parameters().back().size(); ++i) {
      decoder_.parameters().back().set(i, random_normal({4, Stream::test}, 0, 0, static_cast<uint32_t>(i)));
    }
    TrainerOptions options;
    options.micro_batch_tokens = micro_batch_tokens;
    return Trainer(ctx_, decoder_, options);
  }
  double loss_at(Parameter& parameter, const std::vector<float>& direction, double t) {
    const Buffer<float> before = parameter.values();
    parameter.update(ctx_, [&](int64_t first_row, View<float> w) {
      for (int64_t i = 0, at = first_row * w.cols; i < w.size(); ++i, ++at) {
        w[i] = static_cast<float>(double{before[at]} + t * double{direction[static_cast<size_t>(at)]});
      }
    });
    decoder_.publish(ctx_, 1);
    const double loss = trainer_.accumulate(sequences_, objective_).loss;
    parameter.fill(ctx_, [&](int64_t first_row, int64_t rows, float* out) {
      std::copy_n(before.data() + first_row * parameter.cols(), rows * parameter.cols(), out);
    });
    decoder_.publish(ctx_, 1);
    return loss;
  }

  kernels::Context ctx_{1};
  Decoder decoder_;
  Trainer trainer_;
  std::vector<TrainSequence> sequences_;
  Objective objective_;
};

// As in gradients_test.cc: values of about 1 to a few 1e-6, over h = 4e-3.
TEST_F(ValueGradients, AgreeWithFiniteDifferences) {
  const TrainStep step = trainer_.accumulate(sequences_, objective_);
  EXPECT_GT(step.clip_fraction, 0.1);
  EXPECT_LT(step.clip_fraction, 0.5);
  EXPECT_EQ(decoder_.parameters().back().pieces().front().name, "score.weight");
  std::vector<std::vector<float>> gradients;
  for (Parameter& parameter : decoder_.parameters()) {
    gradients.emplace_back(parameter.gradient().data, parameter.gradient().data + parameter.size());
  }
  for (size_t p = 0; p < gradients.size(); ++p) {
    Parameter& parameter = decoder_.parameters()[p];
    double size = 0;
    for (const float g : gradients[p]) size += double{g} * g;
    size = std::sqrt(size);
    ASSERT_GT(size, 1e-3) << parameter.pieces().front().name;
    std::vector<float> direction;
    for (const float g : gradients[p]) direction.push_back(static_cast<float>(g / size));
    const double h = size > 0.3 ? 1e-3 : 4e-3;
    const auto difference = [&](double by) {
      return (loss_at(parameter, direction, by) - loss_at(parameter, direction, -by)) / (2 * by);
    };
    EXPECT_NEAR((4 * difference(h) - difference(2 * h)) / 3, size, 4e-7 / h + 0.01 * size)
        << parameter.pieces().front().name;
  }
}

TEST_F(ValueGradients, AreTheSameHoweverTheBatchIsCut) {
  trainer_.accumulate(sequences_, objective_);
  std::vector<float> whole;
  for (Parameter& p : decoder_.parameters()) whole.insert(whole.end(), p.gradient().data, p.gradient().data + p.size());
  Trainer one = make_trainer(1000);
  one.accumulate(sequences_, objective_);
  double error = 0, size = 0;
  size_t i = 0;
  for (Parameter& p : decoder_.parameters()) {
    for (int64_t k = 0; k < p.size(); ++k, ++i) {
      error += std::pow(double{p.gradient().data[k]} - double{whole[i]}, 2);
      size += double{whole[i]} * whole[i];
    }
  }
  EXPECT_GT(size, 0);
  EXPECT_LT(std::sqrt(error / size), 1e-6);
}

}  // namespace
}  // namespace hone
