// The definition of causal attention and its gradient in plain loops and double, for one sequence with dense keys and
// values: the oracle of kernels/attention.h.   L = keys; the queries are the last T of the L positions.
#pragma once

#include <cstdint>
#include <span>

namespace hone::kernels::reference {

struct AttentionShape {
  int64_t num_queries = 0, num_keys = 0;  // T, L
  int64_t num_heads = 0, num_kv_heads = 0, head_dim = 0;
  double scale = 1;

  int64_t kv_head(int64_t head) const { return head / (num_heads / num_kv_heads); }
  int64_t keys_seen(int64_t query) const { return num_keys - num_queries + query + 1; }
};

// q and o [T][Hq][C], k and v [L][Hk][C], lse [T][Hq].
void attention_forward(std::span<double> o, std::span<double> lse, std::span<const double> q, std::span<const double> k,
                       std::span<const double> v, const AttentionShape& shape);

// Overwrites dq, dk, dv.
void attention_backward(std::span<double> dq, std::span<double> dk, std::span<double> dv, std::span<const double> d_o,
                        std::span<const double> q, std::span<const double> k, std::span<const double> v,
                        const AttentionShape& shape);

}  // namespace hone::kernels::reference
