// Derivatives of every policy loss and KL form against finite differences, and what each option does.
#include "algorithms/policy_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/kl.h"

namespace hone::algorithms {
namespace {

// Answers of 1 to 4 tokens whose ratios lie on both sides of the clips.
struct Batch {
  std::vector<TrainSequence> sequences;
  std::vector<std::vector<float>> logprobs;
};
Batch batch_of(bool one_advantage_an_answer) {
  Batch batch;
  const float differences[] = {0.05f, -0.11f, 0.4f, -0.6f, 1.5f, -0.02f, 0.12f};
  int next = 0;
  for (int s = 0; s < 6; ++s) {
    TrainSequence sequence;
    sequence.num_prompt = 1;
    const int tokens = 1 + s % 4;
    sequence.ids.resize(static_cast<size_t>(1 + tokens));
    std::vector<float> logprobs;
    for (int t = 0; t < tokens; ++t, ++next) {
      logprobs.push_back(-0.25f - 0.5f * static_cast<float>((next * 5) % 7));
      sequence.old_logprobs.push_back(logprobs.back() - differences[next % 7]);
      sequence.advantages.push_back((s % 3 == 0 ? 1.0f : -1.0f) *
                                    (1.0f + (one_advantage_an_answer ? 0.0f : 0.25f * static_cast<float>(t))));
      sequence.weights.push_back(0.5f + 0.25f * static_cast<float>(next % 5));
    }
    if (tokens > 2) {
      sequence.loss_mask.assign(static_cast<size_t>(tokens), 1);
      sequence.loss_mask[1] = 0;
    }
    batch.sequences.push_back(std::move(sequence));
    batch.logprobs.push_back(std::move(logprobs));
  }
  return batch;
}

PolicyLossOptions options_of_test() {
  PolicyLossOptions options;
  options.clip = {0.2f, 0.28f, 3.0f};
  options.clip_cov_lb = 0.1;
  options.clip_cov_ratio = options.kl_cov_ratio = 0.4;
  return options;
}

Coefficients coefficients_of(const PolicyLoss& loss, const Batch& batch, const PolicyLossOptions& options) {
  if (loss.coefficients == nullptr) return {};
  return loss.coefficients(batch.sequences, batch.logprobs, options, {1, Stream::policy_loss}, 3);
}

PolicyToken token_of(const Batch& batch, const Coefficients& coefficients, size_t s, size_t t) {
  const TrainSequence& sequence = batch.sequences[s];
  const auto at = static_cast<int64_t>(t);
  return {batch.logprobs[s][t], sequence.old_logprobs[t], sequence.advantage_at(at), sequence.weight_at(at),
          coefficients.empty() ? 0.0 : coefficients[s][t]};
}

// Mean over answers of means over tokens, coefficients included.
double loss_of(const PolicyLoss& loss, const Batch& batch, const PolicyLossOptions& options) {
  const Coefficients coefficients = coefficients_of(loss, batch, options);
  double sum = 0;
  for (size_t s = 0; s < batch.sequences.size(); ++s) {
    const auto tokens = static_cast<double>(batch.sequences[s].num_loss());
    for (size_t t = 0; t < batch.logprobs[s].size(); ++t) {
      if (!batch.sequences[s].has_loss(static_cast<int64_t>(t))) continue;
      sum += loss.token(token_of(batch, coefficients, s, t), options).loss / tokens;
    }
  }
  return sum;
}

TEST(PolicyLoss, DerivativesAreFiniteDifferencesOfTheLossOfTheBatch) {
  const PolicyLossOptions options = options_of_test();
  for (const PolicyLoss& loss : policy_losses()) {
    const bool detached = loss.name == "cispo";  // its ratio is a constant: below
    // the weights of an answer have to be one number for a ratio of the whole answer
    Batch batch = batch_of(true);
    if (loss.name == "gspo") {
      for (TrainSequence& s : batch.sequences) s.weights.clear();
    }
    const Coefficients coefficients = coefficients_of(loss, batch, options);
    int moved = 0;
    for (size_t s = 0; s < batch.sequences.size(); ++s) {
      for (size_t t = 0; t < batch.logprobs[s].size(); ++t) {
        if (!batch.sequences[s].has_loss(static_cast<int64_t>(t))) continue;
        const double tokens = static_cast<double>(batch.sequences[s].num_loss());
        const double slope = loss.token(token_of(batch, coefficients, s, t), options).dlogprob / tokens;
        const float h = 0x1p-11f;
        const auto at = [&](float shift) {
          Batch other = batch;
          other.logprobs[s][t] += shift;
          if (detached) other.sequences[s].old_logprobs[t] += shift;  // the same ratio
          return loss_of(loss, other, options);
        };
        const double numeric = (at(h) - at(-h)) / (2 * double{h});
        EXPECT_NEAR(slope, numeric, 2e-6 * (1 + std::abs(numeric))) << loss.name << " sequence " << s << " token " << t;
        moved += slope != 0;
      }
    }
    EXPECT_GT(moved, 3) << loss.name;
  }
}

TEST(PolicyLoss, GspoWithOneAdvantageATokenIsTheDerivativeOfItsTokensWithTheRatioHeld) {
  const PolicyLoss& gspo = *find_policy_loss("gspo");
  const PolicyLossOptions options = options_of_test();
  const Batch batch = batch_of(false);
  const Coefficients coefficients = coefficients_of(gspo, batch, options);
  for (size_t s = 0; s < batch.sequences.size(); ++s) {
    PolicyToken token = token_of(batch, coefficients, s, 0);
    const double slope = gspo.token(token, options).dlogprob, h = 1e-4;
    token.coefficient += h;
    const double above = gspo.token(token, options).loss;
    token.coefficient -= 2 * h;
    EXPECT_NEAR(slope, (above - gspo.token(token, options).loss) / (2 * h), 1e-7) << s;
  }
}

TEST(PolicyLoss, EveryOptionChangesTheLossesItBelongsToAndNoOther) {
  using Change = void (*)(PolicyLossOptions&);
  std::vector<std::string_view> clipping, dual_clipping;
  for (const PolicyLoss& loss : policy_losses()) {
    if (loss.clips) clipping.push_back(loss.name);
    if (loss.dual_clips) dual_clipping.push_back(loss.name);
  }
  const std::tuple<const char*, Change, std::vector<std::string_view>> cases[] = {
      {"clip low", [](PolicyLossOptions& o) { o.clip.low = 0.05f; }, clipping},
      {"clip high", [](PolicyLossOptions& o) { o.clip.high = 0.05f; }, clipping},
      {"clip c", [](PolicyLossOptions& o) { o.clip.c = 1.1f; }, dual_clipping},
      {"tau_pos", [](PolicyLossOptions& o) { o.tau_pos = 2; }, {"sapo"}},
      {"tau_neg", [](PolicyLossOptions& o) { o.tau_neg = 2; }, {"sapo"}},
      {"clip_cov_ratio", [](PolicyLossOptions& o) { o.clip_cov_ratio = 0; }, {"clip_cov"}},
      {"clip_cov_lb", [](PolicyLossOptions& o) { o.clip_cov_lb = 0.9; }, {"clip_cov"}},
      {"clip_cov_ub", [](PolicyLossOptions& o) { o.clip_cov_ub = 0.3; }, {"clip_cov"}},
      {"kl_cov_ratio", [](PolicyLossOptions& o) { o.kl_cov_ratio = 0; }, {"kl_cov"}},
      {"ppo_kl_coef", [](PolicyLossOptions& o) { o.ppo_kl_coef = 1; }, {"kl_cov"}},
  };
  const Batch batch = batch_of(true);
  for (const auto& [name, change, belongs] : cases) {
    for (const PolicyLoss& loss : policy_losses()) {
      PolicyLossOptions options = options_of_test();
      const double before = loss_of(loss, batch, options);
      change(options);
      const bool changed = loss_of(loss, batch, options) != before;
      EXPECT_EQ(changed, std::count(belongs.begin(), belongs.end(), loss.name) > 0) << name << " of " << loss.name;
    }
  }
}

TEST(PolicyLoss, OnPolicyEveryGradientIsMinusTheAdvantageButWhereClipCovDraws) {
  for (const PolicyLoss& loss : policy_losses()) {
    const PolicyLossOptions options = options_of_test();
    Batch batch = batch_of(true);
    for (size_t s = 0; s < batch.sequences.size(); ++s) {
      batch.sequences[s].old_logprobs = batch.logprobs[s];
      batch.sequences[s].weights.clear();
    }
    const Coefficients coefficients = coefficients_of(loss, batch, options);
    const bool other_value = loss.name == "sapo" || loss.name == "gpg" || loss.name == "cispo";
    int drawn = 0;
    for (size_t s = 0; s < batch.sequences.size(); ++s) {
      for (size_t t = 0; t < batch.logprobs[s].size(); ++t) {
        if (!batch.sequences[s].has_loss(static_cast<int64_t>(t))) continue;
        const double a = batch.sequences[s].advantages[t];
        const PolicyToken token = token_of(batch, coefficients, s, t);
        const TokenLoss found = loss.token(token, options);
        if (loss.name == "clip_cov" && token.coefficient != 0) {
          ++drawn;
          EXPECT_EQ(found.dlogprob, 0.0);
          EXPECT_TRUE(found.clipped);
          continue;
        }
        EXPECT_EQ(found.dlogprob, -a) << loss.name << " sequence " << s << " token " << t;
        EXPECT_FALSE(found.clipped || found.clipped_lower) << loss.name;
        EXPECT_TRUE(other_value || found.loss == -a) << loss.name;
      }
    }
    EXPECT_EQ(drawn > 0, loss.name == "clip_cov");
  }
}

TEST(PolicyLoss, OfALogProbThatIsNoNumberTheGradientIsNone) {
  for (const PolicyLoss& loss : policy_losses()) {
    if (loss.name == "gspo" || loss.name == "geo_mean" || loss.name == "gpg" || loss.name == "cispo") continue;
    const TokenLoss found = loss.token({std::nanf(""), -1.0f, 1.0f, 1.0f, 0.0}, options_of_test());
    EXPECT_TRUE(std::isnan(found.dlogprob)) << loss.name;
  }
}

TEST(PolicyLoss, WhatClipCovDrawsIsAFunctionOfItsKeyAndOfNothingElse) {
  const PolicyLoss& loss = *find_policy_loss("clip_cov");
  PolicyLossOptions options = options_of_test();
  options.clip_cov_lb = -100;
  options.clip_cov_ub = 100;
  options.clip_cov_ratio = 0.15;  // two of some
  const Batch batch = batch_of(true);
  const auto drawn = [&](uint64_t seed, uint64_t draw) {
    return loss.coefficients(batch.sequences, batch.logprobs, options, {seed, Stream::policy_loss}, draw);
  };
  EXPECT_EQ(drawn(1, 1), drawn(1, 1));
  int different = 0;
  for (uint64_t draw = 2; draw < 12; ++draw) different += drawn(1, draw) != drawn(1, 1);
  EXPECT_GT(different, 3);
}

TEST(Kl, DerivativesAreFiniteDifferencesOfTheValueAndThroughTheEstimatorThoseOfK2) {
  for (const std::string_view form : kl_names()) {
    const std::string name(form);
    for (const float x : {-3.5f, -0.25f, 0.5f, 2.0f, 8.0f}) {
      const float h = 0x1p-12f;
      const auto slope = [&](const std::string& of) {
        const auto at = [&](float shift) { return token_kl(*kl_estimator(of), -2 + x + shift, -2).value; };
        return (at(h) - at(-h)) / (2 * double{h});
      };
      const TokenKl plain = token_kl(*kl_estimator(name), -2 + x, -2),
                    through = token_kl(*kl_estimator(name + "+"), -2 + x, -2);
      const bool held = plain.value == 10;  // at the end of k3's range
      EXPECT_NEAR(plain.dlogprob, held ? 0.0 : slope(name), 1e-6 * (1 + std::abs(plain.dlogprob)))
          << name << " at " << x;
      EXPECT_EQ(through.value, plain.value) << name;
      EXPECT_NEAR(through.dlogprob, slope("k2"), 1e-6 * (1 + std::abs(x))) << name << " at " << x;
    }
  }
}

}  // namespace
}  // namespace hone::algorithms
