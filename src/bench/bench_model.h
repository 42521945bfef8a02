// The model of the benchmarks that run a whole decoder, and what the mathematics asks of a machine for it.
// Dimensions of SmolLM2-135M in the Qwen3 architecture, tied embeddings, random weights.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/roofs.h"
#include "kernels/context.h"
#include "models/decoder.h"

namespace hone::bench {

ModelConfig bench_model();
// With random weights, as version 0.
std::unique_ptr<Decoder> published_decoder(kernels::Context& ctx, const ModelConfig& config, DType dtype);

// One kind of operation of a forward over all layers.
struct Operation {
  std::string name;
  double flops = 0;  // multiplications and additions that the mathematics needs: the causal half of attention
  double bytes = 0;  // weights, keys and values as bf16, whatever is stored

  double ideal_seconds(const Roofs& roofs) const;
};

// S sequences of `queries` tokens each at the end of `context` keys; logits of `logit_rows` rows of each.
struct ForwardShape {
  int64_t sequences = 1, queries = 1, context = 1, logit_rows = 1;
};
std::vector<Operation> forward_operations(const ModelConfig& config, const ForwardShape& shape);

}  // namespace hone::bench
