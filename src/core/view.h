// View: a row-major matrix that somebody else owns. A vector of n elements is a view of one row and n columns.
// ComputeView: the same in the compute dtype of the run, float or bf16, known at run time.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/bf16.h"
#include "core/error.h"

namespace hone {

template <class T>
struct View {
  T* data = nullptr;
  int64_t rows = 0, cols = 0;
  int64_t stride = 0;  // elements from one row to the next

  View() = default;
  View(T* data_, int64_t size) : data(data_), rows(1), cols(size), stride(size) {}
  View(T* data_, int64_t rows_, int64_t cols_) : data(data_), rows(rows_), cols(cols_), stride(cols_) {}
  View(T* data_, int64_t rows_, int64_t cols_, int64_t stride_)
      : data(data_), rows(rows_), cols(cols_), stride(stride_) {}
  operator View<const T>() const requires(!std::is_const_v<T>) { return {data, rows, cols, stride}; }

  T* row(int64_t r) const { return data + r * stride; }
  T& operator()(int64_t r, int64_t c) const { return data[r * stride + c]; }
  T& operator[](int64_t i) const { return data[i]; }  // vectors and contiguous matrices
  int64_t size() const { return rows * cols; }
  bool contiguous() const { return stride == cols || rows <= 1; }
  View slice_rows(int64_t begin, int64_t count) const { return {row(begin), count, cols, stride}; }
  View slice_cols(int64_t begin, int64_t count) const { return {data + begin, rows, count, stride}; }
};

template <bool kConst>
struct BasicComputeView {
  using Pointer = std::conditional_t<kConst, const void*, void*>;
  using Byte = std::conditional_t<kConst, const char, char>;
  template <class T>
  using Element = std::conditional_t<kConst, const T, T>;

  Pointer data = nullptr;
  DType dtype = DType::f32;
  int64_t rows = 0, cols = 0;
  int64_t stride = 0;  // elements

  BasicComputeView() = default;
  BasicComputeView(Pointer data_, DType dtype_, int64_t rows_, int64_t cols_)
      : data(data_), dtype(dtype_), rows(rows_), cols(cols_), stride(cols_) {}
  BasicComputeView(Pointer data_, DType dtype_, int64_t rows_, int64_t cols_, int64_t stride_)
      : data(data_), dtype(dtype_), rows(rows_), cols(cols_), stride(stride_) {}
  BasicComputeView(View<Element<float>> v)
      : data(v.data), dtype(DType::f32), rows(v.rows), cols(v.cols), stride(v.stride) {}
  BasicComputeView(View<Element<bf16>> v)
      : data(v.data), dtype(DType::bf16), rows(v.rows), cols(v.cols), stride(v.stride) {}
  operator BasicComputeView<true>() const requires(!kConst) { return {data, dtype, rows, cols, stride}; }

  Pointer row(int64_t r) const { return at(r, 0); }
  Pointer at(int64_t r, int64_t c) const { return static_cast<Byte*>(data) + (r * stride + c) * size_bytes(dtype); }
  View<Element<float>> f32() const {
    HONE_CHECK(dtype == DType::f32, "compute view holds {}", name(dtype));
    return {static_cast<Element<float>*>(data), rows, cols, stride};
  }
  View<Element<bf16>> b16() const {
    HONE_CHECK(dtype == DType::bf16, "compute view holds {}", name(dtype));
    return {static_cast<Element<bf16>*>(data), rows, cols, stride};
  }
  BasicComputeView slice_rows(int64_t begin, int64_t count) const { return {row(begin), dtype, count, cols, stride}; }
  BasicComputeView slice_cols(int64_t begin, int64_t count) const { return {at(0, begin), dtype, rows, count, stride}; }
};
using ComputeView = BasicComputeView<false>;
using ConstComputeView = BasicComputeView<true>;

}  // namespace hone
