// The products demand bit equality with the plain loops, on every target this machine has, in both dtypes.
// On avx512bf16 the processor treats subnormal numbers as zero; the values here stay far above them.
#include "kernels/products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "core/random.h"
#include "kernels/cpu/products_kernels.h"
#include "kernels/reference/products.h"

namespace hone::kernels {
namespace {

std::vector<const cpu::Target*> product_targets() {
  std::vector<const cpu::Target*> supported;
  for (const cpu::Target& target : cpu::all_targets()) {
    if (target.supported()) supported.push_back(&target);
  }
  return supported;
}

float product_value(uint32_t stream, int64_t i) {
  return random_normal({11, Stream::test}, static_cast<uint64_t>(i), stream, 0);
}

// A matrix in either dtype inside a larger one: stride above cols, start not aligned, the rest is NaN.
class ProductMatrix {
 public:
  ProductMatrix(DType dtype, int64_t rows, int64_t cols, int64_t gap, uint32_t stream)
      : dtype_(dtype), rows_(rows), cols_(cols), stride_(cols + gap), gap_(gap) {
    const float nan = std::bit_cast<float>(0x7fc00000u);
    f32_.assign(static_cast<size_t>(rows * stride_ + gap + 1), nan);
    b16_.assign(f32_.size(), bf16(nan));
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < cols; ++c) {
        const size_t at = static_cast<size_t>(gap + r * stride_ + c);
        f32_[at] = product_value(stream, r * cols + c);
        b16_[at] = bf16(f32_[at]);
      }
    }
  }
  View<float> f32() { return {f32_.data() + gap_, rows_, cols_, stride_}; }
  ConstComputeView compute() {
    if (dtype_ == DType::f32) return View<const float>(f32());
    return View<const bf16>{b16_.data() + gap_, rows_, cols_, stride_};
  }
  std::vector<uint32_t> bits() const {
    std::vector<uint32_t> all(f32_.size());
    std::transform(f32_.begin(), f32_.end(), all.begin(), [](float x) { return std::bit_cast<uint32_t>(x); });
    return all;
  }

 private:
  DType dtype_;
  int64_t rows_, cols_, stride_, gap_;
  std::vector<float> f32_;
  std::vector<bf16> b16_;
};

struct Shape {
  int64_t T, N, K, gap;
};

// All three directions of one shape, and what the reference makes of them, the memory around the outputs included.
class ProductCase {
 public:
  ProductCase(DType dtype, const Shape& s, Store store)
      : dtype_(dtype),
        s_(s),
        store_(store),
        w_(DType::f32, s.N, s.K, s.gap, 1),
        x_(dtype, s.T, s.K, s.gap, 2),
        dy_(dtype, s.T, s.N, s.gap, 3),
        y_(DType::f32, s.T, s.N, s.gap, 4),
        dx_(DType::f32, s.T, s.K, s.gap, 5),
        dw_(DType::f32, s.N, s.K, s.gap, 6) {
    ProductMatrix y = y_, dx = dx_, dw = dw_;
    reference::product(y.f32(), x_.compute(), w_.f32(), store);
    reference::product_dx(dx.f32(), dy_.compute(), w_.f32(), store);
    reference::product_dw(dw.f32(), dy_.compute(), x_.compute());
    expected_y_ = y.bits();
    expected_dx_ = dx.bits();
    expected_dw_ = dw.bits();
  }

  void expect_reference_bits(Context& ctx) {
    SCOPED_TRACE(fmt::format("{} {} T={} N={} K={} gap={} threads={} add={}", ctx.target.name, name(dtype_), s_.T, s_.N,
                             s_.K, s_.gap, ctx.team.num_threads(), store_ == Store::add));
    ProductMatrix y = y_, dx = dx_, dw = dw_;
    PackedMatrix packed = PackedMatrix::allocate(ctx.target, dtype_, s_.N, s_.K);
    pack(ctx, packed, w_.f32());
    product(ctx, y.f32(), x_.compute(), packed, store_);
    ASSERT_EQ(y.bits(), expected_y_) << "forward";
    packed = PackedMatrix::allocate(ctx.target, dtype_, s_.K, s_.N);
    pack_transposed(ctx, packed, w_.f32());
    product(ctx, dx.f32(), dy_.compute(), packed, store_);
    ASSERT_EQ(dx.bits(), expected_dx_) << "dx";
    product_dw(ctx, dw.f32(), dy_.compute(), x_.compute());
    ASSERT_EQ(dw.bits(), expected_dw_) << "dw";
  }

