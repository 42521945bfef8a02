// Attention backward: the reference against finite differences, the kernels near the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/attention_test_cases.h"

namespace hone::kernels::attention_test {
namespace {

TEST(Attention, ReferenceGradientsMatchFiniteDifferences) {
  const Sequence x({2, 2, 6}, 7, DType::f32);
  std::vector<double> inputs[3] = {doubles(x.q), doubles(x.k), doubles(x.v)};
  const std::vector<double> d_o = doubles(x.d_o);
  std::vector<double> o(d_o.size()), lse(static_cast<size_t>(x.length * x.heads.num_heads()));
  std::vector<double> gradients[3] = {inputs[0], inputs[1], inputs[2]};
  reference::attention_backward(gradients[0], gradients[1], gradients[2], d_o, inputs[0], inputs[1], inputs[2],
                                x.shape());
  const auto loss = [&] {
    reference::attention_forward(o, lse, inputs[0], inputs[1], inputs[2], x.shape());
    double total = 0;
    for (size_t i = 0; i < o.size(); ++i) total += o[i] * d_o[i];
    return total;
  };
  constexpr double kStep = 1e-5;  // error kStep^2 * third derivative (about 10) + 1e-15 / kStep
  for (int input = 0; input < 3; ++input) {
    for (size_t i = 0; i < inputs[input].size(); ++i) {
      const double value = inputs[input][i];
      inputs[input][i] = value + kStep;
      const double above = loss();
      inputs[input][i] = value - kStep;
      const double below = loss();
      inputs[input][i] = value;
      EXPECT_NEAR(gradients[input][i], (above - below) / (2 * kStep), 1e-8) << "input " << input << " element " << i;
    }
  }
}

// What each gradient would be with every term positive: the size against which errors are relative. The largest
// relative error of a term of ds: the weight's, the C steps of dp and delta, delta's o (rounded to the compute dtype).
struct Magnitudes {
  std::vector<double> dq, dk, dv;
  double error = 0;
};
Magnitudes magnitudes_of(const Sequence& x) {
  const int64_t C = x.heads.head_dim, Hq = x.heads.num_heads(), Hk = x.heads.num_kv_heads;
  Magnitudes m{std::vector<double>(static_cast<size_t>(x.q.size())),
               std::vector<double>(static_cast<size_t>(x.k.size())),
               std::vector<double>(static_cast<size_t>(x.k.size())), 0};
  for (int64_t t = 0; t < x.length; ++t) {
    for (int64_t h = 0; h < Hq; ++h) {
      m.error = std::max(m.error, weight_error(x, t, h));
      std::vector<double> p(static_cast<size_t>(t + 1)), dp(p.size());
      double sum = 0, delta = 0;
      for (int64_t j = 0; j <= t; ++j) {
        double s = 0;
        for (int64_t c = 0; c < C; ++c) {
          const int64_t row = (t * Hq + h) * C + c, key = (j * Hk + h / x.heads.group) * C + c;
          s += static_cast<double>(x.q[row]) * static_cast<double>(x.k[key]);
          dp[static_cast<size_t>(j)] += std::abs(static_cast<double>(x.d_o[row]) * static_cast<double>(x.v[key]));
        }
        sum += p[static_cast<size_t>(j)] = std::exp(s * x.heads.scale());
      }
      for (size_t j = 0; j < p.size(); ++j) delta += (p[j] /= sum) * dp[j];
      for (int64_t j = 0; j <= t; ++j) {
        const auto i = static_cast<size_t>(j);
        for (int64_t c = 0; c < C; ++c) {
          const int64_t row = (t * Hq + h) * C + c, key = (j * Hk + h / x.heads.group) * C + c;
          const double ds = x.heads.scale() * p[i] * (dp[i] + delta);
          m.dv[static_cast<size_t>(key)] += p[i] * static_cast<double>(std::abs(x.d_o[row]));
          m.dq[static_cast<size_t>(row)] += ds * static_cast<double>(std::abs(x.k[key]));
          m.dk[static_cast<size_t>(key)] += ds * static_cast<double>(std::abs(x.q[row]));
        }
      }
    }
  }
  // p = e^(s - lse): lse's rounding adds its units, below score_bound + log n and so within weight_error again.
  m.error = 4 * m.error + kUnit * static_cast<double>(C + x.length * x.heads.group + 16) +
            (x.dtype == DType::bf16 ? kUnitBf16 : 0);
  return m;
}

void expect_gradients_near_reference(Context& ctx, const Sequence& x) {
  const Gradients got = run_backward(ctx, x);
  std::vector<double> dq(static_cast<size_t>(x.q.size())), dk(static_cast<size_t>(x.k.size())), dv(dk.size());
  reference::attention_backward(dq, dk, dv, doubles(x.d_o), doubles(x.q), doubles(x.k), doubles(x.v), x.shape());
  const Magnitudes m = magnitudes_of(x);
  const auto compare = [&](const Buffer<float>& a, const std::vector<double>& b, const std::vector<double>& size,
                           const char* what) {
    for (size_t i = 0; i < b.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(a[static_cast<int64_t>(i)]), b[i], m.error * size[i])
          << what << "[" << i << "], length " << x.length << " G " << x.heads.group << " C " << x.heads.head_dim;
    }
  };
  compare(got.dq, dq, m.dq, "dq");
  compare(got.dk, dk, m.dk, "dk");
  compare(got.dv, dv, m.dv, "dv");
}

TEST(Attention, BackwardNearReferenceForAllLengths) {
  Context ctx(2);
  for (int64_t length = 1; length <= 70; ++length) {
    expect_gradients_near_reference(ctx, Sequence({1, 3, 20}, length, DType::f32, 200 + static_cast<uint64_t>(length)));
  }
  for (int64_t length : {127, 128, 129, 160, 191, 250}) {
    expect_gradients_near_reference(ctx, Sequence({2, 2, 16}, length, DType::f32));
  }
}

TEST(Attention, BackwardNearReferenceForAllHeadShapes) {
  for (const cpu::Target* target : supported_targets()) {
    Context ctx(2, *target);
    for (int64_t C : {2, 6, 16, 18, 20, 34, 64, 128}) {
      for (int64_t G : {1, 2, 3, 4, 8}) {
        for (DType dtype : {DType::f32, DType::bf16}) {
          expect_gradients_near_reference(ctx, Sequence({2, G, C}, 41, dtype));
        }
      }
    }
  }
}

// Sequences that share the first `prefix` tokens of the first one: the rows of these stand once.
struct Family {
  Family(const Heads& heads, int64_t prefix_, const std::vector<int64_t>& lengths, DType dtype) : prefix(prefix_) {
    for (size_t s = 0; s < lengths.size(); ++s) {
      members.emplace_back(heads, lengths[s], dtype, 300 + s);
      if (s == 0) continue;
      const auto copy = [&](Buffer<float>& to, const Buffer<float>& from, int64_t columns) {
        std::copy(from.begin(), from.begin() + prefix * columns, to.begin());
      };
      copy(members[s].q, members[0].q, heads.q_columns());
      copy(members[s].k, members[0].k, heads.kv_columns());
      copy(members[s].v, members[0].v, heads.kv_columns());
      std::fill_n(members[s].d_o.begin(), prefix * heads.q_columns(), 0.0f);  // counted once
    }
  }
  int64_t first(size_t s) const { return s == 0 ? 0 : prefix; }
  int64_t prefix;
  std::vector<Sequence> members;
};

// The packed rows of all members, of an input or an output that stands by token.
template <class T>
Buffer<T> packed(const Family& family, const std::vector<const Buffer<T>*>& parts, int64_t columns) {
  std::vector<T> all;
  for (size_t s = 0; s < parts.size(); ++s) {
    all.insert(all.end(), parts[s]->begin() + family.first(s) * columns, parts[s]->end());
  }
  Buffer<T> result(static_cast<int64_t>(all.size()));
  std::copy(all.begin(), all.end(), result.begin());
  return result;
}

Gradients run_family(Context& ctx, const Family& family) {
  const Heads& heads = family.members[0].heads;
  const DType dtype = family.members[0].dtype;
  const int64_t q_columns = heads.q_columns(), kv_columns = heads.kv_columns(), Hq = heads.num_heads();
  std::vector<Forward> forwards;
  Layout layout;
  std::vector<int32_t> prefix_of;
  int64_t num_blocks = 0;
  for (const Sequence& x : family.members) {
    forwards.push_back(run_whole(ctx, x));
    layout.max_blocks = std::max(layout.max_blocks, blocks_of(x.length));
    num_blocks += blocks_of(x.length);
  }
  Cache cache(heads, num_blocks, dtype);
  int32_t block = 0;
  std::vector<const Buffer<float>*> q, d_o, lse, o;
  std::vector<Buffer<float>> o_floats;
  for (size_t s = 0; s < family.members.size(); ++s) {
    const Sequence& x = family.members[s];
    const size_t row = layout.block_table.size();
    for (int64_t b = 0; b < layout.max_blocks; ++b) {
      layout.block_table.push_back(b < blocks_of(x.length) ? block + static_cast<int32_t>(b) : 0);
    }
    block += static_cast<int32_t>(blocks_of(x.length));
    write(ctx, cache, x, 0, x.length, layout.block_table.data() + row);
    layout.context_lens.push_back(static_cast<int32_t>(x.length));
    layout.cu_seqlens.push_back(layout.cu_seqlens.back() + static_cast<int32_t>(x.length - family.first(s)));
    prefix_of.push_back(s == 0 ? -1 : 0);
    Buffer<float> values(x.length * q_columns);
    for (int64_t i = 0; i < values.size(); ++i) {
      values[i] = dtype == DType::bf16 ? static_cast<float>(reinterpret_cast<const bf16*>(forwards[s].o.data())[i])
                                       : reinterpret_cast<const float*>(forwards[s].o.data())[i];
    }
    o_floats.push_back(std::move(values));
  }
  for (size_t s = 0; s < family.members.size(); ++s) {
    q.push_back(&family.members[s].q);
    d_o.push_back(&family.members[s].d_o);
    lse.push_back(&forwards[s].lse);
    o.push_back(&o_floats[s]);
  }
  const int64_t T = layout.cu_seqlens.back();
  Matrix q_all(packed(family, q, q_columns), T, q_columns, dtype),
      o_all(packed(family, o, q_columns), T, q_columns, dtype);
  Buffer<float> d_o_all = packed(family, d_o, q_columns), lse_all = packed(family, lse, Hq);
  Gradients g{Buffer<float>(T * q_columns), Buffer<float>(T * kv_columns), Buffer<float>(T * kv_columns)};
  for (auto* buffer : {&g.dq, &g.dk, &g.dv}) std::fill(buffer->begin(), buffer->end(), kNaN);
  SequenceTable table = layout.table();
  table.prefix_of = prefix_of;
  attention_backward(ctx, g.dq.view(T, q_columns), g.dk.view(T, kv_columns), g.dv.view(T, kv_columns),
                     d_o_all.view(T, q_columns), o_all.view(), q_all.view(), cache.layer, lse_all.view(T, Hq), table,
                     heads.scale());
  return g;
}

// Every member alone, in double: what the shared rows get is the sum.
void expect_family_near_reference(Context& ctx, const Family& family) {
  const Gradients got = run_family(ctx, family);
  const int64_t q_columns = family.members[0].heads.q_columns(), columns = family.members[0].heads.kv_columns();
  std::vector<double> prefix_dk(static_cast<size_t>(family.prefix * columns)), prefix_dv = prefix_dk,
                                                                               size_dk = prefix_dk, size_dv = prefix_dk;
  int64_t row = 0;
  double error = 0;
  for (size_t s = 0; s < family.members.size(); ++s) {
    const Sequence& x = family.members[s];
    std::vector<double> dq(static_cast<size_t>(x.q.size())), dk(static_cast<size_t>(x.k.size())), dv(dk.size());
    reference::attention_backward(dq, dk, dv, doubles(x.d_o), doubles(x.q), doubles(x.k), doubles(x.v), x.shape());
    const Magnitudes m = magnitudes_of(x);
    error = std::max(error, m.error);
    for (size_t i = 0; i < prefix_dk.size(); ++i) {
      prefix_dk[i] += dk[i], prefix_dv[i] += dv[i], size_dk[i] += m.dk[i], size_dv[i] += m.dv[i];
    }
    const int64_t shared = s == 0 ? 0 : family.prefix;
    for (int64_t i = shared * q_columns; i < x.length * q_columns; ++i) {
      const auto k = static_cast<size_t>(i);
      ASSERT_NEAR(double{got.dq[row * q_columns + i - shared * q_columns]}, dq[k], m.error * m.dq[k]) << "dq of " << s;
    }
    for (int64_t i = family.prefix * columns; i < x.length * columns; ++i) {
      const auto k = static_cast<size_t>(i);
      ASSERT_NEAR(double{got.dk[(row - shared) * columns + i]}, dk[k], m.error * m.dk[k]) << "dk of " << s;
      ASSERT_NEAR(double{got.dv[(row - shared) * columns + i]}, dv[k], m.error * m.dv[k]) << "dv of " << s;
    }
    row += x.length - shared;
  }
  error += kUnit * static_cast<double>(4 * family.members.size());  // the sum over members
  for (size_t i = 0; i < prefix_dk.size(); ++i) {
    ASSERT_NEAR(double{got.dk[static_cast<int64_t>(i)]}, prefix_dk[i], error * size_dk[i]) << "shared dk " << i;
    ASSERT_NEAR(double{got.dv[static_cast<int64_t>(i)]}, prefix_dv[i], error * size_dv[i]) << "shared dv " << i;
  }
}

TEST(Attention, BackwardOfASharedPrefixIsTheSumOverItsSharers) {
  Context ctx(2);
  for (int64_t prefix : {1, 7, 31, 32, 33, 64, 70}) {
    expect_family_near_reference(ctx, Family({2, 2, 6}, prefix, {prefix + 3, prefix + 1, prefix + 40}, DType::f32));
    expect_family_near_reference(ctx, Family({1, 1, 16}, prefix, {prefix, prefix + 33, prefix + 2}, DType::bf16));
  }
  // queries in segments, of a sharer and of the sequence whose prefix it is
  expect_family_near_reference(ctx, Family({2, 1, 4}, 40, {180, 45, 40 + 150}, DType::f32));
}

TEST(Attention, BackwardOfASharedPrefixIsTheSameForAnyNumberOfThreads) {
  const Family family({2, 2, 8}, 37, {170, 60, 37 + 140}, DType::f32);
  Context one(1);
  const Gradients expected = run_family(one, family);
  for (int threads : {2, 4}) {
    Context ctx(threads);
    expect_same(run_family(ctx, family), expected, fmt::format("{} threads", threads));
  }
}

}  // namespace
}  // namespace hone::kernels::attention_test
