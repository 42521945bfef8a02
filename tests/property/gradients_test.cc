// Gradients of the whole decoder under the GRPO loss with entropy against finite differences of the loss.
#include <gtest/gtest.h>

#include <cmath>

#include "support/tiny_model.h"
#include "train/trainer.h"

namespace hone {
namespace {

// Sequences whose ratios stay clear of the kinks at 0.8, 1.2 and 3: inside, clipped both ways, and on the dual clip.
std::vector<TrainSequence> sequences_with_ratios(Trainer& trainer) {
  std::vector<TrainSequence> sequences;
  const float advantages[] = {1.3f, -0.7f, 0.0f, -1.1f, 0.4f};
  for (uint32_t s = 0; s < 5; ++s) {
    TrainSequence sequence;
    sequence.num_prompt = 1 + s;
    for (uint32_t i = 0; i < 6 + 5 * s; ++i) {
      sequence.ids.push_back(static_cast<int32_t>(random_below({1, Stream::test}, s, i, 0, 14)));
    }
    sequence.advantage = advantages[s];
    sequence.temperature = 0.8f;
    sequences.push_back(std::move(sequence));
  }
  const auto logprobs = trainer.score(sequences);
  const float offsets[] = {0.0f, -0.05f, 0.5f, -0.5f, 1.6f};  // log-prob minus the recorded one
  for (size_t s = 0; s < sequences.size(); ++s) {
    for (size_t i = 0; i < logprobs[s].size(); ++i) {
      sequences[s].old_logprobs.push_back(logprobs[s][i] - offsets[(s + i) % 5]);
      sequences[s].ref_logprobs.push_back(logprobs[s][i] - 0.3f + 0.4f * static_cast<float>(i % 3));
    }
  }
  return sequences;
}

class GradientCheck {
 public:
  GradientCheck(const ModelConfig& config, const Objective& objective, const LoraConfig& lora = {})
      : decoder_(config, DType::f32, lora),
        trainer_(make_trainer()),
        sequences_(sequences_with_ratios(trainer_)),
        objective_(objective) {
    trainer_.accumulate(sequences_, objective_);
    for (Parameter& parameter : decoder_.trained()) {
      const View<float> g = parameter.gradient();
      gradients_.emplace_back(g.data, g.data + g.size());
    }
  }
  size_t num_parameters() const { return gradients_.size(); }
  const std::vector<float>& gradient(size_t p) const { return gradients_[p]; }
  std::string name(size_t p) const { return decoder_.trained()[p].pieces().front().name; }

  // d loss / d t of w + t * direction. Two steps h and 2 h, extrapolated (Richardson): the error is h^4 f^(5) / 30, and
  // the noise of the loss over h.
  double along(size_t p, const std::vector<float>& direction, double h) {
    const double near = difference(p, direction, h), far = difference(p, direction, 2 * h);
    return (4 * near - far) / 3;
  }

 private:
  Trainer make_trainer() {
    decoder_.initialize(2);
    test::randomize_norms(decoder_, 2);
    test::randomize_adapters(decoder_, 2, 0.15f);  // larger ones bend the loss within a step
    TrainerOptions options;
    options.valid_vocab = test::kTinyValidVocab;
    options.micro_batch_tokens = 40;
    return Trainer(ctx_, decoder_, options);
  }
  double difference(size_t p, const std::vector<float>& direction, double h) {
    return (loss_at(p, direction, h) - loss_at(p, direction, -h)) / (2 * h);
  }
  double loss_at(size_t p, const std::vector<float>& direction, double t) {
    Parameter& parameter = decoder_.trained()[p];
    const Buffer<float> before = parameter.values();
    parameter.update(ctx_, [&](int64_t first_row, View<float> w) {
      for (int64_t i = 0, at = first_row * w.cols; i < w.size(); ++i, ++at) {
        w[i] = static_cast<float>(double{before[at]} + t * double{direction[static_cast<size_t>(at)]});
      }
    });
    decoder_.publish(ctx_, 1);
    const TrainStep step = trainer_.accumulate(sequences_, objective_);
    parameter.fill(ctx_, [&](int64_t first_row, int64_t rows, float* out) {
      std::copy_n(before.data() + first_row * parameter.cols(), rows * parameter.cols(), out);
    });
    decoder_.publish(ctx_, 1);
    return step.loss + step.entropy_loss + objective_.kl_coef * step.kl_loss;
  }

