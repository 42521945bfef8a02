// Activations: what the decoder's backward needs of a forward. Private to models/.
// T = tokens, R = rows whose logits are wanted, D = hidden size, C = head_dim, F = MLP width.
#pragma once

#include <vector>

#include "core/arena.h"
#include "models/model_config.h"
#include "models/recompute.h"

namespace hone {

// Of one layer. What is not kept (models/recompute.h) lies in memory that all layers use one after another.
struct LayerActivations {
  View<float> input_TD;      // residual stream before attention
  View<float> input_rrms_T;  // of the input norm
  ComputeView a_TD;          // input norm's output, what q, k and v read
  View<float> qkv_TN;        // projections before head norm and rope
  View<float> q_rrms_TH, k_rrms_TH;
  ComputeView q_THC;  // after norm and rope
  View<float> lse_TH;
  ComputeView o_THC;      // attention output
  View<float> middle_TD;  // residual stream before the MLP
  View<float> middle_rrms_T;
  ComputeView b_TD;  // post-attention norm's output
  View<float> gate_up_T2F;
  ComputeView act_TF;  // SwiGLU output

  // Memory for T tokens: of the projections, of what else Recompute::selective keeps beside the input, and of what it
  // computes again.
  void take_projections(Arena& memory, const ModelConfig& config, DType dtype, int64_t T);
  void take_kept(Arena& memory, const ModelConfig& config, DType dtype, int64_t T);
  void take_recomputed(Arena& memory, const ModelConfig& config, DType dtype, int64_t T);
  // Bytes of a token that they take.
  static int64_t projection_bytes(const ModelConfig& config, DType dtype);
  static int64_t kept_bytes(const ModelConfig& config, DType dtype);
  static int64_t recomputed_bytes(const ModelConfig& config, DType dtype);
  // Whether the projections of every layer are kept: backward reads them where heads have norms, selective
  // recomputation makes the queries of them.
  static bool keeps_projections(const ModelConfig& config, Recompute recompute) {
    return recompute == Recompute::selective || (recompute == Recompute::none && config.qk_norm);
  }
};

struct Activations {
  explicit Activations(Recompute recompute_) : recompute(recompute_) {}
  // Forgets the last forward and keeps its memory.
  void begin() {
    memory.reset();
    layers.clear();
  }

  Recompute recompute;
  Arena memory;
  std::vector<LayerActivations> layers;
  View<float> cos_TR, sin_TR;  // rotary tables
  View<float> final_RD;        // gathered residual stream before the final norm
  View<float> final_rrms_R;
};

}  // namespace hone
