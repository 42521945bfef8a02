// Draws from a distribution that is not the model's own: penalties for ids that were there before, ids that may not
// come, and cuts to the likely ids. For serving and evaluation; training draws with sample() alone. R = rows (a chunk),
// V = rows of the head. The order is vLLM's: bans, penalties (repetition, frequency, presence), temperature, min-p,
// top-k, top-p; what is left is drawn from by the inverse of its cumulative sum in id order.
#pragma once

#include <cstdint>
#include <span>

#include "core/view.h"
#include "kernels/context.h"
#include "kernels/logprob.h"

namespace hone::kernels {

struct Filter {
  int64_t top_k = 0;                // the k highest logits and what ties with the last of them; 0 or below: all
  float top_p = 1.0f;               // the likeliest ids (the lower id first on a tie) until their sum reaches this
  float min_p = 0.0f;               // ids of at least min_p times the likeliest one's probability
  float repetition_penalty = 1.0f;  // ids of prompt and response: positive logits are divided by it, others multiplied
  float presence_penalty = 0.0f;    // taken off the logit of ids of the response
  float frequency_penalty = 0.0f;   // the same, once for each time
  bool penalises() const { return repetition_penalty != 1.0f || presence_penalty != 0.0f || frequency_penalty != 0.0f; }
  bool cuts() const { return top_k > 0 || top_p < 1.0f || min_p > 0.0f; }
  bool operator==(const Filter&) const = default;
};

struct FilterRow {
  DrawRow draw;  // temperature 0: the highest logit after bans and penalties
  Filter filter;
  std::span<const int32_t> prompt_ids, response_ids;  // all below valid_vocab; of interest to penalties alone
  std::span<const int32_t> banned_ids[2];             // never drawn; together not every valid id
};

// The id of one row of logits_V, and its log-prob in the distribution that sample() would draw from: that of the
// temperature (greedy: 1), without bans, penalties and cuts, bit-equal to logprob_forward. A row that is no
// distribution gives id 0 and NaN.
struct FilteredDraw {
  int32_t id = 0;
  float logprob = 0.0f;
};

// draws_N[i] from row rows_N[i] of logits_RV, as filters_N[i] says.
void sample_filtered(Context& ctx, std::span<FilteredDraw> draws_N, View<const float> logits_RV,
                     std::span<const int64_t> rows_N, std::span<const FilterRow> filters_N, int64_t valid_vocab);

// The ids_K.size() likeliest ids, likeliest first (the lower id on a tie), with their log-probs as above. No more of
// them than valid_vocab.
void top_logprobs(Context& ctx, std::span<int32_t> ids_K, std::span<float> logprobs_K, View<const float> logits_V,
                  float temperature, int64_t valid_vocab);

}  // namespace hone::kernels