  kernels::Context ctx_{1};
  Decoder decoder_;
  Trainer trainer_;
  std::vector<TrainSequence> sequences_;
  Objective objective_;
  std::vector<std::vector<float>> gradients_;
};

double norm(const std::vector<float>& v) {
  double squares = 0;
  for (float x : v) squares += double{x} * x;
  return std::sqrt(squares);
}

// The loss is a mean of float log-probs of about 2, each wrong by some 1e-6 (products of 24 to 40 terms through two
// layers, half a unit in the last place each), 70 of them: 2e-7. Over h = 4e-3 with the extrapolation's factor 5/3 that
// is 8e-5 in a derivative. Beyond it a hundredth of the gradient's size is allowed for the fifth derivative.
constexpr double kStep = 4e-3, kNoise = 1e-4;

Objective policy_of_test(const char* loss) {
  Objective objective;
  objective.policy = algorithms::find_policy_loss(loss);
  objective.aggregation = algorithms::LossAggregation::seq_mean_token_mean;
  return objective;
}

void check(const ModelConfig& config, const LoraConfig& lora = {}) {
  Objective objective = policy_of_test("vanilla");
  objective.entropy_coeff = 0.5;
  GradientCheck check(config, objective, lora);
  for (size_t p = 0; p < check.num_parameters(); ++p) {
    const std::vector<float>& gradient = check.gradient(p);
    const double size = norm(gradient), root_mean_square = size / std::sqrt(static_cast<double>(gradient.size()));
    ASSERT_GT(size, 1e-3) << check.name(p);
    // along itself the gradient is as large as it can be against the noise: a wrong size shows
    std::vector<float> direction(gradient.size());
    for (size_t i = 0; i < direction.size(); ++i) direction[i] = static_cast<float>(gradient[i] / size);
    const double step = size > 0.1 ? kStep / 4 : kStep;  // a steep way bends more
    EXPECT_NEAR(check.along(p, direction, step), size, kNoise * kStep / step + 0.01 * size) << check.name(p);
    // a whole direction sees every element, single ones see where they stand
    double expected = 0;
    for (size_t i = 0; i < direction.size(); ++i) {
      direction[i] = random_normal({3, Stream::test}, p, 0, static_cast<uint32_t>(i));
    }
    const double length = norm(direction);
    for (size_t i = 0; i < direction.size(); ++i) {
      direction[i] = static_cast<float>(direction[i] / length);
      expected += double{direction[i]} * gradient[i];
    }
    EXPECT_NEAR(check.along(p, direction, kStep), expected, kNoise + 0.01 * root_mean_square) << check.name(p);
    for (uint32_t k = 0; k < 5; ++k) {
      const auto i = random_below({4, Stream::test}, p, k, 0, static_cast<uint32_t>(gradient.size()));
      std::vector<float> one(gradient.size());
      one[i] = 1.0f;
      EXPECT_NEAR(check.along(p, one, kStep), gradient[i],
                  kNoise + 0.01 * std::max(root_mean_square, std::abs(double{gradient[i]})))
          << check.name(p) << " element " << i;
    }
  }
}

TEST(Gradients, OfTheWholeModelAreThoseOfFiniteDifferences) { check(test::tiny_config()); }

// A bias of the keys shifts all scores of a query alike, but for the rotation: its gradient is small, not nothing.
TEST(Gradients, OfEveryFamilyWithItsBiasesAndRotationsAreThoseOfFiniteDifferences) {
  for (const auto& [family, config] : test::tiny_families()) {
    SCOPED_TRACE(family);
    check(config);
  }
}

// Along the gradient of every third parameter.
void check_sizes(const Objective& objective, const std::string& what) {
  GradientCheck check(test::tiny_config(), objective);
  for (size_t p = 0; p < check.num_parameters(); p += 3) {
    const std::vector<float>& gradient = check.gradient(p);
    const double size = norm(gradient);
    ASSERT_GT(size, 1e-3) << what << " " << check.name(p);
    std::vector<float> direction(gradient.size());
    for (size_t i = 0; i < direction.size(); ++i) direction[i] = static_cast<float>(gradient[i] / size);
    const double step = size > 0.1 ? kStep / 4 : kStep;
    EXPECT_NEAR(check.along(p, direction, step), size, kNoise * kStep / step + 0.01 * size)
        << what << " " << check.name(p);
  }
}

// cispo holds its ratio constant: its derivative is that of a token (algorithms/policy_loss_test.cc).
TEST(Gradients, OfEveryPolicyLossAreThoseOfFiniteDifferences) {
  for (const algorithms::PolicyLoss& loss : algorithms::policy_losses()) {
    if (loss.name == "cispo") continue;
    Objective objective = policy_of_test(std::string(loss.name).c_str());
    objective.options.clip_cov_lb = 0;
    objective.options.clip_cov_ratio = objective.options.kl_cov_ratio = 0.2;
    check_sizes(objective, std::string(loss.name));
  }
}

TEST(Gradients, OfEveryKlLossAreThoseOfFiniteDifferencesAndThroughTheEstimatorThoseOfK2) {
  const auto with_kl = [](const std::string& name) {
    Objective objective = policy_of_test("vanilla");
    objective.kl = algorithms::kl_estimator(name);
    objective.kl_coef = 2.0;
    return objective;
  };
  const GradientCheck k2(test::tiny_config(), with_kl("k2"));
  for (const std::string name : {"k1", "abs", "k2", "k3"}) {
    check_sizes(with_kl(name), name);
    const GradientCheck through(test::tiny_config(), with_kl(name + "+"));
    for (size_t p = 0; p < k2.num_parameters(); ++p) EXPECT_EQ(through.gradient(p), k2.gradient(p)) << name << "+";
  }
}

TEST(Gradients, OfAModelWithItsOwnHeadAreThoseOfFiniteDifferences) {
  ModelConfig config = test::tiny_config();
  config.tie_word_embeddings = false;
  config.num_kv_heads = 4;
  check(config);
}

// Ranks beside a vector's width; alpha that is not the rank.
TEST(Gradients, OfAdaptersAreThoseOfFiniteDifferences) {
  for (const auto& [family, config] : test::tiny_families()) {
    SCOPED_TRACE(family);
    check(config, test::tiny_lora(3));
  }
  LoraConfig some{1, 2.0, {"v_proj", "gate_proj"}};
  check(test::tiny_config(), some);
}

}  // namespace
}  // namespace hone
