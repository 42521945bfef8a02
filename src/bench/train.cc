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

constexpr int64_t kSequences = 8, kTrainPromptIds = 129, kResponseIds = 384;  // the last id is only a target: 512 rows
constexpr int64_t kRowIds = kTrainPromptIds + kResponseIds - 1;

std::vector<TrainSequence> random_sequences(const ModelConfig& config) {
  std::vector<TrainSequence> sequences(kSequences);
  for (size_t s = 0; s < sequences.size(); ++s) {
    TrainSequence& sequence = sequences[s];
    for (uint32_t i = 0; i < kTrainPromptIds + kResponseIds; ++i) {
      const float u = random_uniform({7, Stream::init}, s, 0, i);
      sequence.ids.push_back(static_cast<int32_t>(u * static_cast<float>(config.vocab_size - 1)));
    }
    sequence.num_prompt = kTrainPromptIds;
    sequence.old_logprobs.assign(kResponseIds, -std::log(static_cast<float>(config.vocab_size)));
    sequence.advantage = s % 2 == 0 ? 1.0f : -1.0f;
  }
  return sequences;
}

double forward_flops(const ModelConfig& config) {
  double flops = 0;
  for (const Operation& operation : forward_operations(config, {kSequences, kRowIds, kRowIds, kResponseIds})) {
    flops += operation.flops;
  }
  return flops;
}

TrainerOptions trainer_options(const ModelConfig& config) {
  TrainerOptions options;
  options.micro_batch_tokens = 2 * kRowIds;
  options.valid_vocab = config.vocab_size;
  options.logits_bytes = kResponseIds * config.vocab_size * int64_t{sizeof(float)};
  return options;
}

Objective objective_with_entropy() {
  Objective objective;
  objective.policy = algorithms::find_policy_loss("vanilla");
  objective.entropy_coeff = 1e-3;
  return objective;
}

class TrainBench {
 public:
  explicit TrainBench(const Options& options) : options_(options), opening_(options) {}

  // Forward and twice as much backward; nothing that is computed again counts. Then, without gradients, the pass that
  // only scores; then the optimizer alone.
  void whole_model() {
    const ModelConfig config = bench_model();
    Decoder decoder(config, opening_.dtype);
    decoder.initialize(1);
    Trainer trainer(ctx(), decoder, trainer_options(config));
    const std::vector<TrainSequence> sequences = random_sequences(config);
    const Objective objective = objective_with_entropy();
    const auto step = [&](std::span<const TrainSequence> some) {
      const TrainStep result = trainer.step(some, objective, 1e-6);
      HONE_CHECK(result.optimizer.outcome == StepOutcome::applied, "step of norm {}", result.optimizer.grad_norm);
    };
    step(std::span(sequences).first(2));  // allocates what a micro-batch needs
    const double parameters = static_cast<double>(config.num_parameters());
    report(
        "full_step", [&] { step(sequences); }, 3 * forward_flops(config), 3 * 2 * parameters);
    report(
        "logprob_pass", [&] { trainer.score(sequences); }, forward_flops(config), 2 * parameters);
    optimizer(trainer, decoder);
  }

  // The same trainer over a model of no layers: the head, log-probs, entropy, loss and its gradients.
  void head() {
    ModelConfig config = bench_model();
    config.num_layers = 0;
    Decoder decoder(config, opening_.dtype);
    decoder.initialize(1);
    Trainer trainer(ctx(), decoder, trainer_options(config));
    const std::vector<TrainSequence> sequences = random_sequences(config);
    const Objective objective = objective_with_entropy();
    trainer.accumulate(std::span(sequences).first(2), objective);
    report(
        "head_loss", [&] { trainer.accumulate(sequences, objective); }, 3 * forward_flops(config),
        3 * 2 * static_cast<double>(config.vocab_size * config.hidden_size));
  }

 private:
  kernels::Context& ctx() { return opening_.ctx; }

  void report(const char* name, const std::function<void()>& body, double flops, double bytes) {
    Line& line = opening_.line;
    line.name = name;
    line.seconds = medians_by_turns(std::min(options_.repetitions, 3), [] {}, body, {}, {}).ours;
    line.flops = flops;
    line.bytes = bytes;
    line.ratio = line.flops / line.seconds / line.roofs.roof_flops;
    line.peak_memory_bytes = peak_resident_bytes();
    print();
  }

  // Norm of the gradients and AdamW: gradients read twice, weights and moments read and written, against the rate of
  // changing memory in place.
  void optimizer(Trainer& trainer, Decoder& decoder) {
    const double update_rate = measure_update_rate(ctx());
    Line& line = opening_.line;
    line.name = "adamw";
    line.seconds = medians_by_turns(
                       options_.repetitions, [] {}, [&] { trainer.optimizer().step(ctx(), decoder, 1e-6); }, {}, {})
                       .ours;
    line.flops = 0;
    line.bytes = 8 * double{sizeof(float)} * static_cast<double>(decoder.config().num_parameters());
    line.ideal_seconds = line.bytes / update_rate;
    line.ratio = *line.ideal_seconds / line.seconds;
    print();
    line.ideal_seconds.reset();
  }

  void print() { options_.print(options_.json ? opening_.line.json() : opening_.line.text()); }

  const Options& options_;
  Opening opening_;
};

}  // namespace

int run_train(const Options& options) {
  TrainBench bench(options);
  bench.whole_model();
  bench.head();
  return 0;
}

}  // namespace hone::bench
