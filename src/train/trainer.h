// Trainer: one optimizer step over an optimizer batch of sequences: micro-batches by token budget, forward, loss and
// its gradient in chunks of rows, backward, clip, AdamW, publish.
#pragma once

#include <span>
#include <vector>

#include "models/decoder.h"
#include "models/kv_cache.h"
#include "records/train_sequence.h"
#include "train/objective.h"
#include "train/optimizer.h"
#include "train/packing.h"

namespace hone {

struct TrainerOptions {
  OptimizerOptions optimizer;
  int64_t micro_batch_tokens = 16384;  // token budget of a micro-batch
  int64_t micro_batch_sequences = 0;   // at most; 0: any number
  Recompute recompute = Recompute::none;
  bool share_prompts = false;       // neighbours with one prompt compute it once; other sums of gradients
  int64_t valid_vocab = 0;          // ids the tokenizer knows
  int64_t logits_bytes = 48 << 20;  // at most this much of [rows, vocabulary] in float at once (one row at least)
};

// The most that a run hands to its trainer, in ids: micro-batches are no larger, whatever the token budget. Doubles, so
// that no size overflows.
struct TrainerWork {
  double longest_sequence = 0;
  double step_ids = 0;   // of one optimizer batch
  double score_ids = 0;  // of one call of score(); 0: there is none
  double trained = 0;    // parameters with gradients; 0: all
};

// What a trainer takes, in bytes. Scratch is the context's, so that others use the same.
struct TrainerMemory {
  double states = 0;       // gradients and moments
  double transposed = 0;   // what backward reads so
  double activations = 0;  // of a micro-batch
  double kv = 0;           // its keys and values
  double scratch = 0;      // gradients of activations, logits; all of a pass that only scores
  double bytes() const { return states + transposed + activations + kv + scratch; }
};

// With full recomputation no later call reads what a layer wrote.
constexpr KvLayers kv_layers(Recompute recompute) {
  return recompute == Recompute::full ? KvLayers::shared : KvLayers::own;
}

struct TrainStep {
  double loss = 0;           // aggregated over the optimizer batch, without the terms of entropy and KL
  double entropy_loss = 0;   // the entropy's term
  double kl_loss = 0;        // aggregated KL: the gradient is of loss + entropy_loss + kl_coef * kl_loss
  double entropy = 0;        // mean over tokens with loss, nats
  double ppo_kl = 0;         // mean of old_logprob - logprob
  double clip_fraction = 0;  // shares of tokens with loss
  double clip_fraction_lower = 0;
  double probs_difference_max = 0;  // of |exp(logprob) - exp(rollout_logprob)| over tokens with loss
  double probs_difference_mean = 0;
  double probs_difference_std = 0;              // of the population
  algorithms::CorrectionStatistics correction;  // bypass mode
  double value = 0;                             // mean over tokens with loss; of a value head
  double publish_seconds = 0;
  int64_t num_tokens = 0;  // with loss
  OptimizerStep optimizer;

  void add(const ObjectiveToken& token, const ObjectiveRow& row);  // sums of a token of a policy or SFT
  void finish();                                                   // sums over num_tokens to means
};

class Trainer {
 public:
  // The decoder gets gradient buffers and is published; it outlives the trainer.
  Trainer(kernels::Context& ctx, Decoder& decoder, const TrainerOptions& options);

  // Sequences without response take no part. Publishes a new version when the step was applied.
  TrainStep step(std::span<const TrainSequence> sequences, const Objective& objective, double lr);
  // The loss and gradients of step() without the update: gradients are left in the parameters.
  TrainStep accumulate(std::span<const TrainSequence> sequences, const Objective& objective);
  // Log-prob of every response id with loss, as the loss sees it; 0 for the others. [sequence][response]
  // without_adapters: of the model that they were added to, a reference that takes no memory.
  std::vector<std::vector<float>> score(std::span<const TrainSequence> sequences, bool without_adapters = false) {
    return score(sequences, decoder_, without_adapters);
  }
  // The same of another decoder of this shape: a reference policy.
  std::vector<std::vector<float>> score(std::span<const TrainSequence> sequences, const Decoder& decoder,
                                        bool without_adapters = false);

  Optimizer& optimizer() { return optimizer_; }
  const Optimizer& optimizer() const { return optimizer_; }
  // Bytes needed beside the weights (trainer_memory.cc).
  static TrainerMemory memory(const ModelConfig& config, DType dtype, const TrainerOptions& options,
                              const TrainerWork& work);
  // The same of what was taken so far; scratch of all that the context did.
  TrainerMemory memory_taken() const;

 private:
  struct Rows;    // per-row values of one micro-batch
  struct Losses;  // what the loss knows of the sequences of one micro-batch
  struct Part;    // sequences of an optimizer batch
  // Forward, loss and backward of the micro-batches of sequences that all may have a gradient, or of others: those run
  // forward alone, for the metrics. Takes the part's lists.
  void sweep(const Part& part, bool teaches, const Objective& objective, TrainStep& result);
  algorithms::Coefficients coefficients_of(std::span<const TrainSequence> sequences,
                                           algorithms::SequenceLogprobs logprobs, const Objective& objective) const;
  void forward(const Decoder& decoder, std::span<const TrainSequence> sequences, Activations* saved, Rows& rows,
               bool without_adapters = false);
  std::vector<std::vector<float>> head_logprobs(const Decoder& decoder, std::span<const TrainSequence> sequences,
                                                const Rows& rows);
  bool head_sweep(const Losses& losses, const Objective& objective, const Rows& rows, View<float> dy_RD,
                  TrainStep& result);
  // Of a value head, which has one output and needs no chunks.
  bool value_sweep(std::span<const TrainSequence> sequences, std::span<const TokenWeights> weights,
                   const Objective& objective, ConstComputeView y_RD, View<float> dy_RD, TrainStep& result);
  std::vector<std::vector<float>> head_values(const Decoder& decoder, std::span<const TrainSequence> sequences,
                                              ConstComputeView y_RD);

  kernels::Context& ctx_;
  Decoder& decoder_;
  TrainerOptions options_;
  Optimizer optimizer_;
  Decoder::ActivationsPtr activations_;
  KvCache kv_;
  PackedBatch packed_;
};

}  // namespace hone
