#include "bench/bench_model.h"

#include <algorithm>

#include "core/bf16.h"

namespace hone::bench {

ModelConfig bench_model() {
  ModelConfig c;
  c.family = Family::llama;
  c.qk_norm = false;
  c.vocab_size = 49152;
  c.hidden_size = 576;
  c.intermediate_size = 1536;
  c.num_layers = 30;
  c.num_heads = 9;
  c.num_kv_heads = 3;
  c.head_dim = 64;
  c.max_position_embeddings = 8192;
  c.rms_norm_eps = 1e-5f;
  c.rope_theta = 100000.0f;
  c.tie_word_embeddings = true;
  return c;
}

std::unique_ptr<Decoder> published_decoder(kernels::Context& ctx, const ModelConfig& config, DType dtype) {
  auto decoder = std::make_unique<Decoder>(config, dtype);
  decoder->initialize(1);
  decoder->publish(ctx, 0);
  return decoder;
}

double Operation::ideal_seconds(const Roofs& roofs) const {
  return std::max(flops / roofs.roof_flops, bytes / roofs.read_bytes_per_s);
}

std::vector<Operation> forward_operations(const ModelConfig& config, const ForwardShape& shape) {
  constexpr auto kBytes = static_cast<double>(size_bytes(DType::bf16));
  const auto number = [](int64_t value) { return static_cast<double>(value); };
  const double layers = number(config.num_layers), tokens = number(shape.sequences * shape.queries);
  const auto linear = [&](const char* name, double times, double rows, int64_t outputs, int64_t inputs) {
    const double weights = times * number(outputs) * number(inputs);
    return Operation{name, 2 * rows * weights, kBytes * weights};
  };
  const int64_t first = shape.context - shape.queries;  // keys before the first query
  const double pairs =
      number(shape.sequences) * number(shape.queries) * (number(first) + number(shape.queries + 1) / 2);
  const Operation attention{"attention", layers * 4 * pairs * number(config.q_size()),
                            layers * 2 * kBytes * number(shape.sequences * shape.context * config.kv_size())};
  return {linear("qkv", layers, tokens, config.q_size() + 2 * config.kv_size(), config.hidden_size),
          attention,
          linear("o", layers, tokens, config.hidden_size, config.q_size()),
          linear("gate_up", layers, tokens, 2 * config.intermediate_size, config.hidden_size),
          linear("down", layers, tokens, config.hidden_size, config.intermediate_size),
          linear("head", 1, number(shape.sequences * shape.logit_rows), config.vocab_size, config.hidden_size)};
}

}  // namespace hone::bench
