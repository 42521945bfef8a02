// RatioRow: an answer as two policies see it. lr = logprob - rollout_logprob of a token, held in +-20.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace hone::algorithms {

// Log-probs of the policy that is trained and of the one that drew it.
struct RatioRow {
  std::span<const float> logprobs, rollout_logprobs;  // [tokens]
  std::span<const uint8_t> mask;                      // [tokens] 1: with loss; empty: all

  static double held(double log_ratio) { return std::clamp(log_ratio, -20.0, 20.0); }
  bool has(size_t token) const { return mask.empty() || mask[token] != 0; }
  double log_ratio(size_t token) const { return held(double{logprobs[token]} - double{rollout_logprobs[token]}); }
  // Calls with the index of every token with loss.
  template <class Body>
  void for_tokens(const Body& body) const {
    for (size_t t = 0; t < logprobs.size(); ++t) {
      if (has(t)) body(t);
    }
  }
};

}  // namespace hone::algorithms
