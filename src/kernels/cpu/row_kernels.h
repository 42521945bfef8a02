// Raw-pointer kernels of the row operations (norms, rope, element-wise, log-prob, optimizer), one table per target.
// Each works on one row, or on one stretch of a flat parameter, on one thread. Arrays of two are indexed by the dtype
// of the output: [0] float, [1] bf16. In float the bits are the same on every target.
#pragma once

#include <stdint.h>

namespace hone::kernels::cpu {

struct NormKernels {
  // Returns rrms.
  float (*rms_norm_forward[2])(void* y, const float* x, const float* w, int64_t width, float eps);
  // Overwrites dx (may be dresidual), adds to dw.
  void (*rms_norm_backward)(float* dx, float* dw, const float* dy, const float* dresidual, const float* x,
                            const float* w, float rrms, int64_t width);
  // One token, all heads, each of 2 * pairs channels. w null: no norm, rrms untouched.
  void (*head_norm_rope_forward[2])(void* y, float* rrms, const float* x, const float* w, int64_t num_heads,
                                    int64_t pairs, const float* cosine, const float* sine, float eps);
  // Overwrites dx, adds to dw. w null: no norm; dw, x and rrms unused.
  void (*head_norm_rope_backward[2])(void* dx, float* dw, const float* dy, const float* x, const float* w,
                                     const float* rrms, int64_t num_heads, int64_t pairs, const float* cosine,
                                     const float* sine);
  void (*rope_table)(float* cosine, float* sine, int32_t position, const float* inv_freq, int64_t pairs);
};

struct ElementwiseKernels {
  void (*swiglu_forward[2])(void* out, const float* gate, const float* up, int64_t width);
  void (*swiglu_backward[2])(void* d_gate, void* d_up, const float* dout, const float* gate, const float* up,
                             int64_t width);
  void (*convert[2])(void* y, const float* x, int64_t width);
  void (*add)(float* y, const float* x, int64_t width);
};

constexpr int64_t kLogprobBlock = 1024;  // ids of one partial sum of a log-prob row

struct LogprobKernels {
  void (*forward)(float* logprob, float* entropy, float* lse, const float* logits, int64_t valid_vocab,
                  float inv_temperature, int32_t target);
  // d_logits may be the float logits.
  void (*backward[2])(void* d_logits, const float* logits, int64_t vocab, int64_t valid_vocab, float inv_temperature,
                      int32_t target, float lse, float entropy, float d_logprob, float d_entropy);
  // Returns the drawn id. block_sums: scratch of one float per kLogprobBlock ids.
  int32_t (*sample)(float* logprob, const float* logits, int64_t valid_vocab, float temperature, float uniform,
                    float* block_sums);

  // Of distributions that are cut (filter.h). The sum of e^(z - max z), z = logits * inv_temperature; *max: of logits.
  double (*measure)(float* max, const float* logits, int64_t valid_vocab, float inv_temperature);
  // ids: those with a logit of at least `lowest`, ascending; room for valid_vocab. Returns how many.
  int64_t (*collect)(int32_t* ids, const float* logits, int64_t valid_vocab, float lowest);
  // weights[i] = e^(z - max z) of ids[i], with the bits that measure sums up.
  void (*weigh)(float* weights, const int32_t* ids, int64_t count, const float* logits, float inv_temperature,
                float max);
  // Log-probs of several ids, each with the bits of forward.
  void (*logprobs)(float* logprobs, const int32_t* ids, int64_t count, const float* logits, int64_t valid_vocab,
                   float inv_temperature);
};

// Bias corrections come as factors: inv_c1 = 1 / (1 - beta1^step).
struct AdamWCoefficients {
  float lr, beta1, one_minus_beta1, beta2, one_minus_beta2, eps, weight_decay, inv_c1, inv_c2, gradient_scale;
};

// Moments of fewer bits are rounded up or down at random, in proportion: the number of element i of the call follows
// from (key, first + i). A block of kMomentBlock elements of 8 bits has a scale for either moment.
constexpr int kMomentBlock = 256;
struct MomentRounding {
  uint32_t key, first;
};

struct UpdateKernels {
  void (*adamw)(float* w, float* m, float* v, const float* g, int64_t size, const AdamWCoefficients& c);
  double (*sum_of_squares)(const float* g, int64_t size);
  // The same with moments in bf16, and in blocks of 8 bits: scales[block][2].
  void (*adamw_bf16)(float* w, uint16_t* m, uint16_t* v, const float* g, int64_t size, const AdamWCoefficients& c,
                     MomentRounding rounding);
  void (*adamw_8bit)(float* w, uint8_t* m, uint8_t* v, float* scales, const float* g, int64_t size,
                     const AdamWCoefficients& c, MomentRounding rounding);
  // What is stored, as floats.
  void (*read_8bit)(float* m, float* v, const uint8_t* m_codes, const uint8_t* v_codes, const float* scales,
                    int64_t size);
};

struct RowKernels {
  const NormKernels* norm;
  const ElementwiseKernels* elementwise;
  const LogprobKernels* logprob;
  const UpdateKernels* update;
};

namespace scalar {
extern const NormKernels kNormKernels;
extern const ElementwiseKernels kElementwiseKernels;
extern const LogprobKernels kLogprobKernels;
extern const UpdateKernels kUpdateKernels;
extern const RowKernels kRowKernels;
}  // namespace scalar
namespace avx2 {
extern const NormKernels kNormKernels;
extern const ElementwiseKernels kElementwiseKernels;
extern const LogprobKernels kLogprobKernels;
extern const UpdateKernels kUpdateKernels;
extern const RowKernels kRowKernels;
}  // namespace avx2
namespace avx512 {
extern const NormKernels kNormKernels;
extern const ElementwiseKernels kElementwiseKernels;
extern const LogprobKernels kLogprobKernels;
extern const UpdateKernels kUpdateKernels;
extern const RowKernels kRowKernels;
}  // namespace avx512
namespace avx512bf16 {
extern const NormKernels kNormKernels;
extern const ElementwiseKernels kElementwiseKernels;
extern const LogprobKernels kLogprobKernels;
extern const UpdateKernels kUpdateKernels;
extern const RowKernels kRowKernels;
}  // namespace avx512bf16

}  // namespace hone::kernels::cpu
