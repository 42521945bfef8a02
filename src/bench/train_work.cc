#include "bench/train_work.h"

#include <algorithm>
#include <cmath>

#include "bench/bench_model.h"
#include "bench/opening.h"
#include "bench/timing.h"
#include "core/random.h"
#include "io/json.h"
#include "train/trainer.h"

namespace hone::bench {

namespace {

constexpr RandomKey kWorkKey{7, Stream::bench};
constexpr int64_t kTokens = 4096;

TrainSequence random_sequence(const ModelConfig& config, uint64_t prompt, uint64_t answer, int64_t num_prompt,
                              int64_t num_response) {
  TrainSequence sequence;
  sequence.num_prompt = num_prompt;
  for (int64_t i = 0; i < num_prompt + num_response; ++i) {
    const uint64_t draw = i < num_prompt ? prompt : (uint64_t{1} << 32) + answer;
    sequence.ids.push_back(static_cast<int32_t>(
        random_below(kWorkKey, draw, 1, static_cast<uint32_t>(i), static_cast<uint32_t>(config.vocab_size))));
  }
  sequence.old_logprobs.assign(static_cast<size_t>(num_response), -std::log(static_cast<float>(config.vocab_size)));
  sequence.advantage = answer % 2 == 0 ? 1.0f : -1.0f;
  return sequence;
}

// Answers of at most 512 ids, lognormal around 96, to prompts of 128, until the tokens are there.
std::vector<TrainSequence> uneven_sequences(const ModelConfig& config) {
  std::vector<TrainSequence> sequences;
  int64_t tokens = 0;
  for (uint64_t s = 0; tokens < kTokens; ++s) {
    const double length = 96 * std::exp(0.9 * double{random_normal(kWorkKey, s, 2, 0)});
    sequences.push_back(random_sequence(config, s, s, 128, std::clamp<int64_t>(std::llround(length), 1, 512)));
    tokens += sequences.back().num_rows();
  }
  return sequences;
}

// Two ways of the same training, by turns.
struct WorkComparison {
  WorkComparison(const Options& chosen, const char* bench)
      : options(chosen), opening(chosen), decoder(bench_model(), opening.dtype), name(bench) {
    decoder.initialize(1);
    objective.policy = algorithms::find_policy_loss("vanilla");
    trainer_options.micro_batch_tokens = 1024;
    trainer_options.valid_vocab = decoder.config().vocab_size;
  }

  void report(const std::function<void()>& on, const std::function<void()>& off, io::Json more) {
    on();
    off();
    const int repetitions = std::max(options.repetitions, 3);
    const Medians medians = medians_by_turns(
        repetitions, [] {}, on, [] {}, off);
    const double ratio = medians.peers / medians.ours;
    io::Json line = opening.json(name);
    line.set("repetitions", repetitions);
    line.set("on_seconds", medians.ours);
    line.set("off_seconds", medians.peers);
    line.set("ratio", ratio);
    line.set("shape", std::move(more));
    options.print(options.json ? line.dump()
                               : fmt::format("{}: {} repetitions: on {:.3f} s, off {:.3f} s, off/on {:.3f}",
                                             opening.head(name), repetitions, medians.ours, medians.peers, ratio));
  }

  const Options& options;
  Opening opening;
  Decoder decoder;
  Objective objective;
  TrainerOptions trainer_options;
  const char* name;
};

}  // namespace

// A training phase that takes the sampled log-probs as the old ones, against one that computes them again first.
int run_no_second_pass(const Options& options) {
  WorkComparison c(options, "no_second_pass");
  std::vector<TrainSequence> sequences;
  for (uint64_t s = 0; s < 8; ++s) sequences.push_back(random_sequence(c.decoder.config(), s, s, 129, 384));
  Trainer trainer(c.opening.ctx, c.decoder, c.trainer_options);
  const auto on = [&] { trainer.step(sequences, c.objective, 1e-6); };
  const auto off = [&] {
    trainer.score(sequences);
    trainer.step(sequences, c.objective, 1e-6);
  };
  c.report(on, off, io::Json::object({{"sequences", 8}, {"prompt_ids", 129}, {"response_ids", 384}}));
  return 0;
}

// A group whose prompt is computed once, against each answer with a prompt of its own. One trainer each: both have all
// their memory, and work on the same weights by turns.
int run_prefix_sharing(const Options& options) {
  constexpr int64_t kPrompt = 384, kResponse = 128, kSamples = 8;
  WorkComparison c(options, "prefix_sharing");
  std::vector<TrainSequence> sequences;
  for (uint64_t s = 0; s < kSamples; ++s) {
    sequences.push_back(random_sequence(c.decoder.config(), 0, s, kPrompt, kResponse));
  }
  c.trainer_options.micro_batch_tokens = kTokens;
  Trainer off(c.opening.ctx, c.decoder, c.trainer_options);
  c.trainer_options.share_prompts = true;
  Trainer on(c.opening.ctx, c.decoder, c.trainer_options);
  c.report([&] { on.step(sequences, c.objective, 1e-6); }, [&] { off.step(sequences, c.objective, 1e-6); },
           io::Json::object({{"samples", kSamples}, {"prompt_ids", kPrompt}, {"response_ids", kResponse}}));
  return 0;
}

// Micro-batches by a budget of tokens, against packed ones of a fixed number of sequences, as many as the longest allow
// in the same memory.
int run_dynamic_batch(const Options& options) {
  WorkComparison c(options, "dynamic_batch");
  const std::vector<TrainSequence> sequences = uneven_sequences(c.decoder.config());
  int64_t longest = 0;
  for (const TrainSequence& s : sequences) longest = std::max(longest, s.num_rows());
  const int64_t count = std::max<int64_t>(1, c.trainer_options.micro_batch_tokens / longest);
  Trainer on(c.opening.ctx, c.decoder, c.trainer_options);
  c.trainer_options.micro_batch_sequences = count;
  Trainer off(c.opening.ctx, c.decoder, c.trainer_options);
  c.report([&] { on.step(sequences, c.objective, 1e-6); }, [&] { off.step(sequences, c.objective, 1e-6); },
           io::Json::object({{"sequences", static_cast<int64_t>(sequences.size())},
                             {"longest", longest},
                             {"token_budget", c.trainer_options.micro_batch_tokens},
                             {"fixed_count", count}}));
  return 0;
}

}  // namespace hone::bench
