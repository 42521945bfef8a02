// Log-probability of chosen tokens with entropy, its gradient, and drawing: one distribution for sampler and loss.
// R = rows (a chunk), V = rows of the head. The distribution is softmax(logits / temperature) over ids below
// valid_vocab; ids beyond the tokenizer have probability 0. Everything in float; a row depends on that row alone.
#pragma once

#include <cstdint>
#include <span>

#include "core/random.h"
#include "core/view.h"
#include "kernels/context.h"

namespace hone::kernels {

struct LogprobRows {
  View<float> logprob_R;
  View<float> entropy_R;  // nats
  View<float> lse_R;      // log of the sum of exp(logits / temperature)
};

// logprob = logits[target] / temperature - lse, entropy = lse - sum p * logits / temperature. Targets are in
// [0, valid_vocab), temperature is above 0 (checked: Bug). A logit of -inf has probability 0; a row with NaN or +inf,
// or with -inf alone, gives NaN in all three.
void logprob_forward(Context& ctx, const LogprobRows& out, View<const float> logits_RV,
                     std::span<const int32_t> targets_R, float temperature, int64_t valid_vocab);

// dlogits = ([v = target] - p) * dlogprob / temperature - p * (logprob_v + entropy) * dentropy / temperature
// (overwritten; exactly 0 beyond valid_vocab and for rows with both gradients 0). dlogits may be the float logits.
void logprob_backward(Context& ctx, ComputeView dlogits_RV, View<const float> logits_RV,
                      std::span<const int32_t> targets_R, float temperature, int64_t valid_vocab,
                      const LogprobRows& forward, View<const float> dlogprob_R, View<const float> dentropy_R);

// One row's draw. temperature 0 is greedy: the highest logit, lowest id on a tie. Otherwise the inverse of the
// cumulative sum in id order at `uniform` in [0, 1); an id of probability 0 is never drawn. A row that is no
// distribution (NaN, +inf, all -inf) gives id 0 and a log-prob of NaN.
struct DrawRow {
  float temperature = 1.0f;
  float uniform = 0.0f;
};
// ids_R and the log-prob of each drawn id, bit-equal to logprob_forward on the same logits (greedy: at temperature 1).
void sample(Context& ctx, std::span<int32_t> ids_R, View<float> logprob_R, View<const float> logits_RV,
            std::span<const DrawRow> draws_R, int64_t valid_vocab);

}  // namespace hone::kernels
