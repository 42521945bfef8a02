// Log-softmax of one row: log-prob of a chosen id with entropy, its gradient, and drawing. Rows are walked twice:
// the maximum, then sums over blocks of kLogprobBlock ids, float within a block and double over the blocks.
// forward() and sample() take their log-prob from the same two inline functions: equal logits give equal bits.
#include "kernels/cpu/row_kernels.h"
#include "kernels/cpu/row_vec.h"

namespace hone::kernels::cpu::HONE_TARGET {
namespace {

constexpr float kLowest = -88.0f;  // e^x is exactly 0 here; holds -inf off products with that 0

// Lanes beyond the row read as -inf: probability 0.
HONE_INLINE Vec get_logits(const float* p, int n) {
  if (n == kLanes) return load(p);
  float t[kLanes];
  for (int i = 0; i < kLanes; ++i) t[i] = i < n ? p[i] : -__builtin_inff();
  return load(t);
}

// The largest logit; a NaN is passed over (the sums show it).
HONE_INLINE float row_max(const float* x, int64_t size) {
  const Vec lowest = set1(-__builtin_inff());
  Vec m0 = lowest, m1 = lowest, m2 = lowest, m3 = lowest;
  int64_t i = 0;
  for (; i + 4 * kLanes <= size; i += 4 * kLanes) {
    m0 = max(load(x + i), m0);
    m1 = max(load(x + i + kLanes), m1);
    m2 = max(load(x + i + 2 * kLanes), m2);
    m3 = max(load(x + i + 3 * kLanes), m3);
  }
  for (; i < size; i += kLanes)
    m0 = max(get_logits(x + i, size - i < kLanes ? static_cast<int>(size - i) : kLanes), m0);
  return max_lane(max(max(m0, m1), max(m2, m3)));
}

struct Row {
  const float* logits;
  int64_t size;
  float inv_temperature;
  float max;            // of logits * inv_temperature
  double sum;           // of e^(z - max), z = logits * inv_temperature
  double weighted_sum;  // of e^(z - max) * (z - max), with entropy only
};

HONE_INLINE Vec below_max(const Row& row, Vec logits) { return fma(logits, set1(row.inv_temperature), set1(-row.max)); }

template <bool kEntropy>
HONE_INLINE Row sum_row(const float* logits, int64_t size, float inv_temperature, float* block_sums) {
  Row row = {logits, size, inv_temperature, row_max(logits, size) * inv_temperature, 0.0, 0.0};
  for (int64_t begin = 0; begin < size; begin += kLogprobBlock) {
    const int64_t count = size - begin < kLogprobBlock ? size - begin : kLogprobBlock;
    Vec e_sum = zero(), weighted = zero();
    for_lanes(
        count, HONE_LANES {
          const Vec d = below_max(row, get_logits(logits + begin + i, n));
          const Vec e = exp(d);
          e_sum = e_sum + e;
          if constexpr (kEntropy) weighted = fma(e, max(set1(kLowest), d), weighted);
        });
    const float block = sum(e_sum);
    if (block_sums != nullptr) block_sums[begin / kLogprobBlock] = block;
    row.sum += static_cast<double>(block);
    if constexpr (kEntropy) row.weighted_sum += static_cast<double>(sum(weighted));
  }
  return row;
}

// Natural logarithm of a normal positive double to about 1e-16; NaN stays NaN. x = 2^k m with m in [sqrt(1/2),
// sqrt(2)), log m = 2 artanh(f), f = (m - 1) / (m + 1), |f| < 0.172: the series to f^21 leaves less than 1e-18.
HONE_INLINE double log_of(double x) {
  if (!(x > 0.0)) return x;
  const int64_t u = __builtin_bit_cast(int64_t, x);
  const int64_t k = (u - 0x3fe6a09e667f3bcd) >> 52;  // sqrt(1/2)
  const double m = __builtin_bit_cast(double, u - k * (int64_t{1} << 52));
  const double f = (m - 1.0) / (m + 1.0), q = f * f;
  double p = 1.0 / 21.0;
  p = p * q + 1.0 / 19.0;
  p = p * q + 1.0 / 17.0;
  p = p * q + 1.0 / 15.0;
  p = p * q + 1.0 / 13.0;
  p = p * q + 1.0 / 11.0;
  p = p * q + 1.0 / 9.0;
  p = p * q + 1.0 / 7.0;
  p = p * q + 1.0 / 5.0;
  p = p * q + 1.0 / 3.0;
  return static_cast<double>(k) * 0.693147180559945309 + 2.0 * (f + f * q * p);
}

HONE_INLINE float logprob_of(const Row& row, double log_sum, int64_t id) {
  return static_cast<float>(static_cast<double>(first_lane(below_max(row, set1(row.logits[id])))) - log_sum);
}

void forward(float* logprob, float* entropy, float* lse, const float* logits, int64_t valid_vocab,
             float inv_temperature, int32_t target) {
  const Row row = sum_row<true>(logits, valid_vocab, inv_temperature, nullptr);
  const double log_sum = log_of(row.sum);
  *logprob = logprob_of(row, log_sum, target);
  *entropy = static_cast<float>(log_sum - row.weighted_sum / row.sum);
  *lse = static_cast<float>(static_cast<double>(row.max) + log_sum);
}

// -g of every id with g = p (dl + (logprob_v + entropy) dh), and dl - g of the target.
template <class Out>
void backward(void* d_logits, const float* logits, int64_t vocab, int64_t valid_vocab, float inv_temperature,
              int32_t target, float lse, float entropy, float d_logprob, float d_entropy) {
  Out* out = static_cast<Out*>(d_logits);
  int64_t written = 0;
  if (d_logprob != 0.0f || d_entropy != 0.0f) {
    const Vec dl = set1(d_logprob * inv_temperature), dh = set1(d_entropy * inv_temperature);
    const auto g_of = [&](Vec x) __attribute__((always_inline)) {
      const Vec d = fma(x, set1(inv_temperature), set1(-lse));
      return exp(d) * fma(max(set1(kLowest), d) + set1(entropy), dh, dl);
    };
    const float target_logit = logits[target];  // before d_logits, which may lie over it
    for_lanes(
        valid_vocab, HONE_LANES { put(out + i, zero() - g_of(get(logits + i, n)), n); });
    put(out + target, dl - g_of(set1(target_logit)), 1);
    written = valid_vocab;
  }
  for_lanes(
      vocab - written, HONE_LANES { put(out + written + i, zero(), n); });
}

// The first id whose logit is `highest`.
HONE_INLINE int32_t find_logit(const float* logits, int64_t size, float highest) {
  for (int64_t begin = 0; begin < size; begin += kLogprobBlock) {
    const int64_t count = size - begin < kLogprobBlock ? size - begin : kLogprobBlock;
    Vec found = zero();
    for_lanes(
        count, HONE_LANES {
          found = max(select_less(get_logits(logits + begin + i, n), set1(highest), zero(), set1(1.0f)), found);
        });
    if (!(max_lane(found) > 0.0f)) continue;
    for (int64_t i = begin; i < begin + count; ++i) {
      if (logits[i] == highest) return static_cast<int32_t>(i);
    }
  }
  return 0;
}

// The first id of the block at which the running sum from `before` passes `goal`. The block's own sum was added in
// another order, so the running sum may end a rounding short of the goal: then the last id that is not impossible.
HONE_INLINE int32_t find_in_block(const Row& row, int64_t begin, double before, double goal) {
  const int64_t end = row.size - begin < kLogprobBlock ? row.size : begin + kLogprobBlock;
  int64_t last = begin;
  for (int64_t i = begin; i < end; i += kLanes) {
    const int n = end - i < kLanes ? static_cast<int>(end - i) : kLanes;
    float e[kLanes];
    store(e, exp(below_max(row, get_logits(row.logits + i, n))));
    for (int k = 0; k < n; ++k) {
      before += static_cast<double>(e[k]);
      if (before > goal) return static_cast<int32_t>(i + k);
      if (e[k] > 0.0f) last = i + k;
    }
  }
  return static_cast<int32_t>(last);
}

// A row with NaN or +inf, or without any finite logit, is no distribution: id 0 and a log-prob of NaN.
int32_t sample(float* logprob, const float* logits, int64_t valid_vocab, float temperature, float uniform,
               float* block_sums) {
  const float inv_temperature = temperature > 0.0f ? 1.0f / temperature : 1.0f;
  const Row row = sum_row<false>(logits, valid_vocab, inv_temperature, block_sums);
  int32_t id = 0;
  if (row.sum > 0.0 && temperature > 0.0f) {
    const double goal = static_cast<double>(uniform) * row.sum;  // below the sum: uniform < 1
    double before = 0.0;
    int64_t block = 0;
    for (; !(before + static_cast<double>(block_sums[block]) > goal); ++block) before += block_sums[block];
    id = find_in_block(row, block * kLogprobBlock, before, goal);
  } else if (row.sum > 0.0) {
    id = find_logit(logits, valid_vocab, row.max);
  }
  *logprob = logprob_of(row, log_of(row.sum), id);
  return id;
}

double measure(float* max, const float* logits, int64_t valid_vocab, float inv_temperature) {
  *max = row_max(logits, valid_vocab);
  return sum_row<false>(logits, valid_vocab, inv_temperature, nullptr).sum;
}

int64_t collect(int32_t* ids, const float* logits, int64_t valid_vocab, float lowest) {
  int64_t count = 0;
  for_lanes(
      valid_vocab, HONE_LANES {
        // Most stretches hold none. Lanes beyond the row and NaN count as -inf.
        if (max_lane(max(get_logits(logits + i, n), set1(-__builtin_inff()))) < lowest) return;
        for (int k = 0; k < n; ++k) {
          if (logits[i + k] >= lowest) ids[count++] = static_cast<int32_t>(i + k);
        }
      });
  return count;
}

void weigh(float* weights, const int32_t* ids, int64_t count, const float* logits, float inv_temperature, float max) {
  const Row row = {logits, 0, inv_temperature, max * inv_temperature, 0.0, 0.0};
  for_lanes(
      count, HONE_LANES {
        float x[kLanes], e[kLanes];
        for (int k = 0; k < kLanes; ++k) x[k] = k < n ? logits[ids[i + k]] : max;
        store(e, exp(below_max(row, load(x))));
        for (int k = 0; k < n; ++k) weights[i + k] = e[k];
      });
}

void logprobs(float* out, const int32_t* ids, int64_t count, const float* logits, int64_t valid_vocab,
              float inv_temperature) {
  const Row row = sum_row<false>(logits, valid_vocab, inv_temperature, nullptr);
  const double log_sum = log_of(row.sum);
  for (int64_t i = 0; i < count; ++i) out[i] = logprob_of(row, log_sum, ids[i]);
}

}  // namespace

const LogprobKernels kLogprobKernels = {forward, {backward<float>, backward<uint16_t>}, sample, measure, collect, weigh,
                                        logprobs};

}  // namespace hone::kernels::cpu::HONE_TARGET
