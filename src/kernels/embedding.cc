#include "kernels/embedding.h"

#include <cstring>

#include "kernels/cpu/row_kernels.h"
#include "kernels/row_tasks.h"

namespace hone::kernels {

namespace {
constexpr int64_t kStripe = 64;  // columns of one task of the backward

void check_ids(std::span<const int32_t> ids_T, int64_t tokens, int64_t rows) {
  HONE_CHECK(static_cast<int64_t>(ids_T.size()) == tokens, "{} ids, {} tokens", ids_T.size(), tokens);
  for (size_t t = 0; t < ids_T.size(); ++t) {
    HONE_CHECK(ids_T[t] >= 0 && ids_T[t] < rows, "id {} of token {}, table of {} rows", ids_T[t], t, rows);
  }
}
}  // namespace

void embedding_forward(Context& ctx, View<float> h_TD, std::span<const int32_t> ids_T, View<const float> table_VD) {
  HONE_CHECK(h_TD.cols == table_VD.cols, "h {} wide, table {}", h_TD.cols, table_VD.cols);
  check_ids(ids_T, h_TD.rows, table_VD.rows);
  if (h_TD.cols == 0) return;
  for_rows(ctx, h_TD.rows, h_TD.cols, [&](int64_t t) {
    std::memcpy(h_TD.row(t), table_VD.row(ids_T[static_cast<size_t>(t)]),
                static_cast<size_t>(h_TD.cols) * sizeof(float));
  });
}

void embedding_forward(Context& ctx, View<float> h_TD, std::span<const int32_t> ids_T, const PackedMatrix& table) {
  HONE_CHECK(h_TD.cols == table.depth && table.exact(), "h {} wide, table {}, exact {}", h_TD.cols, table.depth,
             table.exact());
  check_ids(ids_T, h_TD.rows, table.columns);
  for_rows(ctx, h_TD.rows, h_TD.cols * 4,
           [&](int64_t t) { unpack_row(table, ids_T[static_cast<size_t>(t)], h_TD.row(t)); });
}

// Tasks are stripes of columns: each walks all tokens upwards, so equal ids never meet in two threads.
void embedding_backward(Context& ctx, View<float> dtable_VD, std::span<const int32_t> ids_T, View<const float> dh_TD,
                        int64_t padding_id) {
  HONE_CHECK(dh_TD.cols == dtable_VD.cols, "dh {} wide, table {}", dh_TD.cols, dtable_VD.cols);
  check_ids(ids_T, dh_TD.rows, dtable_VD.rows);
  const int64_t stripes = (dh_TD.cols + kStripe - 1) / kStripe;
  const auto kernel = ctx.target.rows->elementwise->add;
  for_rows(ctx, stripes, dh_TD.rows * kStripe, [&](int64_t stripe) {
    const int64_t begin = stripe * kStripe, count = std::min(kStripe, dh_TD.cols - begin);
    for (int64_t t = 0; t < dh_TD.rows; ++t) {
      const int32_t id = ids_T[static_cast<size_t>(t)];
      if (id != padding_id) kernel(dtable_VD.row(id) + begin, dh_TD.row(t) + begin, count);
    }
  });
}

}  // namespace hone::kernels
