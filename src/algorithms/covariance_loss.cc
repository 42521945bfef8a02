#include "algorithms/covariance_loss.h"

#include <algorithm>
#include <cmath>

#include "algorithms/policy_ratio.h"

namespace hone::algorithms {

namespace {

struct Covariance {
  size_t sequence = 0, token = 0;
  double value = 0;
};

// Of every token with loss, in order.
std::vector<Covariance> covariances(std::span<const TrainSequence> sequences, SequenceLogprobs logprobs) {
  std::vector<Covariance> all;
  double advantage = 0, logprob = 0;
  for (size_t k = 0; k < sequences.size(); ++k) {
    for (int64_t i = 0; i < sequences[k].num_response(); ++i) {
      if (!sequences[k].has_loss(i)) continue;
      all.push_back({k, static_cast<size_t>(i)});
      advantage += double{sequences[k].advantage_at(i)};
      logprob += double{logprobs[k][static_cast<size_t>(i)]};
    }
  }
  const auto count = static_cast<double>(all.size());
  for (Covariance& c : all) {
    c.value = (double{sequences[c.sequence].advantage_at(static_cast<int64_t>(c.token))} - advantage / count) *
              (double{logprobs[c.sequence][c.token]} - logprob / count);
  }
  return all;
}

Coefficients zeros_like(SequenceLogprobs logprobs) {
  Coefficients result;
  for (const auto& row : logprobs) result.emplace_back(row.size(), 0.0);
  return result;
}

// How many a ratio makes of so many tokens: at least one, at most those there are to choose from.
size_t number_of(double ratio, size_t tokens, size_t candidates) {
  const double wanted = std::max(std::floor(ratio * static_cast<double>(tokens)), 1.0);
  return wanted < static_cast<double>(candidates) ? static_cast<size_t>(wanted) : candidates;
}

}  // namespace

Coefficients drawn_by_covariance(std::span<const TrainSequence> sequences, SequenceLogprobs logprobs,
                                 const PolicyLossOptions& options, RandomKey key, uint64_t draw) {
  Coefficients result = zeros_like(logprobs);
  const std::vector<Covariance> all = covariances(sequences, logprobs);
  std::vector<Covariance> candidates;
  for (const Covariance& c : all) {
    const TrainSequence& s = sequences[c.sequence];
    const double ratio = ratio_of(logprobs[c.sequence][c.token], s.old_logprobs[c.token]).value;
    const double advantage = s.advantage_at(static_cast<int64_t>(c.token));
    if (!clipped_surrogate(ratio, advantage, options.clip).clipped && c.value > options.clip_cov_lb &&
        c.value < options.clip_cov_ub)
      candidates.push_back(c);
  }
  const size_t wanted = number_of(options.clip_cov_ratio, all.size(), candidates.size());
  for (size_t i = 0; i < wanted; ++i) {  // the first steps of a shuffle
    const auto left = static_cast<uint32_t>(candidates.size() - i);
    std::swap(candidates[i], candidates[i + random_below(key, draw, 0, static_cast<uint32_t>(i), left)]);
    result[candidates[i].sequence][candidates[i].token] = 1.0;
  }
  return result;
}

TokenLoss clip_cov_token(const PolicyToken& t, const PolicyLossOptions& options) {
  if (t.coefficient != 0.0) return {.clipped = true};
  const Ratio ratio = ratio_of(t.logprob, t.old_logprob);
  const double w = t.weight;
  const Surrogate surrogate = clipped_surrogate(ratio.value, t.advantage, options.clip);
  // what counts as clipped is what was drawn
  return {w * surrogate.loss, ratio.held ? 0.0 : w * surrogate.slope};
}

Coefficients largest_covariance(std::span<const TrainSequence> sequences, SequenceLogprobs logprobs,
                                const PolicyLossOptions& options, RandomKey, uint64_t) {
  Coefficients result = zeros_like(logprobs);
  std::vector<Covariance> all = covariances(sequences, logprobs);
  const size_t wanted = number_of(options.kl_cov_ratio, all.size(), all.size());
  // equal ones in the order of the batch, so that the choice is one
  std::stable_sort(all.begin(), all.end(), [](const Covariance& a, const Covariance& b) { return a.value > b.value; });
  for (size_t i = 0; i < wanted; ++i) result[all[i].sequence][all[i].token] = 1.0;
  return result;
}

TokenLoss kl_cov_token(const PolicyToken& t, const PolicyLossOptions& options) {
  const Ratio ratio = ratio_of(t.logprob, t.old_logprob);
  const double w = t.weight, plain = -double{t.advantage} * ratio.value;
  TokenLoss result{w * plain, ratio.held ? 0.0 : w * plain};
  if (t.coefficient != 0.0) {
    result.loss += w * options.ppo_kl_coef * std::abs(ratio.log);
    const double sign = ratio.log > 0 ? 1.0 : ratio.log < 0 ? -1.0 : 0.0;
    if (!ratio.held) result.dlogprob += w * options.ppo_kl_coef * sign;
  }
  return result;
}

}  // namespace hone::algorithms
