// Parameter: one weight of the model, in the layout that products read, and its gradient. It alone knows layouts.
// Tensors that share their input are one parameter with several pieces (q, k, v; gate, up), each piece a tensor of the
// checkpoint.
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
  // exact: matrices that products read keep the floats they are filled with, bf16 by the rounded halves and the rest
  // of each (kernels::PackedMatrix). Without, what only samples keeps the compute dtype alone.
  Parameter(ParameterSpec spec, DType dtype, bool exact);

  const ParameterSpec& spec() const { return spec_; }
  const std::vector<Piece>& pieces() const { return spec_.pieces; }
  ParameterKind kind() const { return spec_.kind; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return spec_.cols; }
  int64_t size() const { return rows_ * cols(); }
  bool exact() const { return exact_; }

  // The weights as floats. There is one copy: of what products read in their layout, of the others in rows.
  Buffer<float> values() const;
  // Elements [begin, begin + size), row-major, on the calling thread.
  void read(int64_t begin, int64_t size, float* out) const;
  float get(int64_t i) const;
  // For tests; publish afterwards.
  void set(int64_t i, float value);
  // Fills the weights: source(first_row, rows, out) is asked for every row once, from all threads.
  using RowSource = std::function<void(int64_t first_row, int64_t rows, float* out)>;
  void fill(kernels::Context& ctx, const RowSource& source);
  // Changes the weights: update(first_row, rows) is given every row once, a few together, from all threads.
  using RowUpdate = std::function<void(int64_t first_row, View<float> rows)>;
  void update(kernels::Context& ctx, const RowUpdate& update);
  // Lays the weights out for the context's target.
  void lay_out(kernels::Context& ctx);

  const kernels::PackedMatrix& forward() const { return packed_; }        // y = x W^T
  View<const float> vector() const { return {plain_.data(), size()}; }    // of a norm or a bias
  View<const float> table() const { return plain_.view(rows_, cols()); }  // of an embedding that is no head

  bool trainable() const { return gradient_.size() > 0; }
  View<float> gradient();
  // Of an exact parameter: an update of rounded weights would be lost.
  void allocate_gradient() {
    HONE_CHECK(exact_, "{} keeps its weights rounded and cannot be trained", pieces().front().name);
    gradient_ = Buffer<float>(size());
  }

 private:
  void allocate(const kernels::cpu::Target& target);
  int64_t task_rows() const;
  void rewrite(kernels::Context& ctx, bool reads, const RowUpdate& update);

  ParameterSpec spec_;
  DType dtype_;
  bool exact_;
  int64_t rows_;
  Buffer<float> plain_;  // of what no product reads
  kernels::PackedMatrix packed_;
  const kernels::cpu::Target* target_ = nullptr;  // whose layout `packed_` has
  Buffer<float> gradient_;
};

}  // namespace hone
