#include "bench/resampler.h"

#include <cmath>

#include "bench/arms.h"
#include "bench/forced_engine.h"
#include "bench/opening.h"
#include "io/json.h"
#include "prompts/prompt_source.h"

namespace hone::bench {

namespace {

constexpr int64_t kRows = 256, kBatch = 32, kSamples = 8, kMostIds = 512;
constexpr double kMedianIds = 14, kPromptSigma = 0.8, kSampleSigma = 0.4, kStopFactor = 2.0;

// Lengths of the answers to a row in an epoch, lognormal: a part of the prompt and one of the sample.
std::vector<AnswerLength> lengths_of(uint64_t seed, uint32_t row, uint32_t epoch) {
  const RandomKey key{seed, Stream::bench};
  const double of_prompt = kPromptSigma * double{random_normal(key, row, 0, 0)};
  std::vector<AnswerLength> lengths;
  for (uint32_t sample = 0; sample < kSamples; ++sample) {
    const double of_sample = kSampleSigma * double{random_normal(key, row, 1 + epoch, sample)};
    const auto num_ids = static_cast<int64_t>(std::lround(kMedianIds * std::exp(of_prompt + of_sample)));
    lengths.push_back({std::clamp<int64_t>(num_ids, 1, kMostIds)});
  }
  return lengths;
}

struct Batch {
  std::vector<uint32_t> rows;
  double expected = 0;  // ids of an answer, by what the first epoch has learnt
};

// The second epoch, after one whose answers are observed.
std::vector<Batch> second_epoch(const std::vector<Prompt>& prompts, uint64_t seed, bool by_length) {
  PromptSourceOptions options;
  options.batch_size = kBatch;
  options.seed = seed;
  options.learn_lengths = true;
  options.order_by_length = by_length;
  options.length_order.bucket_size = 4;  // to these lengths about what the default is to those of a thousand ids
  PromptSource source(prompts, options);
  const auto row_of = [&](const DrawnPrompt& drawn) { return static_cast<uint32_t>(drawn.prompt - prompts.data()); };
  for (const DrawnPrompt& drawn : source.next(kRows)) source.observe(*drawn.prompt, lengths_of(seed, row_of(drawn), 0));
  std::vector<Batch> batches(kRows / kBatch);
  for (Batch& batch : batches) {
    std::vector<DrawnPrompt> drawn_prompts = source.next_batch();
    if (by_length) longest_first(source, drawn_prompts);
    for (const DrawnPrompt& drawn : drawn_prompts) {
      batch.rows.push_back(row_of(drawn));
      batch.expected += source.expected_length(*drawn.prompt) / static_cast<double>(kBatch);
    }
  }
  return batches;
}

struct Cut {
  int64_t answers = 0, cut_answers = 0, ids = 0, cut_ids = 0;
};

class Resampler {
 public:
  Resampler(kernels::Context& ctx, DType dtype, const CostCurve& costs) : costs_(costs), engine_(ctx, dtype) {}

  Arm random{"random", {}, {}}, by_length{"by_length", {}, {}}, early_stop{"by_length_early_stop", {}, {}};
  std::vector<double> kept_ids, kept_ids_early_stop;  // by repetition
  Cut cut;                                            // by early stop, over all repetitions

  void repeat(uint64_t repetition) {
    for (uint64_t turn = 0; turn < 3; ++turn) {
      switch ((turn + repetition) % 3) {
        case 0:
          kept_ids.push_back(run(random, repetition, false, false));
          break;
        case 1:
          run(by_length, repetition, true, false);
          break;
        default:
          kept_ids_early_stop.push_back(run(early_stop, repetition, true, true));
      }
    }
  }

 private:
  // Gives the ids that were drawn.
  double run(Arm& arm, uint64_t repetition, bool orders, bool stops) {
    const uint64_t seed = 100 + repetition;
    double seconds = 0;
    int64_t ids = 0;
    uint64_t draw = 0;
    for (const Batch& batch : second_epoch(prompts_, seed, orders)) {
      const int64_t cap = stops ? early_stop_cap(batch.expected, kStopFactor, 1, kMostIds) : kMostIds;
      for (const uint32_t row : batch.rows) {
        for (const AnswerLength& answer : lengths_of(seed, row, 1)) {
          const int64_t kept = std::min(answer.num_ids, cap);
          engine_.add({draw++, kept});
          ids += kept;
          if (stops) count(answer.num_ids, kept);
        }
      }
      seconds += seconds_of([&] { engine_.run(); });
    }
    arm.seconds.push_back(seconds);
    arm.modelled_seconds.push_back(seconds_of_steps(costs_, engine_.take_step_tokens()));
    return static_cast<double>(ids);
  }
  void count(int64_t num_ids, int64_t kept) {
    ++cut.answers;
    cut.cut_answers += kept < num_ids;
    cut.ids += num_ids;
    cut.cut_ids += num_ids - kept;
  }

