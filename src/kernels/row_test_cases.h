// What the tests of the row operations share: matrices at odd places, and one result on every target and thread number.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "core/random.h"
#include "kernels/context.h"

namespace hone::kernels::testing {

constexpr double kUnit = 0x1p-24;     // relative error of one rounding to float
constexpr double kUnitBf16 = 0x1p-8;  // and to bf16
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

inline double rounding(DType dtype) { return dtype == DType::bf16 ? kUnitBf16 : 0.0; }

// Standard normal numbers times `scale` in a view whose stride exceeds its columns and whose start is off every
// alignment; what surrounds it holds a guard value.
class Matrix {
 public:
  Matrix(int64_t rows, int64_t cols, uint32_t seed, float scale = 1.0f, int64_t offset = 3, int64_t gap = 5)
      : rows_(rows), cols_(cols), stride_(cols + gap), offset_(offset) {
    data_.assign(static_cast<size_t>(offset + rows * stride_ + 16), kGuard);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < cols; ++c) {
        f32()(r, c) =
            scale * random_normal({seed, Stream::test}, static_cast<uint64_t>(r), static_cast<uint32_t>(c), 0);
      }
    }
  }
  static Matrix row(int64_t cols, uint32_t seed, float scale = 1.0f) { return {1, cols, seed, scale, 1, 1}; }
  View<float> f32() { return {data_.data() + offset_, rows_, cols_, stride_}; }
  // Copies as contiguous double.
  std::vector<double> doubles() {
    std::vector<double> out;
    for (int64_t r = 0; r < rows_; ++r) {
      for (int64_t c = 0; c < cols_; ++c) out.push_back(f32()(r, c));
    }
    return out;
  }
  void expect_guards() {
    for (int64_t i = 0; i < static_cast<int64_t>(data_.size()); ++i) {
      const int64_t at = i - offset_;
      if (at >= 0 && at / stride_ < rows_ && at % stride_ < cols_) continue;
      ASSERT_EQ(data_[static_cast<size_t>(i)], kGuard) << "written outside, element " << at;
    }
  }

 private:
  static constexpr float kGuard = 12345.0f;
  int64_t rows_, cols_, stride_, offset_;
  std::vector<float> data_;
};

// An output in either dtype with guards around it, read back as float.
class Output {
 public:
  Output(DType dtype, int64_t rows, int64_t cols) : dtype_(dtype), rows_(rows), cols_(cols), stride_(cols + 5) {
    f32_.assign(static_cast<size_t>(3 + rows * stride_ + 16), 12345.0f);
    b16_.assign(f32_.size(), bf16(12345.0f));
  }
  ComputeView view() {
    if (dtype_ == DType::f32) return View<float>(f32_.data() + 3, rows_, cols_, stride_);
    return View<bf16>(b16_.data() + 3, rows_, cols_, stride_);
  }
  void append_to(std::vector<float>& out) {
    for (int64_t i = 0; i < static_cast<int64_t>(f32_.size()); ++i) {
      const size_t at = static_cast<size_t>(i);
      const float x = dtype_ == DType::f32 ? f32_[at] : static_cast<float>(b16_[at]);
      const bool inside = i >= 3 && (i - 3) / stride_ < rows_ && (i - 3) % stride_ < cols_;
      if (inside) {
        out.push_back(x);
      } else {
        ASSERT_EQ(x, dtype_ == DType::f32 ? 12345.0f : static_cast<float>(bf16(12345.0f))) << i - 3;
      }
    }
  }

 private:
  DType dtype_;
  int64_t rows_, cols_, stride_;
  std::vector<float> f32_;
  std::vector<bf16> b16_;
};

inline void append(std::vector<float>& out, View<const float> view) {
  for (int64_t r = 0; r < view.rows; ++r) {
    for (int64_t c = 0; c < view.cols; ++c) out.push_back(view(r, c));
  }
}

inline View<double> rows_of(std::vector<double>& data, int64_t rows) {
  return {data.data(), rows, rows > 0 ? static_cast<int64_t>(data.size()) / rows : 0};
}

// Contexts with 1, 2 and 4 threads on every target this machine has.
inline std::vector<std::unique_ptr<Context>>& contexts() {
  static std::vector<std::unique_ptr<Context>> all = [] {
    std::vector<std::unique_ptr<Context>> made;
    for (const cpu::Target& target : cpu::all_targets()) {
      if (!target.supported()) continue;
      for (const int threads : {1, 2, 4}) made.push_back(std::make_unique<Context>(threads, target));
    }
    return made;
  }();
  return all;
}

// The result of body(ctx), a vector of floats, after checking that every target and thread number gives its bits.
template <class Body>
std::vector<float> same_everywhere(const Body& body) {
  std::vector<float> first;
  for (size_t c = 0; c < contexts().size(); ++c) {
    Context& ctx = *contexts()[c];
    std::vector<float> result = body(ctx);
    if (c == 0) {
      first = std::move(result);
      continue;
    }
    EXPECT_EQ(result.size(), first.size());
    for (size_t i = 0; i < std::min(first.size(), result.size()); ++i) {
      if (std::bit_cast<uint32_t>(result[i]) == std::bit_cast<uint32_t>(first[i])) continue;
      ADD_FAILURE() << ctx.target.name << ", " << ctx.team.num_threads() << " threads: element " << i << " is "
                    << result[i] << ", on " << contexts()[0]->target.name << " " << first[i];
      break;
    }
  }
  return first;
}

// Widths with every remainder of two vectors, and a model's.
inline std::vector<int64_t> widths() {
  std::vector<int64_t> all;
  for (int64_t width = 1; width <= 33; ++width) all.push_back(width);
  for (const int64_t width : {63, 64, 65, 100, 576, 897}) all.push_back(width);
  return all;
}

// d(loss)/d(x[i]) by central differences; loss() reads x.
template <class Loss>
double slope(double& x, const Loss& loss) {
  const double before = x, h = 1e-5;
  x = before + h;
  const double above = loss();
  x = before - h;
  const double below = loss();
  x = before;
  return (above - below) / (2.0 * h);
}

}  // namespace hone::kernels::testing
