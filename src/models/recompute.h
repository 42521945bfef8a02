// Recompute: what backward computes again rather than keep of the forward, a layer at a time. The operations and their
// inputs are those of the forward, so the gradients are the same bits.
#pragma once

#include <cstdint>

namespace hone {

// none: everything is kept.
// selective: kept are the layer's input, the outputs of products that backward reads (q, k and v before norm and
//   rotation; gate and up), the residual stream between the halves, attention's output and log-sum-exp, keys and
//   values. Norms, rotation and SwiGLU are computed again: row operations that read what is kept anyway, so a third of
//   the memory goes for almost no arithmetic.
// full: kept are the inputs of the layers. A layer's forward runs again but for its last product, and keys and values
//   of all layers share the memory of one.
enum class Recompute { none, selective, full };

constexpr const char* name(Recompute recompute) {
  return recompute == Recompute::none ? "none" : recompute == Recompute::selective ? "selective" : "full";
}

}  // namespace hone