 private:
  DType dtype_;
  Shape s_;
  Store store_;
  ProductMatrix w_, x_, dy_, y_, dx_, dw_;  // the last three as they are before
  std::vector<uint32_t> expected_y_, expected_dx_, expected_dw_;
};

void expect_reference_bits(Context& ctx, DType dtype, const Shape& shape, Store store) {
  ProductCase(dtype, shape, store).expect_reference_bits(ctx);
}

constexpr DType kDTypes[] = {DType::f32, DType::bf16};

TEST(Products, EqualTheReferenceInEveryBitForAllRemainders) {
  for (const cpu::Target* target : product_targets()) {
    Context ctx(1, *target);
    const int64_t panel = target->products->panel, tile = target->products->tile_rows;
    for (DType dtype : kDTypes) {
      for (int64_t t = 0; t <= 2 * tile + 1; ++t) {
        for (int64_t k : {0, 1, 2, 3, 17}) expect_reference_bits(ctx, dtype, {t, panel + 3, k, 1}, Store::overwrite);
      }
      for (int64_t n = 0; n <= 2 * panel + 1; ++n) {
        expect_reference_bits(ctx, dtype, {3, n, 5, n % 3}, n % 2 == 0 ? Store::add : Store::overwrite);
      }
      const int64_t wide = target->products->wide_panels * panel;  // few rows read several panels side by side
      for (int64_t n = 1; n <= 2 * wide + 1; n += n % panel == 0 ? 1 : panel / 2 - 1) {
        for (int64_t t = 1; t <= target->products->few_rows; ++t) {
          expect_reference_bits(ctx, dtype, {t, n, 5, 1}, Store::add);
        }
      }
      for (int64_t k = 0; k <= 2 * panel + 1; ++k) {
        expect_reference_bits(ctx, dtype, {tile + 1, 7, k, 2}, k % 2 == 0 ? Store::overwrite : Store::add);
      }
    }
  }
}

TEST(Products, EqualTheReferenceInEveryBitWhenCutIntoManyTasks) {
  for (const cpu::Target* target : product_targets()) {
    const int64_t depth = target->products->depth_block;
    Context one(1, *target), two(2, *target), four(4, *target);
    const auto expect_equal = [&](DType dtype, const Shape& shape, Store store) {
      ProductCase c(dtype, shape, store);
      for (Context* ctx : {&one, &two, &four}) c.expect_reference_bits(*ctx);
    };
    for (DType dtype : kDTypes) {
      expect_equal(dtype, {2, 150, 2 * depth + 3, 5}, Store::add);
      expect_equal(dtype, {depth + 1, 33, 70, 3}, Store::overwrite);
      if (std::string_view(target->name) != "scalar") expect_equal(dtype, {421, 170, depth + 9, 3}, Store::add);
    }
  }
}

// The residual stream of a language model holds values thousands of times what a layer adds to them.
TEST(Products, WhatIsAddedToALargeValueIsNotRoundedTermByTerm) {
  constexpr float kLarge = 4096;
  const int64_t T = 7, N = 20, K = 4 * kAddDepth;
  Context ctx(1);
  ProductMatrix w(DType::f32, N, K, 0, 1), x(DType::f32, T, K, 0, 2);
  PackedMatrix packed = PackedMatrix::allocate(ctx.target, DType::f32, N, K);
  pack(ctx, packed, w.f32());
  for (const int64_t rows : {int64_t{1}, T}) {
    std::vector<float> y(static_cast<size_t>(rows * N), kLarge);
    product(ctx, View<float>(y.data(), rows, N), x.compute().slice_rows(0, rows), packed, Store::add);
    for (int64_t i = 0; i < rows * N; ++i) {
      double exact = kLarge;
      for (int64_t k = 0; k < K; ++k) exact += double{x.f32()(i / N, k)} * double{w.f32()(i % N, k)};
      // half an ulp of y for each piece, and as much again for the sums of about sqrt(K) themselves
      EXPECT_NEAR(y[static_cast<size_t>(i)], exact, (4 + 4) * kLarge * 0x1p-24) << rows << " rows, " << i;
    }
  }
}

