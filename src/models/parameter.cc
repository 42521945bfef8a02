#include "models/parameter.h"

#include <utility>

namespace hone {

Parameter::Parameter(std::vector<Piece> pieces, int64_t rows, int64_t cols, bool vector, bool packed)
    : pieces_(std::move(pieces)), rows_(rows), cols_(cols), vector_(vector), packed_(packed), master_(rows * cols) {
  int64_t next = 0;
  for (const Piece& piece : pieces_) {
    HONE_CHECK(piece.row == next, "piece {} starts at row {}, not {}", piece.name, piece.row, next);
    next += piece.rows;
  }
  HONE_CHECK(next == rows, "pieces hold {} of {} rows", next, rows);
}

View<float> Parameter::gradient() {
  HONE_CHECK(gradient_.size() == size(), "{} has no gradient buffer", pieces_.front().name);
  return gradient_.view(rows_, cols_);
}

void Parameter::pack(kernels::Context& ctx, DType dtype, bool for_backward) {
  if (!packed_) return;
  if (forward_.data.size() == 0) forward_ = kernels::PackedMatrix::allocate(ctx.target, dtype, rows_, cols_);
  kernels::pack(ctx, forward_, std::as_const(*this).master());
  if (!for_backward) return;
  if (transposed_.data.size() == 0) transposed_ = kernels::PackedMatrix::allocate(ctx.target, dtype, cols_, rows_);
  kernels::pack_transposed(ctx, transposed_, std::as_const(*this).master());
}

}  // namespace hone
