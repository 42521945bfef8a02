#include "bench/train_memory.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "bench/bench_model.h"
#include "bench/opening.h"
#include "core/random.h"
#include "loop/process_memory.h"
#include "train/trainer.h"

namespace hone::bench {

namespace {

constexpr double kGiB = 1 << 30;
constexpr int64_t kSmallVocab = 1024;

// A form and what its whole process may take: so many bytes a parameter of the model, and so many beside.
struct Form {
  const char* name;
  MomentForm moments;
  Recompute recompute;
  int64_t lora_rank, tokens, sequences;
  double bytes_per_parameter, beside;
};

constexpr Form kMemoryForms[] = {
    {"full", MomentForm::f32, Recompute::none, 0, 1024, 2, 20, 0.8 * kGiB},
    {"full_selective", MomentForm::f32, Recompute::selective, 0, 1024, 2, 20, 0.8 * kGiB},
    {"full_recompute", MomentForm::f32, Recompute::full, 0, 1024, 2, 20, 0.8 * kGiB},
    {"bf16_moments", MomentForm::bf16, Recompute::full, 0, 1024, 2, 20, 0.8 * kGiB},
    {"small", MomentForm::bits8, Recompute::full, 0, 1024, 2, 10, 0.8 * kGiB},
    {"lora", MomentForm::f32, Recompute::full, 16, 1024, 2, 5, 0.8 * kGiB},
    {"long", MomentForm::f32, Recompute::full, 0, 8192, 1, 20, 1.5 * kGiB},
};

std::vector<TrainSequence> sequences_of(const Form& form, int64_t vocab) {
  std::vector<TrainSequence> sequences(static_cast<size_t>(form.sequences));
  const int64_t ids = form.tokens / form.sequences + 1;  // the last is only a target
  for (size_t s = 0; s < sequences.size(); ++s) {
    TrainSequence& sequence = sequences[s];
    for (uint32_t i = 0; i < ids; ++i) {
      sequence.ids.push_back(
          static_cast<int32_t>(random_below({7, Stream::bench}, s, 0, i, static_cast<uint32_t>(vocab))));
    }
    sequence.num_prompt = ids / 4;
    sequence.old_logprobs.assign(static_cast<size_t>(ids - ids / 4), -std::log(static_cast<float>(vocab)));
    sequence.advantage = s % 2 == 0 ? 1.0f : -1.0f;
  }
  return sequences;
}

struct Measured {
  double peak = 0;                         // of the process over all steps
  double after_first = 0, after_last = 0;  // resident memory
  double estimate = 0;
};

Measured measure_form(kernels::Context& shared, const Form& form, const ModelConfig& config, DType dtype, int steps) {
  HONE_CHECK(reset_peak_resident(), "the system does not reset the peak of resident memory");
  kernels::Context ctx(shared.team.num_threads());  // its scratch goes with it
  LoraConfig lora;
  if (form.lora_rank > 0) {
    lora = {form.lora_rank, 32, {}};
    set_modules(lora, {"all-linear"}, {});
  }
  Decoder decoder(config, dtype, lora);
  decoder.initialize(ctx, 1);
  if (lora.rank > 0) decoder.initialize_adapters(ctx, 1);
  TrainerOptions options;
  options.optimizer.moments = form.moments;
  options.recompute = form.recompute;
  options.micro_batch_tokens = form.tokens;
  options.valid_vocab = config.vocab_size;
  Trainer trainer(ctx, decoder, options);
  Objective objective;
  objective.policy = algorithms::find_policy_loss("vanilla");
  objective.entropy_coeff = 1e-3;
  const auto sequences = sequences_of(form, config.vocab_size);
  Measured m;
  for (int step = 0; step < steps; ++step) {
    const TrainStep result = trainer.step(sequences, objective, 1e-6);
    HONE_CHECK(result.optimizer.outcome == StepOutcome::applied, "step of norm {}", result.optimizer.grad_norm);
    m.after_last = static_cast<double>(resident_bytes());
    if (step == 0) m.after_first = m.after_last;
  }
  m.peak = static_cast<double>(peak_resident_bytes().value_or(0));
  const auto tokens = static_cast<double>(form.tokens);
  const auto trained = static_cast<double>(lora.rank > 0 ? decoder.lora_layout().num_parameters() : 0);
  const DecoderUse use = lora.rank > 0 ? DecoderUse::sample : DecoderUse::train;
  m.estimate = Decoder::weight_bytes(config, dtype, use) + 4 * trained +
               Trainer::memory(config, dtype, options, {tokens, tokens, 0, trained}).bytes();
  return m;
}

// What a vocabulary of 49,152 adds to a small one beyond the parameters of its table: the logits and what goes with
// them.
double added_by_vocabulary(Opening& opening, Form form) {
  const ModelConfig large = bench_model();
  ModelConfig small = large;
  small.vocab_size = kSmallVocab;
  const double difference = measure_form(opening.ctx, form, large, opening.dtype, 1).peak -
                            measure_form(opening.ctx, form, small, opening.dtype, 1).peak;
  const auto parameters = static_cast<double>(large.num_parameters() - small.num_parameters());
  return difference - form.bytes_per_parameter * parameters;
}

}  // namespace

int run_train_memory(const Options& options) {
  Opening opening(options);
  const ModelConfig config = bench_model();
  const auto parameters = static_cast<double>(config.num_parameters());
  const double idle = static_cast<double>(resident_bytes());
  const auto chosen = [&](const std::string& name) {
    const std::vector<std::string>& names = options.families;
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const Form& form : kMemoryForms) {
    const double bound = form.bytes_per_parameter * parameters + form.beside;
    if (!chosen(form.name)) continue;
    const bool is_long = form.tokens > 1024;
    const Measured m =
        measure_form(opening.ctx, form, config, opening.dtype, is_long ? 1 : std::min(options.repetitions, 3));
    io::Json line = opening.json("train_memory_" + std::string(form.name));
    line.set("parameters", config.num_parameters());
    line.set("micro_batch_tokens", form.tokens);
    line.set("recompute", name(form.recompute));
    line.set("moments", name(form.moments));
    line.set("lora_rank", form.lora_rank);
    line.set("peak_bytes", m.peak);
    line.set("bound_bytes", bound);
    line.set("ratio", bound / m.peak);
    line.set("estimate_bytes", m.estimate);
    line.set("estimate_ratio", m.estimate / m.peak);
    line.set("idle_bytes", idle);
    line.set("resident_bytes_after_first_step", m.after_first);
    line.set("resident_bytes_after_last_step", m.after_last);
    options.print(options.json
                      ? line.dump()
                      : fmt::format("{}: {} tokens, recompute {}, moments {}: peak {:.3f} GiB, bound {:.3f} GiB, "
                                    "estimate {:.3f} GiB; resident {:.3f} GiB after a step, {:.3f} GiB at the end",
                                    opening.head(std::string("train_memory_") + form.name), form.tokens,
                                    name(form.recompute), name(form.moments), m.peak / kGiB, bound / kGiB,
                                    m.estimate / kGiB, m.after_first / kGiB, m.after_last / kGiB));
  }
  for (const int64_t tokens : {1024, 2048}) {
    if (!chosen("vocabulary")) break;
    // weights, gradients, moments and the head's transposed copy
    const Form form{"vocabulary", MomentForm::f32, Recompute::full, 0, tokens, 1, 20, 0};
    const double added = added_by_vocabulary(opening, form);
    io::Json line = opening.json("train_memory_vocabulary");
    line.set("micro_batch_tokens", tokens);
    line.set("added_bytes", added);
    line.set("bound_bytes", 64.0 * (1 << 20));
    line.set("ratio", 64.0 * (1 << 20) / added);
    options.print(options.json ? line.dump()
                               : fmt::format("{}: {} tokens: {:.1f} MiB beside the table's 20 bytes a parameter",
                                             opening.head("train_memory_vocabulary"), tokens, added / (1 << 20)));
  }
  return 0;
}

}  // namespace hone::bench
