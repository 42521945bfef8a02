// Law 1: the log-prob that sampling recorded is the one that training computes, to the bit: for any schedule of the
// rollout, any micro-batches of the training, any number of threads, on every target, in both dtypes; here, and in a
// process that knows the dump of the samples and the checkpoint alone.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <functional>

#include "io/json.h"
#include "loop/checkpoint.h"
#include "loop/group_sequences.h"
#include "rollout/engine.h"
#include "support/command.h"
#include "support/tiny_model.h"
#include "support/tiny_run.h"
#include "train/trainer.h"

namespace hone {
namespace {

using test::operator+;

// Numbers of a case, a function of its name.
class Draws {
 public:
  explicit Draws(uint64_t seed) : seed_(seed) {}
  int64_t between(int64_t first, int64_t last) {
    return first + random_below({seed_, Stream::test}, next_++, 0, 0, static_cast<uint32_t>(last - first + 1));
  }
  bool coin() { return between(0, 1) == 1; }

 private:
  uint64_t seed_, next_ = 0;
};

// Prompts of 1 to 40 ids, groups of 1 to 4 answers, all of one temperature.
struct Work {
  std::deque<Prompt> prompts;
  std::vector<int> samples;
  SamplingParams sampling;
  int64_t num_preemptions = 0;  // of all that was rolled out

  explicit Work(Draws& draws) {
    const int64_t num = draws.between(1, 4);
    for (int64_t p = 0; p < num; ++p) {
      Prompt& prompt = prompts.emplace_back();
      const int64_t block = kernels::kKvBlock;
      const int64_t length = draws.coin() ? draws.between(1, 40) : draws.between(block - 1, block + 1);
      for (int64_t i = 0; i < length; ++i) {
        prompt.ids.push_back(static_cast<int32_t>(draws.between(0, test::kTinyValidVocab - 1)));
      }
      samples.push_back(static_cast<int>(draws.between(1, 4)));
    }
    const float temperatures[] = {1.0f, 0.6f, 1.7f};
    sampling.temperature = temperatures[draws.between(0, 2)];
    sampling.max_new_tokens = draws.between(1, 40);
    sampling.end_ids = {13};
    sampling.key = {static_cast<uint64_t>(draws.between(1, 1000)), Stream::train};
    sampling.valid_vocab = test::kTinyValidVocab;
  }

