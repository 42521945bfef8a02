// Correction of answers that another policy drew than the one that is trained: importance weights and rejection
// (algorithm.rollout_correction). lr = logprob - rollout_logprob of a token, held in +-20. Where the two log-probs are
// the same bits, every weight is exactly 1 and nothing is rejected.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::algorithms {

// A criterion keeps what has low <= statistic <= high. Over tokens: k1 = -lr, k2 = lr^2 / 2, k3 = exp(lr) - 1 - lr. A
// token criterion rejects tokens, the others whole answers by the sum, mean or maximum over their tokens.
struct Rejection {
  enum class Scope { token, seq_sum, seq_mean, seq_max } scope = Scope::token;
  enum class Statistic { k1, k2, k3 } statistic = Statistic::k1;
  double low = 0, high = 0;
};

// rollout_rs and rollout_rs_threshold, lists with commas; one threshold stands for all. "low_high" or one number u
// bound k1: log(low) <= k1 <= log(high), u means 1/u_u (so it is the ratio rollout/train that is bounded); k2 and k3
// take one upper bound. Gives what is wrong, or nothing.
std::string parse_rejections(std::string_view criteria, std::string_view thresholds, std::vector<Rejection>& out);

struct RolloutCorrection {
  enum class Weights {
    none,
    token,    // exp(lr)
    sequence  // exp(sum of lr over the answer, held in +-20), the same for all its tokens
  } weights = Weights::none;
  double threshold = 2.0;        // weights are at most this
  bool batch_normalize = false;  // then divided by their mean: over tokens, or over answers
  std::vector<Rejection> rejections;

  bool is_on() const { return weights != Weights::none || !rejections.empty(); }
};

// One answer: log-probs of the policy that is trained and of the one that drew it.
struct RatioRow {
  std::span<const float> logprobs, rollout_logprobs;  // [tokens]
  std::span<const uint8_t> mask;                      // [tokens] 1: with loss; empty: all

  bool has(size_t token) const { return mask.empty() || mask[token] != 0; }
};

// Over the tokens, or rows, that the mask had.
struct CorrectionStatistics {
  double weight_mean = 1, weight_min = 1, weight_max = 1, weight_std = 0;
  double effective_sample_size = 1;  // 1 / mean((w / mean w)^2), w held in 1/threshold .. threshold: a share
  double rejected_tokens = 0, rejected_rows = 0;  // shares; a row: none of its tokens is left
};

struct Corrected {
  std::vector<std::vector<float>> weights;  // [row][token]; without weights empty
  std::vector<std::vector<uint8_t>> masks;  // [row][token]; where nothing is rejected as it was (empty: all)
  CorrectionStatistics statistics;
};
Corrected correct(std::span<const RatioRow> rows, const RolloutCorrection& correction);

// How far the policy that is trained is from the one that drew. Means are over tokens with loss, or over rows that have
// one; log_ppl of a row is minus its mean log-prob.
struct OffPolicy {
  double kl = 0;     // mean of rollout_logprob - logprob
  double k3_kl = 0;  // mean of exp(lr) - lr - 1
  double training_ppl = 0, training_log_ppl = 0, rollout_ppl = 0, rollout_log_ppl = 0;
  // of mean rollout_logprob - mean logprob, row by row
  double log_ppl_diff = 0, log_ppl_abs_diff = 0, log_ppl_diff_max = 0, log_ppl_diff_min = 0;
  double ppl_ratio = 0;   // mean of exp(that)
  double chi2_token = 0;  // mean of exp(2 lr) - 1
  double chi2_seq = 0;    // mean of exp(2 sum of lr) - 1
};
OffPolicy off_policy(std::span<const RatioRow> rows);

}  // namespace hone::algorithms
