#include "bench/train.h"

#include <algorithm>
#include <cmath>

#include "bench/bench_model.h"
#include "bench/opening.h"
#include "bench/timing.h"
#include "core/random.h"
#include "loop/process_memory.h"
#include "train/trainer.h"

namespace hone::bench {

namespace {

constexpr int64_t kSequences = 8, kPromptIds = 129, kResponseIds = 384;  // the last id is only a target: 512 rows
constexpr int64_t kRows = kPromptIds + kResponseIds - 1;

std::vector<TrainSequence> random_sequences(const ModelConfig& config) {
  std::vector<TrainSequence> sequences(kSequences);
  for (size_t s = 0; s < sequences.size(); ++s) {
    TrainSequence& sequence = sequences[s];
    for (uint32_t i = 0; i < kPromptIds + kResponseIds; ++i) {
      const float u = random_uniform({7, Stream::init}, s, 0, i);
      sequence.ids.push_back(static_cast<int32_t>(u * static_cast<float>(config.vocab_size - 1)));
    }
    sequence.num_prompt = kPromptIds;
    sequence.old_logprobs.assign(kResponseIds, -std::log(static_cast<float>(config.vocab_size)));
    sequence.advantage = s % 2 == 0 ? 1.0f : -1.0f;
  }
  return sequences;
}

// Forward and twice as much backward; nothing that is computed again counts.
double step_flops(const ModelConfig& config) {
  double flops = 0;
  for (const Operation& operation : forward_operations(config, {kSequences, kRows, kRows, kResponseIds})) {
    flops += 3 * operation.flops;
  }
  return flops;
}

}  // namespace

int run_train(const Options& options) {
  Opening opening(options);
  kernels::Context& ctx = opening.ctx;
  const DType dtype = opening.dtype;
  Line& line = opening.line;
  line.name = "full_step";

  const ModelConfig config = bench_model();
  Decoder decoder(config, dtype);
  decoder.initialize(1);
  TrainerOptions trainer_options;
  trainer_options.micro_batch_tokens = 2 * kRows;
  trainer_options.valid_vocab = config.vocab_size;
  trainer_options.logits_bytes = kResponseIds * config.vocab_size * int64_t{sizeof(float)};
  Trainer trainer(ctx, decoder, trainer_options);
  const std::vector<TrainSequence> sequences = random_sequences(config);
  Objective objective;
  objective.kind = Objective::Kind::policy;
  objective.entropy_coeff = 1e-3;
  const auto step = [&](std::span<const TrainSequence> some) {
    const TrainStep result = trainer.step(some, objective, 1e-6);
    HONE_CHECK(result.optimizer.outcome == StepOutcome::applied, "step of norm {}", result.optimizer.grad_norm);
  };
  step(std::span(sequences).first(2));  // allocates what a micro-batch needs
  line.seconds = medians_by_turns(
                     std::min(options.repetitions, 3), [] {}, [&] { step(sequences); }, {}, {})
                     .ours;
  line.flops = step_flops(config);
  line.bytes = 3 * static_cast<double>(config.num_parameters() * size_bytes(DType::bf16));
  line.ratio = line.flops / line.seconds / line.roofs.roof_flops;
  line.peak_memory_bytes = peak_resident_bytes();
  options.print(options.json ? line.json() : line.text());
  return 0;
}

}  // namespace hone::bench