  std::vector<Group> roll_out(kernels::Context& ctx, const Decoder& decoder, const EngineOptions& options) {
    Engine engine(ctx, decoder, options);
    for (size_t p = 0; p < prompts.size(); ++p) engine.add({&prompts[p], p}, samples[p], sampling);
    std::vector<Group> groups = engine.run_all();
    num_preemptions += engine.stats().num_preemptions;
    return groups;
  }
};

EngineOptions random_schedule(Draws& draws) {
  EngineOptions options;
  options.max_num_seqs = draws.between(1, 9);
  options.enable_chunked_prefill = draws.coin();
  options.max_num_batched_tokens = options.enable_chunked_prefill ? draws.between(2, 50) : draws.between(80, 120);
  options.enable_prefix_sharing = draws.coin();
  options.enable_prefix_caching = draws.coin();
  if (draws.coin()) {
    options.speculation.emplace();
    options.speculation->cost = {{1, 1.0}};  // rows beyond the first are free: everything that is proposed is computed
  }
  options.num_kv_blocks = draws.between(3, 5);  // the longest sequence takes 3: others are sent back and recomputed
  options.logits_bytes = draws.coin() ? 3 * 16 * 4 : 1 << 20;
  return options;
}

TrainerOptions random_micro_batches(Draws& draws) {
  TrainerOptions options;
  options.valid_vocab = test::kTinyValidVocab;
  options.micro_batch_tokens = draws.between(1, 200);
  options.share_prompts = draws.coin();
  options.logits_bytes = draws.coin() ? draws.between(1, 7) * 16 * 4 : 1 << 20;
  return options;
}

std::vector<TrainSequence> sequences_of(std::vector<Group>& groups) {
  std::vector<TrainSequence> sequences;
  for (Group& group : groups) {
    for (Trajectory& t : group.trajectories) t.score.value = 0.0f;
    append_sequences(group, sequences);
  }
  return sequences;
}

// Log-probs of all sequences that are not the recorded ones to the bit.
int64_t num_different(Trainer& trainer, const std::vector<TrainSequence>& sequences) {
  const auto scored = trainer.score(sequences);
  int64_t different = 0;
  for (size_t s = 0; s < sequences.size(); ++s) {
    for (size_t i = 0; i < scored[s].size(); ++i) {
      different += std::memcmp(&scored[s][i], &sequences[s].old_logprobs[i], sizeof(float)) != 0;
    }
  }
  return different;
}

int64_t num_logprobs(const std::vector<TrainSequence>& sequences) {
  int64_t num = 0;
  for (const TrainSequence& s : sequences) num += s.num_response();
  return num;
}

void make_weights(Decoder& decoder) {
  decoder.initialize(3);
  test::randomize_norms(decoder, 3);
  test::randomize_adapters(decoder, 3);
}

struct Compared {
  int64_t num_logprobs = 0, num_preemptions = 0;
};

// Samples under random schedules and compares every log-prob with the trainer's.
Compared compare(Decoder& decoder, const kernels::cpu::Target& target, uint64_t first_seed, uint64_t last_seed) {
  Compared compared;
  for (uint64_t seed = first_seed; seed <= last_seed; ++seed) {
    Draws draws(seed);
    const int threads = 1 << draws.between(0, 2), training_threads = 1 << draws.between(0, 2);
    SCOPED_TRACE(fmt::format("{} {} seed {} threads {} {}", target.name, name(decoder.dtype()), seed, threads,
                             training_threads));
    kernels::Context rollout(threads, target), training(training_threads, target);
    Trainer trainer(training, decoder, random_micro_batches(draws));  // publishes
    Work work(draws);
    std::vector<Group> groups = work.roll_out(rollout, decoder, random_schedule(draws));
    const auto sequences = sequences_of(groups);
    EXPECT_EQ(num_different(trainer, sequences), 0);
    compared.num_logprobs += num_logprobs(sequences);
    compared.num_preemptions += work.num_preemptions;
  }
  return compared;
}

TEST(Law1, TrainingComputesTheLogProbsOfSamplingOverRandomSchedules) {
  for (const kernels::cpu::Target& target : kernels::cpu::all_targets()) {
    if (!target.supported()) continue;
    for (const DType dtype : {DType::f32, DType::bf16}) {
      ModelConfig config = test::tiny_config();
      config.tie_word_embeddings = dtype == DType::f32;
      Decoder decoder(config, dtype);
      make_weights(decoder);
      const Compared compared = compare(decoder, target, 1, 24);
      EXPECT_GT(compared.num_logprobs, 2000);
      EXPECT_GT(compared.num_preemptions, 0);
    }
  }
}

TEST(Law1, HoldsForEveryFamilyWithItsBiasesAndRotations) {
  for (const auto& [family, config] : test::tiny_families()) {
    SCOPED_TRACE(family);
    for (const kernels::cpu::Target& target : kernels::cpu::all_targets()) {
      if (!target.supported()) continue;
      for (const DType dtype : {DType::f32, DType::bf16}) {
        Decoder decoder(config, dtype);
        make_weights(decoder);
        EXPECT_GT(compare(decoder, target, 101, 106).num_logprobs, 300);
      }
    }
  }
}

TEST(Law1, HoldsForAModelWithAdapters) {
  for (const kernels::cpu::Target& target : kernels::cpu::all_targets()) {
    if (!target.supported()) continue;
    for (const DType dtype : {DType::f32, DType::bf16}) {
      for (const int64_t rank : {1, 5, 17}) {
        Decoder decoder(test::tiny_families()[static_cast<size_t>(rank % 3)].second, dtype, test::tiny_lora(rank));
        make_weights(decoder);
        EXPECT_GT(compare(decoder, target, 201, 204).num_logprobs, 200);
      }
    }
  }
}

TEST(Law1, TheFirstUpdateSeesARatioOfExactlyOne) {
  Draws draws(99);
  Decoder decoder(test::tiny_config(), DType::f32);
  make_weights(decoder);
  kernels::Context ctx(2);
  Trainer trainer(ctx, decoder, random_micro_batches(draws));
  Work work(draws);
  std::vector<Group> groups = work.roll_out(ctx, decoder, random_schedule(draws));
  auto sequences = sequences_of(groups);
  for (TrainSequence& s : sequences) s.advantage = 1.0f;
  Objective objective;
  objective.policy = algorithms::find_policy_loss("vanilla");
  const TrainStep first = trainer.step(sequences, objective, 1e-2);
  EXPECT_EQ(first.probs_difference_max, 0.0);
  EXPECT_EQ(first.ppo_kl, 0.0);
  EXPECT_EQ(first.clip_fraction, 0.0);
  const TrainStep second = trainer.step(sequences, objective, 1e-2);
  EXPECT_GT(second.probs_difference_max, 0.0) << "the weights have changed";
}

// Samples, then turns numbers of each such parameter one unit up, one after another, until a log-prob changes; at most
// `tries` numbers of a parameter.
void expect_changes_to_show(const ModelConfig& config, const kernels::cpu::Target& target, int64_t tries,
                            const std::function<bool(const Parameter&)>& looked_at, const LoraConfig& lora = {}) {
  Draws draws(7);
  kernels::Context ctx(1, target);
  Decoder decoder(config, DType::f32, lora);
  make_weights(decoder);
  Trainer trainer(ctx, decoder, random_micro_batches(draws));
  Work work(draws);
  work.sampling.max_new_tokens = 40;
  work.sampling.ignore_eos = true;
  std::vector<Group> groups = work.roll_out(ctx, decoder, random_schedule(draws));
  const auto sequences = sequences_of(groups);
  ASSERT_EQ(num_different(trainer, sequences), 0);
  for (Parameter& parameter : decoder.trained()) {
    if (!looked_at(parameter)) continue;
    bool shows = false;
    for (int64_t i = 0; i < std::min(parameter.size(), tries) && !shows; ++i) {
      const float before = parameter.get(i);
      parameter.set(i, std::nextafter(before, 10.0f));
      decoder.publish(ctx, 1);
      shows = num_different(trainer, sequences) > 0;
      parameter.set(i, before);
    }
    EXPECT_TRUE(shows) << parameter.pieces().front().name;
  }
  decoder.publish(ctx, 0);
  EXPECT_EQ(num_different(trainer, sequences), 0);
}

TEST(Law1, OneWeightChangedByOneUnitInTheLastPlaceShows) {
  for (const kernels::cpu::Target& target : kernels::cpu::all_targets()) {
    if (!target.supported()) continue;
    SCOPED_TRACE(target.name);
    // a single unit may be lost in the rounding of a sum, but not that of sixty weights
    expect_changes_to_show(test::tiny_config(), target, 60, [](const Parameter&) { return true; });
  }
}

TEST(Law1, OneBiasChangedByOneUnitInTheLastPlaceShows) {
  for (const auto& [family, config] : test::tiny_families()) {
    SCOPED_TRACE(family);
    // the bias of a key alone moves no softmax, so any piece may be the one that shows
    expect_changes_to_show(config, kernels::cpu::default_target(), INT64_MAX,
                           [](const Parameter& parameter) { return parameter.kind() == ParameterKind::bias; });
  }
}

TEST(Law1, OneNumberOfAnAdapterChangedByOneUnitInTheLastPlaceShows) {
  expect_changes_to_show(
      test::tiny_config(), kernels::cpu::default_target(), 60, [](const Parameter&) { return true; },
      test::tiny_lora(3));
}

TEST(Law1, ASampleIsTheSameAloneAndAmongNeighbours) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    Draws draws(1000 + seed);
    Decoder decoder(test::tiny_config(), DType::f32);
    make_weights(decoder);
    kernels::Context ctx(1), other(1 << draws.between(0, 2));
    decoder.publish(ctx, 0);
    Work work(draws);
    work.prompts.push_back(work.prompts.front());  // the same prompt twice: another draw, other samples
    work.samples.push_back(work.samples.front());
    const std::vector<Group> together = work.roll_out(ctx, decoder, random_schedule(draws));
    for (size_t p = 0; p < work.prompts.size(); ++p) {
      Engine engine(other, decoder, random_schedule(draws));
      engine.add({&work.prompts[p], p}, work.samples[p], work.sampling);
      const std::vector<Group> alone = engine.run_all();
      ASSERT_EQ(alone.size(), 1u);
      for (size_t k = 0; k < alone[0].trajectories.size(); ++k) {
        EXPECT_EQ(alone[0].trajectories[k].response_ids, together[p].trajectories[k].response_ids);
        EXPECT_EQ(alone[0].trajectories[k].logprobs, together[p].trajectories[k].logprobs);
      }
    }
  }
}

