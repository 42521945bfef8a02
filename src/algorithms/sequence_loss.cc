#include "algorithms/sequence_loss.h"

#include <algorithm>

#include "algorithms/policy_ratio.h"

namespace hone::algorithms {

namespace {

double difference_of(float logprob, float old_logprob) { return double{logprob} - double{old_logprob}; }

// The log ratio of a token, clipped on the side that the advantage leads to.
struct ClippedRatio {
  double log_ratio = 0;
  bool clipped = false;
};
ClippedRatio clipped_log_ratio(float logprob, float old_logprob, float advantage, const ClipRange& clip) {
  if (advantage == 0.0f) return {};
  const double d = ratio_of(logprob, old_logprob).log;
  const double held = std::clamp(d, -double{clip.low}, double{clip.high});
  const double best = advantage > 0 ? std::min(d, held) : std::max(d, held);
  return {best, best != d};
}

// Calls with each token with loss: its index in the response and its two log-probs.
template <class Body>
void for_tokens(const TrainSequence& s, const std::vector<float>& logprobs, const Body& body) {
  for (int64_t i = 0; i < s.num_response(); ++i) {
    if (s.has_loss(i)) body(i, logprobs[static_cast<size_t>(i)], s.old_logprobs[static_cast<size_t>(i)]);
  }
}

}  // namespace

Coefficients mean_log_ratios(std::span<const TrainSequence> sequences, SequenceLogprobs logprobs,
                             const PolicyLossOptions&, RandomKey, uint64_t) {
  Coefficients result;
  for (size_t k = 0; k < sequences.size(); ++k) {
    double sum = 0;
    for_tokens(sequences[k], logprobs[k],
               [&](int64_t, float logprob, float old) { sum += difference_of(logprob, old); });
    const auto tokens = static_cast<double>(std::max<int64_t>(sequences[k].num_loss(), 1));
    result.emplace_back(logprobs[k].size(), sum / tokens);
  }
  return result;
}

TokenLoss gspo_token(const PolicyToken& t, const PolicyLossOptions& options) {
  const double w = t.weight;
  const Surrogate surrogate = clipped_surrogate(fixed::exp(std::min(t.coefficient, 10.0)), t.advantage, options.clip);
  return {w * surrogate.loss, t.coefficient > 10.0 ? 0.0 : w * surrogate.slope, surrogate.clipped};
}

Coefficients geometric_means(std::span<const TrainSequence> sequences, SequenceLogprobs logprobs,
                             const PolicyLossOptions& options, RandomKey, uint64_t) {
  Coefficients result;
  for (size_t k = 0; k < sequences.size(); ++k) {
    const TrainSequence& s = sequences[k];
    double log_ratio = 0, log_weight = 0, advantage = 0;
    for_tokens(s, logprobs[k], [&](int64_t i, float logprob, float old) {
      log_ratio += clipped_log_ratio(logprob, old, s.advantage_at(i), options.clip).log_ratio;
      log_weight += fixed::log(double{s.weight_at(i)});
      advantage += double{s.advantage_at(i)};
    });
    const auto tokens = static_cast<double>(std::max<int64_t>(s.num_loss(), 1));
    const double loss = -(advantage / tokens) * fixed::exp((log_ratio + log_weight) / tokens);
    result.emplace_back(logprobs[k].size(), loss);
  }
  return result;
}

TokenLoss geo_mean_token(const PolicyToken& t, const PolicyLossOptions& options) {
  const bool clipped = clipped_log_ratio(t.logprob, t.old_logprob, t.advantage, options.clip).clipped;
  // an answer's loss is the mean over its tokens of itself; d mean / d logprob = 1 / tokens
  const bool held = clipped || t.advantage == 0.0f || ratio_of(t.logprob, t.old_logprob).held;
  return {t.coefficient, held ? 0.0 : t.coefficient, clipped && t.advantage > 0, clipped && t.advantage < 0};
}

}  // namespace hone::algorithms