TEST(Products, RowHasTheSameBitsAloneAndAmongManyRows) {
  for (const cpu::Target* target : product_targets()) {
    Context ctx(2, *target);
    for (const auto& [dtype, store] : {std::pair{DType::f32, Store::overwrite},
                                       {DType::f32, Store::add},
                                       {DType::bf16, Store::overwrite},
                                       {DType::bf16, Store::add}}) {
      const int64_t T = 300, N = 100, K = 800;
      ProductMatrix w(DType::f32, N, K, 0, 1), x(dtype, T, K, 1, 2);
      PackedMatrix packed = PackedMatrix::allocate(*target, dtype, N, K);
      pack(ctx, packed, w.f32());
      std::vector<float> before(static_cast<size_t>(T * N));
      for (size_t i = 0; i < before.size(); ++i) before[i] = product_value(7, static_cast<int64_t>(i));
      std::vector<float> all = before, some = before;
      product(ctx, View<float>(all.data(), T, N), x.compute(), packed, store);
      for (int64_t count : {1, 2, 3, 5, 8, 13, 64}) {
        for (int64_t t = 0; t + count <= T; t += std::max<int64_t>(count, 41)) {
          std::copy_n(before.data() + t * N, count * N, some.data());
          product(ctx, View<float>(some.data(), count, N), x.compute().slice_rows(t, count), packed, store);
          ASSERT_EQ(std::memcmp(some.data(), all.data() + t * N, static_cast<size_t>(count * N) * sizeof(float)), 0)
              << target->name << " " << name(dtype) << " " << count << " rows at " << t;
        }
      }
    }
  }
}

TEST(Products, GradientsAgreeWithFiniteDifferencesOfTheForwardProduct) {
  // The loss is sum(y * dy). It is linear in x and in w, so central differences have no truncation error, only the
  // rounding of about K + N * T float sums of size 1 divided by the step: 2^-24 * 100 / 0.5 with room.
  constexpr float kStep = 0.5f, kTolerance = 1e-3f;
  Context ctx(2);
  const Shape s{5, 19, 7, 1};
  ProductMatrix w(DType::f32, s.N, s.K, s.gap, 1), x(DType::f32, s.T, s.K, s.gap, 2),
      dy(DType::f32, s.T, s.N, s.gap, 3);
  const auto loss = [&] {
    PackedMatrix packed = PackedMatrix::allocate(ctx.target, DType::f32, s.N, s.K);
    pack(ctx, packed, w.f32());
    Buffer<float> y(s.T * s.N);
    product(ctx, y.view(s.T, s.N), x.compute(), packed, Store::overwrite);
    double total = 0;
    for (int64_t i = 0; i < y.size(); ++i) total += static_cast<double>(y[i]) * dy.f32()(i / s.N, i % s.N);
    return total;
  };
  const auto slope = [&](float& at) {
    const float before = at;
    at = before + kStep;
    const double above = loss();
    at = before - kStep;
    const double below = loss();
    at = before;
    return static_cast<float>((above - below) / (2 * kStep));
  };
  PackedMatrix packed = PackedMatrix::allocate(ctx.target, DType::f32, s.K, s.N);
  pack_transposed(ctx, packed, w.f32());
  Buffer<float> dx(s.T * s.K), dw(s.N * s.K);
  product(ctx, dx.view(s.T, s.K), dy.compute(), packed, Store::overwrite);
  product_dw(ctx, dw.view(s.N, s.K), dy.compute(), x.compute());
  for (int64_t i = 0; i < dx.size(); ++i) EXPECT_NEAR(dx[i], slope(x.f32()(i / s.K, i % s.K)), kTolerance) << i;
  for (int64_t i = 0; i < dw.size(); ++i) EXPECT_NEAR(dw[i], slope(w.f32()(i / s.K, i % s.K)), kTolerance) << i;
}

TEST(Products, RefuseShapesAndTypesThatDoNotFit) {
  Context ctx(1);
  const Buffer<float> x(12);
  Buffer<float> y(12);
  PackedMatrix packed = PackedMatrix::allocate(ctx.target, DType::f32, 3, 4);
  EXPECT_THROW(product(ctx, y.view(2, 3), x.view(3, 4), packed, Store::overwrite), Bug);
  EXPECT_THROW(product(ctx, y.view(3, 4), x.view(3, 3), packed, Store::overwrite), Bug);
  EXPECT_THROW(pack(ctx, packed, x.view(4, 3)), Bug);
  EXPECT_THROW(pack_transposed(ctx, packed, x.view(3, 4)), Bug);
  packed.dtype = DType::bf16;
  EXPECT_THROW(product(ctx, y.view(3, 3), x.view(3, 4), packed, Store::overwrite), Bug);
}