// A run's samples of step N from its dump, with what the policy version must be.
std::vector<TrainSequence> read_samples(const std::string& path, int32_t version) {
  std::vector<TrainSequence> sequences;
  std::istringstream text(io::read_file(path));
  for (std::string line; std::getline(text, line);) {
    const io::Json row = io::parse_json(line, path);
    TrainSequence s;
    for (const io::Json& id : row.at("prompt_ids").as_array()) s.ids.push_back(static_cast<int32_t>(id.as_int()));
    s.num_prompt = static_cast<int64_t>(s.ids.size());
    for (const io::Json& id : row.at("response_ids").as_array()) s.ids.push_back(static_cast<int32_t>(id.as_int()));
    for (const io::Json& logprob : row.at("logprobs").as_array()) s.old_logprobs.push_back(logprob.as_float());
    for (const io::Json& v : row.at("versions").as_array()) EXPECT_EQ(v.as_int(), version);
    s.temperature = row.at("temperature").as_float();
    EXPECT_EQ(s.num_response(), static_cast<int64_t>(s.old_logprobs.size()));
    sequences.push_back(std::move(s));
  }
  return sequences;
}

TEST(Law1, DumpedSamplesScoredByAFreshProcessAreEqualToTheBit) {
  const test::TemporaryFolder folder("law1");
  test::write_tiny_inputs(folder.path());
  for (const kernels::cpu::Target& target : kernels::cpu::all_targets()) {
    if (!target.supported()) continue;
    for (const DType dtype : {DType::f32, DType::bf16}) {
      const std::string run = folder / fmt::format("{}_{}", target.name, name(dtype));
      SCOPED_TRACE(run);
      const auto result =
          test::run_hone(folder.path(),
                         test::tiny_train(folder.path(), run) +
                             test::Arguments{"trainer.total_training_steps=3", "trainer.save_freq=1",
                                             "trainer.num_threads=2", "actor_rollout_ref.rollout.temperature=0.8",
                                             fmt::format("actor_rollout_ref.rollout.dtype={}", name(dtype))},
                         {{"HONE_CPU_TARGET", target.name}});
      ASSERT_EQ(result.code, 0) << result.err;
      for (int64_t step = 1; step <= 3; ++step) {
        // step N drew with the weights after step N - 1
        const std::string model = step == 1 ? folder / "model" : checkpoint_path(run + "/checkpoints", step - 1);
        const int32_t version = step == 1 ? 0 : read_training_state(model).version;
        const auto decoder = weights::load_decoder(model, dtype);
        const auto sequences = read_samples(run + fmt::format("/rollouts/{}.jsonl", step), version);
        ASSERT_EQ(sequences.size(), 12u);
        for (const int threads : {1, 2, 4}) {
          Draws draws(static_cast<uint64_t>(step * 10 + threads));
          kernels::Context ctx(threads, target);
          Trainer trainer(ctx, *decoder, random_micro_batches(draws));
          EXPECT_EQ(num_different(trainer, sequences), 0) << "step " << step << ", threads " << threads;
        }
        if (step == 1) continue;
        const auto older = weights::load_decoder(folder / "model", dtype);
        Draws draws(5);
        kernels::Context ctx(1, target);
        Trainer trainer(ctx, *older, random_micro_batches(draws));
        EXPECT_GT(num_different(trainer, sequences), 0) << "other weights have to show";
      }
    }
  }
}

}  // namespace
}  // namespace hone
