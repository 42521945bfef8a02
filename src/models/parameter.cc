#include "models/parameter.h"

#include <algorithm>
#include <utility>

#include "kernels/cpu/products_kernels.h"

namespace hone {

namespace {
constexpr int64_t kTaskElements = 1 << 16;  // of a task where no panel gives its size
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

Parameter::Parameter(ParameterSpec spec, DType dtype, bool exact)
    : spec_(std::move(spec)),
      dtype_(dtype),
      exact_(exact || dtype == DType::f32 || !spec_.packed),
      rows_(spec_.rows()),
      plain_(spec_.packed ? 0 : rows_ * spec_.cols) {
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

void Parameter::allocate(const kernels::cpu::Target& target) {
  if (!spec_.packed || packed_.panel == target.products->panel) return;
  packed_ = kernels::PackedMatrix::allocate(target, dtype_, rows_, cols(), exact_);
  target_ = &target;
}

int64_t Parameter::task_rows() const {
  return spec_.packed ? packed_.panel : std::max<int64_t>(1, kTaskElements / std::max<int64_t>(1, cols()));
}

void Parameter::fill(kernels::Context& ctx, const RowSource& source) {
  allocate(ctx.target);
  rewrite(ctx, false, [&](int64_t first, View<float> rows) { source(first, rows.rows, rows.data); });
}

void Parameter::update(kernels::Context& ctx, const RowUpdate& update) { rewrite(ctx, true, update); }

void Parameter::rewrite(kernels::Context& ctx, bool reads, const RowUpdate& update) {
  HONE_CHECK(!spec_.packed || packed_.panel == ctx.target.products->panel, "{} is not laid out for {}",
             pieces().front().name, ctx.target.name);
  const int64_t task_rows = this->task_rows();
  Arena::Scope scope(ctx.scratch);
  const View<float> passing = ctx.scratch.take<float>(spec_.packed ? ctx.team.num_threads() * task_rows : 0, cols());
  ctx.team.run((rows_ + task_rows - 1) / task_rows, [&](int64_t task, int thread) {
    const int64_t first = task * task_rows, count = std::min(task_rows, rows_ - first);
    if (!spec_.packed) return update(first, plain_.view(rows_, cols()).slice_rows(first, count));
    const View<float> rows = passing.slice_rows(thread * task_rows, count);
    if (reads) kernels::unpack_rows(ctx.target, packed_, rows, first);
    update(first, rows);
    kernels::pack_rows(ctx.target, packed_, rows, first);
  });
}

void Parameter::read(int64_t begin, int64_t size, float* out) const {
  HONE_CHECK(begin >= 0 && begin + size <= this->size(), "{}+{} of {}", begin, size, this->size());
  if (!spec_.packed) {
    std::copy_n(plain_.data() + begin, size, out);
    return;
  }
  HONE_CHECK(target_ != nullptr, "{} was not filled", pieces().front().name);
  const int64_t width = packed_.panel * cols(), end = begin + size;
  Buffer<float> panel(width);
  for (int64_t p = size > 0 ? begin / width : end; p * width < end; ++p) {
    const int64_t first = p * packed_.panel, count = std::min(packed_.panel, rows_ - first);
    kernels::unpack_rows(*target_, packed_, panel.view(count, cols()), first);
    const int64_t from = std::max(begin, p * width), to = std::min(end, p * width + count * cols());
    out = std::copy(panel.data() + from - p * width, panel.data() + to - p * width, out);
  }
}

Buffer<float> Parameter::values() const {
  Buffer<float> all(size());
  read(0, size(), all.data());
  return all;
}

float Parameter::get(int64_t i) const {
  float value = 0;
  read(i, 1, &value);
  return value;
}

void Parameter::set(int64_t i, float value) {
  HONE_CHECK(i >= 0 && i < size(), "element {} of {}", i, size());
  if (!spec_.packed) {
    plain_[i] = value;
    return;
  }
  const int64_t first = i / cols() / packed_.panel * packed_.panel, count = std::min(packed_.panel, rows_ - first);
  Buffer<float> panel(count * cols());
  kernels::unpack_rows(*target_, packed_, panel.view(count, cols()), first);
  panel[i - first * cols()] = value;
  kernels::pack_rows(*target_, packed_, panel.view(count, cols()), first);
}

void Parameter::lay_out(kernels::Context& ctx) {
  if (!spec_.packed || packed_.panel == ctx.target.products->panel) return;
  HONE_CHECK(target_ != nullptr, "{} was not filled", pieces().front().name);
  const Buffer<float> all = values();
  fill(ctx,
       [&](int64_t first, int64_t rows, float* out) { std::copy_n(all.data() + first * cols(), rows * cols(), out); });
}

}  // namespace hone
