#include "kernels/reference/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hone::kernels::reference {

namespace {

double dot(const double* a, const double* b, int64_t n) {
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += a[i] * b[i];
  return total;
}

// softmax(scale * q k^T) of one query head over the keys it sees; returns the log of the sum.
double weights(std::vector<double>& p, const double* q, const double* k, int64_t k_stride, int64_t num_keys,
               const AttentionShape& shape) {
  p.assign(static_cast<size_t>(num_keys), 0.0);
  double largest = -INFINITY, sum = 0;
  for (size_t j = 0; j < p.size(); ++j) {
    p[j] = shape.scale * dot(q, k + static_cast<int64_t>(j) * k_stride, shape.head_dim);
    largest = std::max(largest, p[j]);
  }
  for (double& x : p) sum += x = std::exp(x - largest);
  for (double& x : p) x /= sum;
  return largest + std::log(sum);
}

}  // namespace

void attention_forward(std::span<double> o, std::span<double> lse, std::span<const double> q, std::span<const double> k,
                       std::span<const double> v, const AttentionShape& shape) {
  const int64_t C = shape.head_dim, Hq = shape.num_heads, stride = shape.num_kv_heads * C;
  std::vector<double> p;
  for (int64_t t = 0; t < shape.num_queries; ++t) {
    for (int64_t h = 0; h < Hq; ++h) {
      const int64_t row = (t * Hq + h) * C, first = shape.kv_head(h) * C;
      lse[static_cast<size_t>(t * Hq + h)] =
          weights(p, q.data() + row, k.data() + first, stride, shape.keys_seen(t), shape);
      for (int64_t c = 0; c < C; ++c) {
        double total = 0;
        for (size_t j = 0; j < p.size(); ++j) total += p[j] * v.data()[static_cast<int64_t>(j) * stride + first + c];
        o.data()[row + c] = total;
      }
    }
  }
}

void attention_backward(std::span<double> dq, std::span<double> dk, std::span<double> dv, std::span<const double> d_o,
                        std::span<const double> q, std::span<const double> k, std::span<const double> v,
                        const AttentionShape& shape) {
  const int64_t C = shape.head_dim, Hq = shape.num_heads, stride = shape.num_kv_heads * C;
  std::fill(dq.begin(), dq.end(), 0.0);
  std::fill(dk.begin(), dk.end(), 0.0);
  std::fill(dv.begin(), dv.end(), 0.0);
  std::vector<double> p, dp;
  for (int64_t t = 0; t < shape.num_queries; ++t) {
    for (int64_t h = 0; h < Hq; ++h) {
      const int64_t row = (t * Hq + h) * C, first = shape.kv_head(h) * C;
      weights(p, q.data() + row, k.data() + first, stride, shape.keys_seen(t), shape);  // p = softmax(s)
      dp.assign(p.size(), 0.0);
      double delta = 0;
      for (size_t j = 0; j < p.size(); ++j) {  // o = sum p v
        const int64_t key = static_cast<int64_t>(j) * stride + first;
        dp[j] = dot(d_o.data() + row, v.data() + key, C);
        delta += p[j] * dp[j];
        for (int64_t c = 0; c < C; ++c) dv.data()[key + c] += p[j] * d_o.data()[row + c];
      }
      for (size_t j = 0; j < p.size(); ++j) {  // s = scale * q k^T
        const int64_t key = static_cast<int64_t>(j) * stride + first;
        const double ds = shape.scale * p[j] * (dp[j] - delta);
        for (int64_t c = 0; c < C; ++c) {
          dq.data()[row + c] += ds * k.data()[key + c];
          dk.data()[key + c] += ds * q.data()[row + c];
        }
      }
    }
  }
}

}  // namespace hone::kernels::reference
