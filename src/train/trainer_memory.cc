// What a trainer will take, for the check before a run: the same lists as what is allocated then.
#include <algorithm>

#include "train/trainer.h"

namespace hone {

TrainerMemory Trainer::memory(const ModelConfig& config, DType dtype, const TrainerOptions& options,
                              const TrainerWork& work) {
  const double largest = std::max(static_cast<double>(options.micro_batch_tokens), work.longest_sequence);
  const double step = std::min(largest, work.step_ids), score = std::min(largest, work.score_ids);
  const double trained = work.trained > 0 ? work.trained : static_cast<double>(config.num_parameters());
  TrainerMemory memory;
  memory.states = trained * (sizeof(float) + Moments::bytes_per_parameter(options.optimizer.moments));
  memory.transposed = Decoder::transposed_bytes(config, dtype);
  // whole blocks of keys and values: as many more as there are sequences, of which the longest are assumed
  const double block = kernels::kKvBlock, ids = std::max(step, score);
  const double sequences = std::max(1.0, ids / std::max(1.0, work.longest_sequence));
  const auto block_bytes = static_cast<double>(KvCache::block_bytes(config, dtype, kv_layers(options.recompute)));
  memory.kv = (ids / block + sequences) * block_bytes;
  memory.activations =
      step * static_cast<double>(Decoder::activation_bytes_per_token(config, dtype, options.recompute));

  const double row = static_cast<double>(config.hidden_size) * static_cast<double>(size_bytes(dtype));
  const double logits_row = static_cast<double>(config.num_outputs()) * sizeof(float);
  const double logits = std::min(std::max(static_cast<double>(options.logits_bytes), logits_row), ids * logits_row);
  const double head =
      logits + (dtype == DType::f32 ? 0 : logits / 2) + Decoder::head_backward_bytes(config, dtype, logits);
  const double gradient_row = static_cast<double>(config.hidden_size) * sizeof(float);
  const double forward = step * static_cast<double>(Decoder::stream_bytes_per_token(config, dtype));
  const double backward = Decoder::backward_bytes(config, dtype, step, options.share_prompts);
  const double steps = step * (row + gradient_row) + std::max({forward, head, backward});
  const double scores =
      score * row + std::max(score * static_cast<double>(Decoder::passing_bytes_per_token(config, dtype)), logits);
  memory.scratch = std::max(steps, scores);
  return memory;
}

TrainerMemory Trainer::memory_taken() const {
  TrainerMemory memory;
  const std::vector<Parameter>& trained = decoder_.trained();
  for (size_t p = 0; p < trained.size(); ++p) {
    memory.states += static_cast<double>(trained[p].size()) * sizeof(float);
    memory.states += static_cast<double>(optimizer_.moments()[p].size_bytes());
  }
  memory.transposed = static_cast<double>(decoder_.transposed_bytes_taken());
  memory.activations = static_cast<double>(Decoder::bytes_taken(*activations_));
  memory.kv = static_cast<double>(kv_.held_bytes());
  memory.scratch = static_cast<double>(ctx_.scratch.peak_bytes());
  return memory;
}

}  // namespace hone
