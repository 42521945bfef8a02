// Attention backward for a segment of queries (FlashAttention-2, Dao 2023, algorithm 2): P is computed again from the
// log-sum-exp, key blocks outside and query tiles inside, so that dk and dv of a block stay in the first cache.
#include "kernels/cpu/attention_kernels.h"
#include "kernels/cpu/attention_multiply.h"
#include "kernels/cpu/vec.h"

namespace hone::kernels::cpu::HONE_TARGET {

void attention_block_forms(const AttentionBlockForms& x);
void attention_backward(const AttentionBackwardTask& x);

namespace {

HONE_INLINE float widen1(float x) { return x; }
HONE_INLINE float widen1(uint16_t x) { return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16); }

template <class T>
void block_forms_of(const AttentionBlockForms& x) {
  const int64_t C = x.head_dim, padded = padded_head_dim(C);
  const T* keys = static_cast<const T*>(x.keys);
  const T* values = static_cast<const T*>(x.values);
  for (int64_t j = 0; j < kAttentionBlock; ++j) {
    float* by_token = x.keys_by_token + j * padded;
    const bool used = j < x.num_tokens;
    for (int64_t c = 0; c < C; ++c) {
      const float key = used ? widen1(keys[c * kAttentionBlock + j]) : 0.0f;
      x.keys_by_channel[c * kAttentionBlock + j] = key;
      by_token[c] = key;
      x.values_by_channel[c * kAttentionBlock + j] = used ? widen1(values[j * C + c]) : 0.0f;
    }
    for (int64_t c = C; c < padded; ++c) by_token[c] = 0.0f;
  }
}

// One query head of the segment, packed.
struct Head {
  float *q, *d_o, *dq;  // [queries][padded C]
  float *delta, *lse;   // [queries]
  float *p, *ds;        // [kAttentionQueryTile][32]
  float *dk, *dv;       // [32][padded C] of the current block
};

Head lay_out(const AttentionBackwardTask& x) {
  const int64_t padded = padded_head_dim(x.head_dim);
  Head head;
  head.q = x.scratch;
  head.d_o = head.q + x.num_queries * padded;
  head.dq = head.d_o + x.num_queries * padded;
  head.dk = head.dq + x.num_queries * padded;
  head.dv = head.dk + kAttentionBlock * padded;
  head.p = head.dv + kAttentionBlock * padded;
  head.ds = head.p + kAttentionQueryTile * kAttentionBlock;
  head.delta = head.ds + kAttentionQueryTile * kAttentionBlock;
  head.lse = head.delta + x.num_queries;
  return head;
}

// Packs q and do, dq = 0, delta = <do, o>.
template <class T>
void pack_head(const AttentionBackwardTask& x, const Head& head, int64_t g) {
  const int64_t C = x.head_dim, padded = padded_head_dim(C);
  for (int64_t i = 0; i < x.num_queries; ++i) {
    const T* o = static_cast<const T*>(x.o) + i * x.o_stride + g * C;
    float* d_o = head.d_o + i * padded;
    widen_row(head.q + i * padded, static_cast<const T*>(x.q) + i * x.q_stride + g * C, C);
    widen_row(d_o, x.d_o + i * x.d_o_stride + g * C, C);
    Vec delta = zero();
    for (int64_t c = 0; c < C; c += kLanes) {
      const Vec part = c + kLanes <= C ? load_any(o + c) : load_any_n(o + c, static_cast<int>(C - c));
      delta = fma(load(d_o + c), part, delta);
      store(head.dq + i * padded + c, zero());
    }
    head.delta[i] = sum(delta);
    head.lse[i] = x.lse[i * x.lse_stride + g];
  }
}

// In place: p = e^(scale * s - lse), ds = p * (dp - delta); lanes beyond a query's position become 0.
void probabilities(const AttentionBackwardTask& x, const Head& head, int64_t first, int64_t count, int64_t base) {
  const Vec scale = set1(x.scale);
  for (int64_t i = 0; i < count; ++i) {
    float* p = head.p + i * kAttentionBlock;
    float* ds = head.ds + i * kAttentionBlock;
    const Vec lse = set1(head.lse[first + i]), delta = set1(head.delta[first + i]);
    Vec p0 = exp(load(p) * scale - lse), p1 = exp(load(p + kLanes) * scale - lse);
    const int64_t seen = x.first_query + first + i - base + 1;
    if (seen < kAttentionBlock) {
      p0 = first_lanes(p0, seen, zero());
      p1 = first_lanes(p1, seen - kLanes, zero());
    }
    store(p, p0);
    store(p + kLanes, p1);
    store(ds, p0 * (load(ds) - delta));
    store(ds + kLanes, p1 * (load(ds + kLanes) - delta));
  }
}

// All queries of the head that see the block, in tiles; num_keys of its keys belong to the segment.
void visit_block(const AttentionBackwardTask& x, const Head& head, const float* forms, int64_t base, int64_t num_keys) {
  const int64_t C = x.head_dim, padded = padded_head_dim(C), B = kAttentionBlock;
  const Right<float> keys_by_channel{forms, B}, keys_by_token{forms + C * B, padded};
  const Right<float> values_by_channel{forms + C * B + B * padded, B};
  int64_t count = 0;
  for (int64_t i = base > x.first_query ? base - x.first_query : 0; i < x.num_queries; i += count) {
    count = x.num_queries - i < kAttentionQueryTile ? x.num_queries - i : kAttentionQueryTile;
    const float *q = head.q + i * padded, *d_o = head.d_o + i * padded;
    multiply<Start::zero>(count, {q, padded, 1}, keys_by_channel, C, {head.p, B, nullptr}, B);
    multiply<Start::zero>(count, {d_o, padded, 1}, values_by_channel, C, {head.ds, B, nullptr}, B);
    probabilities(x, head, i, count, base);
    multiply<Start::add>(num_keys, {head.p, 1, B}, Right<float>{d_o, padded}, count, {head.dv, padded, nullptr},
                         padded);
    multiply<Start::add>(num_keys, {head.ds, 1, B}, Right<float>{q, padded}, count, {head.dk, padded, nullptr}, padded);
    multiply<Start::add>(count, {head.ds, B, 1}, keys_by_token, num_keys, {head.dq + i * padded, padded, nullptr},
                         padded);
  }
}

template <class T>
void backward_of(const AttentionBackwardTask& x) {
  const int64_t C = x.head_dim, padded = padded_head_dim(C), end = x.first_query + x.num_queries;
  const int64_t num_blocks = (end + kAttentionBlock - 1) / kAttentionBlock;
  const Head head = lay_out(x);
  for (int64_t g = 0; g < x.group; ++g) {
    pack_head<T>(x, head, g);
    for (int64_t block = 0; block < num_blocks; ++block) {
      const int64_t base = block * kAttentionBlock;
      const int64_t num_keys = end - base < kAttentionBlock ? end - base : kAttentionBlock;
      for (int64_t j = 0; j < num_keys; ++j) {  // dk and dv go on from the heads before
        float *dk = head.dk + j * padded, *dv = head.dv + j * padded;
        if (g == 0) {
          for (int64_t c = 0; c < padded; c += kLanes) {
            store(dk + c, zero());
            store(dv + c, zero());
          }
        } else {
          widen_row(dk, x.dk + (base + j) * x.dk_stride, C);
          widen_row(dv, x.dv + (base + j) * x.dv_stride, C);
        }
      }
      visit_block(x, head, x.blocks + block * attention_block_floats(C), base, num_keys);
      for (int64_t j = 0; j < num_keys; ++j) {
        const float factor = g + 1 == x.group ? x.scale : 1.0f;
        store_scaled(x.dk + (base + j) * x.dk_stride, head.dk + j * padded, factor, C);
        store_scaled(x.dv + (base + j) * x.dv_stride, head.dv + j * padded, 1.0f, C);
      }
    }
    for (int64_t i = 0; i < x.num_queries; ++i) {
      store_scaled(x.dq + i * x.dq_stride + g * C, head.dq + i * padded, x.scale, C);
    }
  }
}

}  // namespace

void attention_block_forms(const AttentionBlockForms& x) {
  if (x.bf16) {
    block_forms_of<uint16_t>(x);
  } else {
    block_forms_of<float>(x);
  }
}

void attention_backward(const AttentionBackwardTask& x) {
  if (x.bf16) {
    backward_of<uint16_t>(x);
  } else {
    backward_of<float>(x);
  }
}

}  // namespace hone::kernels::cpu::HONE_TARGET
