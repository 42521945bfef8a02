#include "models/parameter.h"

#include <algorithm>
#include <utility>

namespace hone {

namespace {
constexpr int64_t kFillElements = 1 << 16;  // of a task of fill() where no panel gives its size
}

std::vector<int64_t> ParameterSpec::shape(const Piece& piece) const {
  switch (kind) {
    case ParameterKind::matrix:
      return {piece.rows, cols};
    case ParameterKind::norm:
      return {cols};
    case ParameterKind::bias:
      return {piece.rows};
  }
  HONE_CHECK(false, "parameter kind {}", static_cast<int>(kind));
}

Parameter::Parameter(ParameterSpec spec, bool has_master)
    : spec_(std::move(spec)), rows_(spec_.rows()), master_(has_master ? rows_ * spec_.cols : 0) {
  HONE_CHECK(has_master || spec_.packed, "{} is read as it is", pieces().front().name);
  int64_t next = 0;
  for (const Piece& piece : pieces()) {
    HONE_CHECK(piece.row == next, "piece {} starts at row {}, not {}", piece.name, piece.row, next);
    next += piece.rows;
  }
}

View<float> Parameter::gradient() {
  HONE_CHECK(gradient_.size() == size(), "{} has no gradient buffer", pieces().front().name);
  return gradient_.view(rows_, cols());
}

void Parameter::fill(kernels::Context& ctx, DType dtype, const RowSource& source) {
  if (spec_.packed && forward_.data.size() == 0) {
    forward_ = kernels::PackedMatrix::allocate(ctx.target, dtype, rows_, cols());
  }
  const int64_t task_rows = spec_.packed ? forward_.panel : std::max<int64_t>(1, kFillElements / cols());
  Arena::Scope scope(ctx.scratch);
  const View<float> passing = ctx.scratch.take<float>(has_master() ? 0 : ctx.team.num_threads() * task_rows, cols());
  ctx.team.run((rows_ + task_rows - 1) / task_rows, [&](int64_t task, int thread) {
    const int64_t first = task * task_rows, count = std::min(task_rows, rows_ - first);
    const View<float> rows = has_master() ? master_.view(rows_, cols()).slice_rows(first, count)
                                          : passing.slice_rows(thread * task_rows, count);
    source(first, count, rows.data);
    if (spec_.packed) kernels::pack_rows(ctx.target, forward_, rows, first);
  });
}

void Parameter::pack(kernels::Context& ctx, DType dtype, bool for_backward) {
  if (!spec_.packed) return;
  if (forward_.data.size() == 0) forward_ = kernels::PackedMatrix::allocate(ctx.target, dtype, rows_, cols());
  kernels::pack(ctx, forward_, std::as_const(*this).master());
  if (!for_backward) return;
  if (transposed_.data.size() == 0) transposed_ = kernels::PackedMatrix::allocate(ctx.target, dtype, cols(), rows_);
  kernels::pack_transposed(ctx, transposed_, std::as_const(*this).master());
}

}  // namespace hone