  const CostCurve& costs_;
  ForcedEngine engine_;
  std::vector<Prompt> prompts_{kRows};
};

// Seconds of a kept token.
std::vector<double> per_token(const std::vector<double>& seconds, const std::vector<double>& ids) {
  std::vector<double> result;
  for (size_t i = 0; i < ids.size(); ++i) result.push_back(seconds[i] / ids[i]);
  return result;
}

}  // namespace

int run_resampler(const Options& options) {
  Opening opening(options);
  const int repetitions = options.repetitions == Options().repetitions ? kArmRepetitions : options.repetitions;
  const CostCurve costs = cost_of_bench_model(opening.ctx, opening.dtype);
  Resampler bench(opening.ctx, opening.dtype, costs);
  for (int i = 0; i < repetitions; ++i) bench.repeat(static_cast<uint64_t>(i));

  const auto off = per_token(bench.random.seconds, bench.kept_ids),
             on = per_token(bench.by_length.seconds, bench.kept_ids),
             stop = per_token(bench.early_stop.seconds, bench.kept_ids_early_stop),
             off_135m = per_token(bench.random.modelled_seconds, bench.kept_ids),
             on_135m = per_token(bench.by_length.modelled_seconds, bench.kept_ids),
             stop_135m = per_token(bench.early_stop.modelled_seconds, bench.kept_ids_early_stop);
  const Ratio measured = ratio(off, on), modelled = ratio(off_135m, on_135m), measured_stop = ratio(off, stop),
              modelled_stop = ratio(off_135m, stop_135m);
  const double answers_cut = static_cast<double>(bench.cut.cut_answers) / static_cast<double>(bench.cut.answers),
               tokens_cut = static_cast<double>(bench.cut.cut_ids) / static_cast<double>(bench.cut.ids);
  if (options.json) {
    io::Json line = opening.json("resampler");
    line.set("repetitions", int64_t{repetitions});
    line.set("workload",
             fmt::format("{} prompts x {} answers a batch, 64 running, {} prompts; lognormal lengths, median {} ids, "
                         "sigma {} of the prompt and {} of the sample; lengths known from one epoch",
                         kBatch, kSamples, kRows, kMedianIds, kPromptSigma, kSampleSigma));
    line.set("measured_on", "a model of 4 layers of width 256");
    line.set("seconds_per_token_random", median(off));
    line.set("seconds_per_token", median(on));
    line.set("ratio", measured.median);
    line.set("ratio_least", measured.least);
    line.set("ratio_largest", measured.largest);
    line.set("modelled_on", "the 135M shape: the same engine steps at its measured time by tokens of a step");
    line.set("modelled_seconds_per_token_random", median(off_135m));
    line.set("modelled_seconds_per_token", median(on_135m));
    line.set("modelled_ratio", modelled.median);
    line.set("early_stop_factor", kStopFactor);
    line.set("early_stop_ratio", measured_stop.median);
    line.set("early_stop_modelled_ratio", modelled_stop.median);
    line.set("early_stop_answers_cut", answers_cut);
    line.set("early_stop_tokens_cut", tokens_cut);
    options.print(line.dump());
  } else {
    options.print(fmt::format(
        "{}: {:.1f} us a kept token, random order {:.1f}: ratio {:.3f} ({:.3f} to {:.3f}); 135M "
        "shape by its step times {:.3f}; with early stop {:.3f} and {:.3f}, cutting {:.1f} % of answers, {:.1f} % of "
        "tokens",
        opening.head("resampler"), 1e6 * median(on), 1e6 * median(off), measured.median, measured.least,
        measured.largest, modelled.median, measured_stop.median, modelled_stop.median, 100 * answers_cut,
        100 * tokens_cut));
  }
  return 0;
}

}  // namespace hone::bench
