// Decoder: a dense language model of the Llama, Qwen2 or Qwen3 family, forward and backward, on the kernels of a
// Context. T = tokens, D = hidden size, R = rows whose logits are wanted, V = vocabulary. There is one forward: rollout
// and training give it the same ForwardBatch, so a row's result is the same bits in both (law 1).
#pragma once

#include <memory>
#include <vector>

#include "kernels/context.h"
#include "models/forward_batch.h"
#include "models/kv_cache.h"
#include "models/layout.h"
#include "models/lora.h"
#include "models/model_config.h"
#include "models/parameter.h"
#include "models/recompute.h"

namespace hone {

struct Activations;  // what backward needs of a forward
struct LayerActivations;

// What a decoder is for: one that only samples keeps its weights in the compute dtype, and in bf16 cannot be trained or
// saved.
enum class DecoderUse { train, sample };

class Decoder {
 public:
  // Parameters are allocated, not filled: load (weights/hf_folder.h) or initialize.
  Decoder(const ModelConfig& config, DType dtype, DecoderUse use = DecoderUse::train);
  // With adapters: they alone are trained, the model's own weights are as for sampling. Rank 0: without any.
  Decoder(const ModelConfig& config, DType dtype, const LoraConfig& lora);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const ModelConfig& config() const { return config_; }
  DType dtype() const { return dtype_; }
  std::vector<Parameter>& parameters() { return parameters_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const LoraConfig& lora() const { return lora_; }  // rank 0: there are no adapters
  const LoraLayout& lora_layout() const { return lora_layout_; }
  std::vector<Parameter>& adapters() { return adapters_; }
  const std::vector<Parameter>& adapters() const { return adapters_; }
  // What is trained: the adapters where there are such, else all parameters.
  std::vector<Parameter>& trained() { return lora_.rank > 0 ? adapters_ : parameters_; }
  const std::vector<Parameter>& trained() const { return lora_.rank > 0 ? adapters_ : parameters_; }

  // Normal(0, initializer_range) for matrices, 1 for norms, 0 for biases; a function of the seed alone.
  void initialize(uint64_t seed);
  void initialize(kernels::Context& ctx, uint64_t seed);  // the same bits
  // A uniform within 1 / sqrt(inputs), B 0 (PEFT): the model is what it was.
  void initialize_adapters(kernels::Context& ctx, uint64_t seed);
  // Gradient buffers of what is trained, zeroed.
  void allocate_gradients();
  void zero_gradients(kernels::Context& ctx);
  // After the weights have changed: gives them a version, and the layout of the context's target.
  void publish(kernels::Context& ctx, int32_t version);
  int32_t version() const { return version_; }

  // Final-norm hidden state of batch.logit_rows -> y_RD (compute dtype). Writes keys and values to the cache.
  // With `saved`, keeps what backward needs (all sequences must be whole: context_lens = lengths). Layers may share
  // their keys and values where no later call reads them.
  void forward(kernels::Context& ctx, const ForwardBatch& batch, KvCache& kv, ComputeView y_RD,
               Activations* saved = nullptr) const;
  // logits_RV of hidden rows y_RD; the head is the embedding table when tied. V is config().num_outputs().
  void logits(kernels::Context& ctx, View<float> logits_RV, ConstComputeView y_RD) const;

  // Backward of logits: overwrites dy_RD, adds to the head's gradient.
  void logits_backward(kernels::Context& ctx, View<float> dy_RD, ConstComputeView dlogits_RV, ConstComputeView y_RD);
  // Backward of forward from the gradient of y_RD; adds to every parameter's gradient. With Recompute::full writes
  // keys and values once more.
  void backward(kernels::Context& ctx, const ForwardBatch& batch, KvCache& kv, View<const float> dy_RD,
                Activations& saved);

  // Bytes of the weights that a decoder holds.
  static double weight_bytes(const ModelConfig& config, DType dtype, DecoderUse use);
  // Of what backward keeps beside gradients and activations: the head and one matrix of a layer, transposed.
  static double transposed_bytes(const ModelConfig& config, DType dtype);
  // Bytes per token: of what Activations hold; of scratch in a forward with them, and in one without.
  static int64_t activation_bytes_per_token(const ModelConfig& config, DType dtype, Recompute recompute);
  static int64_t stream_bytes_per_token(const ModelConfig& config, DType dtype);
  static int64_t passing_bytes_per_token(const ModelConfig& config, DType dtype);
  // Scratch of backward, and of logits_backward beside the logits.
  static double backward_bytes(const ModelConfig& config, DType dtype, double tokens, bool share_prompts);
  static double head_backward_bytes(const ModelConfig& config, DType dtype, double logits_bytes);
  // What was taken of these so far, in bytes.
  int64_t transposed_bytes_taken() const { return transposed_.size_bytes() + transposed_head_.size_bytes(); }
  static int64_t bytes_taken(const Activations& activations);
  struct DeleteActivations {
    void operator()(Activations* activations) const;
  };
  using ActivationsPtr = std::unique_ptr<Activations, DeleteActivations>;
  static ActivationsPtr make_activations(Recompute recompute);

 private:
  // h += attention; a is what passes by, or is kept. The rotary tables of the batch's positions come with it.
  void attention_forward(kernels::Context& ctx, size_t index, const ForwardBatch& batch, KvCache& kv,
                         View<const float> cos_TR, View<const float> sin_TR, View<float> h_TD,
                         const LayerActivations& a) const;
  // a.act of h, what the layer's last product reads.
  void mlp_hidden(kernels::Context& ctx, size_t index, const ForwardBatch& batch, View<const float> h_TD,
                  const LayerActivations& a) const;
  void queries(kernels::Context& ctx, size_t index, View<const float> cos_TR, View<const float> sin_TR,
               const LayerActivations& a) const;
  // Makes whole what Activations keep of a layer.
  void recompute(kernels::Context& ctx, size_t index, const ForwardBatch& batch, KvCache& kv,
                 const Activations& saved) const;
  void layer_backward(kernels::Context& ctx, size_t index, const ForwardBatch& batch, const KvCache& kv,
                      const Activations& saved, View<float> dh_TD);
  // y (=, +=) W x + bias + adapters, and its backward: overwrites dx, adds to the gradients of what is trained.
  void linear(kernels::Context& ctx, View<float> y_TN, ConstComputeView x_TK, size_t weight, std::optional<size_t> bias,
              kernels::Store store, const ForwardBatch& batch) const;
  void linear_backward(kernels::Context& ctx, View<float> dx_TK, ConstComputeView dy_TN, ConstComputeView x_TK,
                       size_t weight, std::optional<size_t> bias);
  // scale * x A^T, rounded.
  ConstComputeView narrowed(kernels::Context& ctx, ConstComputeView x_TK, const kernels::PackedMatrix& a) const;
  // Where the gradient of a norm goes: nowhere, if it is not trained.
  View<float> norm_gradient(kernels::Context& ctx, size_t index);
  float attention_scale() const;
  View<const float> norm_weight(size_t index) const { return at(index).vector(); }
  // The same of a head norm; empty in families without.
  View<const float> norm_weight(std::optional<size_t> index) const;
  View<float> norm_gradient(kernels::Context& ctx, std::optional<size_t> index);
  const Parameter& at(size_t index) const { return parameters_[index]; }
  Parameter& at(size_t index) { return parameters_[index]; }
  Parameter& head() { return at(layout_.head); }
  const Parameter& head() const { return at(layout_.head); }

  ModelConfig config_;
  DType dtype_;
  ModelLayout layout_;
  std::vector<float> inv_freq_;
  std::vector<Parameter> parameters_;
  LoraConfig lora_;
  LoraLayout lora_layout_;
  std::vector<Parameter> adapters_;
  int32_t version_ = 0;
  kernels::PackedMatrix transposed_, transposed_head_;  // what products of backward read: made when it is needed
  bool has_transposed_head_ = false;                    // of this version
};

}  // namespace hone
