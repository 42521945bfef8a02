#include "bench/scheduling.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "bench/bench_model.h"
#include "bench/opening.h"
#include "bench/timing.h"
#include "core/random.h"
#include "io/json.h"
#include "loop/process_memory.h"
#include "rollout/engine.h"

namespace hone::bench {

namespace {

constexpr RandomKey kKey{7, Stream::bench};

// A decoder with the dimensions of SmolLM2-135M and, unless all are wanted, fewer layers.
struct Machine {
  Machine(const Options& options, int64_t num_layers) : opening(options), config(bench_model()) {
    config.num_layers = num_layers;
    decoder = published_decoder(opening.ctx, config, opening.dtype);
  }
  io::Json json(const char* name) const {
    io::Json line = opening.json(name);
    line.set("layers", config.num_layers);
    return line;
  }
  std::string head(const char* name) const {
    return fmt::format("{}, {} layers of {}", opening.head(name), config.num_layers, bench_model().num_layers);
  }

  Opening opening;
  ModelConfig config;
  std::unique_ptr<Decoder> decoder;
};

Prompt random_prompt(const ModelConfig& config, uint64_t draw, int64_t length) {
  Prompt prompt;
  for (int64_t i = 0; i < length; ++i) {
    prompt.ids.push_back(static_cast<int32_t>(
        random_below(kKey, draw, 1, static_cast<uint32_t>(i), static_cast<uint32_t>(config.vocab_size))));
  }
  return prompt;
}

SamplingParams sampling_of(int64_t length) {
  SamplingParams sampling;
  sampling.max_new_tokens = length;
  sampling.ignore_eos = true;
  sampling.key = kKey;
  return sampling;
}

void print(const Options& options, const io::Json& line, const std::string& text) {
  options.print(options.json ? line.dump() : text);
}

// --- chunked_prefill: two engines do the same work by turns, one with whole prompts in a step, one with prompts cut so
// that each step has kChunked rows: the eight decodes, whose weights have to come from memory anyway, and a piece.

constexpr int64_t kScheduledIds = 128, kRunning = 8, kRequests = 64, kLongest = 1024;
constexpr int64_t kWhole = 8192, kChunked = 16;
constexpr double kMeanAnswer = 256, kSigma = 0.6, kTurnSeconds = 0.7;

// Lognormal with the mean kMeanAnswer, the same on both sides.
int64_t answer_length(uint64_t draw) {
  const double z = random_normal(kKey, draw, 2, 0);
  return std::clamp<int64_t>(std::llround(kMeanAnswer * std::exp(kSigma * z - kSigma * kSigma / 2)), 1, kLongest);
}

struct Side {
  Side(Machine& machine, const std::deque<Prompt>& prompts, bool chunked) {
    EngineOptions options;
    options.max_num_seqs = kRunning;
    options.enable_chunked_prefill = chunked;
    options.max_num_batched_tokens = chunked ? kChunked : kWhole;
    options.num_kv_blocks = kRunning * ((kScheduledIds + kLongest) / kernels::kKvBlock + 1);
    engine = std::make_unique<Engine>(machine.opening.ctx, *machine.decoder, options);
    for (uint64_t draw = 0; draw < prompts.size(); ++draw) {
      engine->add({&prompts[draw], draw}, 1, sampling_of(answer_length(draw)));
    }
  }
  void turn() {
    if (!engine->has_work()) return;
    let_spinners_sleep();
    const double start = seconds;
    while (engine->has_work() && seconds - start < kTurnSeconds) seconds += seconds_of([&] { engine->step(); });
    ++num_turns;
  }
  std::unique_ptr<Engine> engine;
  double seconds = 0;
  int64_t num_turns = 0;
};

}  // namespace

int run_chunked_prefill(const Options& options) {
  Machine machine(options, bench_model().num_layers);
  std::deque<Prompt> prompts;
  for (uint64_t draw = 0; draw < kRequests; ++draw) {
    prompts.push_back(random_prompt(machine.config, draw, kScheduledIds));
  }
  Side on(machine, prompts, true), off(machine, prompts, false);
  while (on.engine->has_work() || off.engine->has_work()) {
    on.turn();
    off.turn();
  }
  const int64_t num_tokens = on.engine->stats().num_generated;
  HONE_CHECK(num_tokens == off.engine->stats().num_generated, "{} and {} tokens", num_tokens,
             off.engine->stats().num_generated);
  const int64_t num_turns = std::min(on.num_turns, off.num_turns);
  io::Json line = machine.json("chunked_prefill");
  line.set("requests", kRequests);
  line.set("tokens", num_tokens);
  line.set("turns", num_turns);
  line.set("on_max_num_batched_tokens", kChunked);
  line.set("on_seconds", on.seconds);
  line.set("off_seconds", off.seconds);
  line.set("ratio", off.seconds / on.seconds);
  print(options, line,
        fmt::format("{}: {} requests of {} ids, {} tokens, {} running, {} turns each: on {:.2f} s ({} rows a step), "
                    "off {:.2f} s, off/on {:.3f}",
                    machine.head("chunked_prefill"), kRequests, kScheduledIds, num_tokens, kRunning, num_turns,
                    on.seconds, kChunked, off.seconds, off.seconds / on.seconds));
  return 0;
}

// A group of 16 against a single answer, one token each: the prompt, and what 16 draws from its last row take.
int run_group_prefill(const Options& options) {
  constexpr int64_t kIds = 512;
  constexpr int kSamples = 16;
  Machine machine(options, bench_model().num_layers);
  const Prompt prompt = random_prompt(machine.config, 0, kIds);
  EngineOptions engine_options;
  engine_options.num_kv_blocks = kIds / kernels::kKvBlock + kSamples;
  engine_options.enable_prefix_caching = false;  // a repetition must not find its prompt
  Engine engine(machine.opening.ctx, *machine.decoder, engine_options);
  const auto answer = [&](int num_samples) {
    engine.add({&prompt, 0}, num_samples, sampling_of(1));
    HONE_CHECK(engine.run_all().at(0).trajectories.size() == static_cast<size_t>(num_samples), "{}", num_samples);
  };
  answer(kSamples);
  const int repetitions = std::max(options.repetitions, 20);
  const Medians medians = medians_by_turns(
      repetitions, [] {}, [&] { answer(kSamples); }, [] {}, [&] { answer(1); });
  io::Json line = machine.json("group_prefill");
  line.set("prompt_ids", kIds);
  line.set("samples", kSamples);
  line.set("repetitions", repetitions);
  line.set("group_seconds", medians.ours);
  line.set("one_seconds", medians.peers);
  line.set("ratio", medians.ours / medians.peers);
  print(options, line,
        fmt::format("{}: prompt of {} ids, {} repetitions: group of {} {:.4f} s, one {:.4f} s, ratio {:.3f}",
                    machine.head("group_prefill"), kIds, repetitions, kSamples, medians.ours, medians.peers,
                    medians.ours / medians.peers));
  return 0;
}

// Resident memory after 200 and 2,000 requests, and what giving the cache back brings, against the plan.
int run_rollout_memory(const Options& options) {
  constexpr int64_t kLayers = 4, kFirst = 200, kAll = 2000, kBlocks = 384;
  Machine machine(options, kLayers);
  EngineOptions engine_options;
  engine_options.num_kv_blocks = kBlocks;
  Engine engine(machine.opening.ctx, *machine.decoder, engine_options);
  std::deque<Prompt> prompts;
  int64_t num_done = 0;
  const auto answer_until = [&](int64_t count) {
    while (num_done < count) {
      while (static_cast<int64_t>(prompts.size()) < count && engine.num_waiting() < 8) {
        const uint64_t draw = prompts.size();
        prompts.push_back(random_prompt(machine.config, draw, 32 + random_below(kKey, draw, 3, 0, 33)));
        engine.add({&prompts.back(), draw}, 1, sampling_of(1 + random_below(kKey, draw, 3, 1, 31)));
      }
      engine.step();
      num_done += static_cast<int64_t>(engine.take_finished().size());
    }
    return static_cast<double>(resident_bytes());
  };
  const double after_first = answer_until(kFirst), after_all = answer_until(kAll);
  HONE_CHECK(engine.num_free_kv_blocks() == kBlocks, "{} of {} blocks are free", engine.num_free_kv_blocks(), kBlocks);
  engine.free_cache();
  const double given_back = after_all - static_cast<double>(resident_bytes());
  const double plan = KvCache::memory_bytes(machine.config, machine.decoder->dtype(), kBlocks);
  io::Json line = machine.json("rollout_memory");
  line.set("requests", kAll);
  line.set("resident_bytes_after_200", after_first);
  line.set("resident_bytes_after_2000", after_all);
  line.set("ratio", after_all / after_first);
  line.set("kv_plan_bytes", plan);
  line.set("kv_given_back_bytes", given_back);
  line.set("kv_ratio", given_back / plan);
  print(options, line,
        fmt::format("{}: resident {:.2f} MB after {} requests, {:.2f} MB after {}, ratio {:.4f}; KV cache given back "
                    "{:.2f} MB of {:.2f} MB planned, ratio {:.4f}",
                    machine.head("rollout_memory"), after_first * 1e-6, kFirst, after_all * 1e-6, kAll,
                    after_all / after_first, given_back * 1e-6, plan * 1e-6, given_back / plan));
  return 0;
}

}  // namespace hone::bench
