// Token embedding, forward and backward.   T = tokens, V = rows of the table, D = width.
#pragma once

#include <cstdint>
#include <span>

#include "core/view.h"
#include "kernels/context.h"
#include "kernels/products.h"

namespace hone::kernels {

// h[t] = table[ids[t]]; ids are in [0, V) (checked: Bug).
void embedding_forward(Context& ctx, View<float> h_TD, std::span<const int32_t> ids_T, View<const float> table_VD);
// The same with a table that is a head too, as products read it; exact.
void embedding_forward(Context& ctx, View<float> h_TD, std::span<const int32_t> ids_T, const PackedMatrix& table);
// dtable[ids[t]] += dh[t], tokens in ascending order for every row; tokens of padding_id (-1: none) add nothing.
void embedding_backward(Context& ctx, View<float> dtable_VD, std::span<const int32_t> ids_T, View<const float> dh_TD,
                        int64_t padding_id = -1);

}  // namespace hone::kernels
