// Parameter: one weight of the model: f32 master, gradient, and the packed forms that products read. It alone knows
// layouts. Tensors that share their input are one parameter with several pieces (q, k, v; gate, up), each piece a
// tensor of the checkpoint.
#pragma once

#include <cstdint>
#include <functional>
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

// A norm weight is a vector of one row; a bias one column with a row for each output, so that its pieces are rows too.
enum class ParameterKind { matrix, norm, bias };

// What a parameter is, without its numbers.
struct ParameterSpec {
  std::vector<Piece> pieces;
  int64_t cols = 0;
  ParameterKind kind = ParameterKind::matrix;
  bool packed = false;  // products read it (linear layers and the head)

  int64_t rows() const { return pieces.back().row + pieces.back().rows; }
  // The shape of a piece in the checkpoint.
  std::vector<int64_t> shape(const Piece& piece) const;
};

class Parameter {
 public:
  // Without a master (what samples alone) a packed matrix has its packed form only, which fill() makes.
  explicit Parameter(ParameterSpec spec, bool has_master = true);

  const ParameterSpec& spec() const { return spec_; }
  const std::vector<Piece>& pieces() const { return spec_.pieces; }
  ParameterKind kind() const { return spec_.kind; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return spec_.cols; }
  int64_t size() const { return rows_ * cols(); }
  bool has_master() const { return master_.size() == size(); }
  View<float> master() { return master_.view(rows_, cols()); }
  View<const float> master() const { return master_.view(rows_, cols()); }
  View<const float> vector() const { return {master_.data(), size()}; }  // of a norm or a bias
  View<float> gradient();
  void allocate_gradient() { gradient_ = Buffer<float>(size()); }
  // Fills the weights: source(first_row, rows, out) is asked for every row once, from all threads; packs them for
  // forward products of `dtype` while they are warm.
  using RowSource = std::function<void(int64_t first_row, int64_t rows, float* out)>;
  void fill(kernels::Context& ctx, DType dtype, const RowSource& source);
  // Repacks the master weights for products of the given dtype.
  void pack(kernels::Context& ctx, DType dtype, bool for_backward);

  const kernels::PackedMatrix& forward() const { return forward_; }        // y = x W^T
  const kernels::PackedMatrix& transposed() const { return transposed_; }  // dx = dy W

 private:
  ParameterSpec spec_;
  int64_t rows_;
  Buffer<float> master_, gradient_;
  kernels::PackedMatrix forward_, transposed_;
};

}  // namespace hone