TEST(Products, TransposedPanelsAreThoseOfTheTransposedMatrix) {
  for (const cpu::Target* target : product_targets()) {
    Context ctx(2, *target);
    for (const DType dtype : kDTypes) {
      PackedMatrix turned;  // grows
      for (const auto& [N, K] : {std::pair<int64_t, int64_t>{1, 1}, {5, 17}, {17, 5}, {48, 96}, {97, 50}, {31, 100}}) {
        ProductMatrix w(DType::f32, N, K, 1, 8);
        PackedMatrix packed = PackedMatrix::allocate(*target, dtype, N, K, N % 2 == 0);
        PackedMatrix expected = PackedMatrix::allocate(*target, dtype, K, N);
        pack(ctx, packed, w.f32());
        pack_transposed(ctx, expected, w.f32());
        transpose(ctx, turned, packed);
        ASSERT_EQ(turned.depth, N);
        ASSERT_EQ(turned.columns, K);
        EXPECT_EQ(std::memcmp(turned.data.data(), expected.data.data(), static_cast<size_t>(expected.data.size())), 0)
            << target->name << " " << name(dtype) << " " << N << "x" << K;
      }
    }
  }
}

TEST(Products, PackedFloatsComeBack) {
  for (const cpu::Target* target : product_targets()) {
    Context ctx(1, *target);
    for (const DType dtype : kDTypes) {
      for (const bool exact : {false, true}) {
        for (const auto& [N, K] : {std::pair<int64_t, int64_t>{1, 1}, {17, 5}, {50, 97}, {96, 131}}) {
          ProductMatrix w(DType::f32, N, K, 3, 9);
          PackedMatrix packed = PackedMatrix::allocate(*target, dtype, N, K, exact);
          pack(ctx, packed, w.f32());
          std::vector<float> back(static_cast<size_t>(N * K)), row(static_cast<size_t>(K));
          unpack_rows(*target, packed, View<float>(back.data(), N, K), 0);
          for (int64_t n = 0; n < N; ++n) {
            unpack_row(packed, n, row.data());
            for (int64_t k = 0; k < K; ++k) {
              const float stored = w.f32()(n, k);
              const float expected = packed.exact() ? stored : static_cast<float>(bf16(stored));
              ASSERT_EQ(back[static_cast<size_t>(n * K + k)], expected) << name(dtype) << " " << n << " " << k;
              ASSERT_EQ(row[static_cast<size_t>(k)], expected);
            }
          }
        }
      }
    }
  }
}

TEST(Products, AFloatBetweenTwoBf16IsHeldNextToItselfAndRoundsTheSame) {
  const uint32_t patterns[] = {0x3f808000u, 0x3f818000u, 0xbf808000u, 0xbf818000u, 0x3f807fffu, 0x3f808001u,
                               0x7f7fffffu, 0x00008000u, 0x00018000u, 0x80000000u, 0x7f800000u, 0xff800000u};
  for (const cpu::Target* target : product_targets()) {
    const auto K = static_cast<int64_t>(std::size(patterns));
    std::vector<float> values, back(static_cast<size_t>(K));
    for (const uint32_t pattern : patterns) values.push_back(std::bit_cast<float>(pattern));
    PackedMatrix packed = PackedMatrix::allocate(*target, DType::bf16, 1, K, true);
    PackedMatrix rounded = PackedMatrix::allocate(*target, DType::bf16, 1, K);
    pack_rows(*target, packed, View<const float>(values.data(), 1, K), 0);
    pack_rows(*target, rounded, View<const float>(values.data(), 1, K), 0);
    EXPECT_EQ(std::memcmp(packed.data.data(), rounded.data.data(), static_cast<size_t>(packed.data.size())), 0);
    unpack_rows(*target, packed, View<float>(back.data(), 1, K), 0);
    for (size_t k = 0; k < std::size(patterns); ++k) {
      const uint32_t u = patterns[k], odd = u >> 16 & 1;
      const uint32_t expected = (u & 0xffffu) == 0x8000u ? u + 2 * odd - 1 : u;
      EXPECT_EQ(std::bit_cast<uint32_t>(back[k]), expected) << target->name << " " << u;
    }
    // what is not a number stays one
    for (const uint32_t nan : {0x7fffffffu, 0x7f800001u, 0xffc00000u}) {
      values[0] = std::bit_cast<float>(nan);
      pack_rows(*target, packed, View<const float>(values.data(), 1, K), 0);
      unpack_rows(*target, packed, View<float>(back.data(), 1, K), 0);
      EXPECT_TRUE(back[0] != back[0]);
      unpack_rows(*target, rounded, View<float>(back.data(), 1, K), 0);
    }
  }
}

}  // namespace
}  // namespace hone::kernels
