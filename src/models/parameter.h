// Parameter: one weight of the model: f32 master, gradient, and the packed forms that products read. It alone knows
// layouts. Matrices that share their input are one parameter with several pieces (q, k, v; gate, up), each piece a
// tensor of the checkpoint.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/buffer.h"
#include "kernels/products.h"

namespace hone {

struct Piece {
  std::string name;  // Hugging Face tensor name
  int64_t row = 0;   // first row in the parameter
  int64_t rows = 0;
};

class Parameter {
 public:
  // matrix: rows x cols, rows = sum of the pieces' rows; a norm weight is a vector of one row.
  // packed: products read it (linear layers and the head).
  Parameter(std::vector<Piece> pieces, int64_t rows, int64_t cols, bool vector, bool packed);

  const std::vector<Piece>& pieces() const { return pieces_; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  bool is_vector() const { return vector_; }
  int64_t size() const { return rows_ * cols_; }
  View<float> master() { return master_.view(rows_, cols_); }
  View<const float> master() const { return master_.view(rows_, cols_); }
  View<float> gradient();
  void allocate_gradient() { gradient_ = Buffer<float>(size()); }
  // Repacks the master weights for products of the given dtype.
  void pack(kernels::Context& ctx, DType dtype, bool for_backward);

  const kernels::PackedMatrix& forward() const { return forward_; }        // y = x W^T
  const kernels::PackedMatrix& transposed() const { return transposed_; }  // dx = dy W

 private:
  std::vector<Piece> pieces_;
  int64_t rows_, cols_;
  bool vector_, packed_;
  Buffer<float> master_, gradient_;
  kernels::PackedMatrix forward_, transposed_;
};

}  // namespace hone
