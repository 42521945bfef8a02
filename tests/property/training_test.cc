// What a training step promises whatever the data: cutting into micro-batches, empty and flat groups, absent scores,
// steps that are not finite, learning rate 0, threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "loop/advantages.h"
#include "loop/group_sequences.h"
#include "rollout/engine.h"
#include "support/tiny_training.h"
#include "train/micro_batches.h"
#include "train/trainer.h"

namespace hone {
namespace {

using algorithms::LossAggregation;

struct Model {
  explicit Model(int64_t micro_batch_tokens = 1000, int threads = 1, DType dtype = DType::f32,
                 bool share_prompts = false)
      : ctx(threads), decoder(test::tiny_config(), dtype) {
    decoder.initialize(4);
    test::randomize_norms(decoder, 4);
    TrainerOptions options = test::tiny_trainer_options(micro_batch_tokens);
    options.share_prompts = share_prompts;
    trainer = std::make_unique<Trainer>(ctx, decoder, options);
  }
  // Weights and moments, as they are.
  std::vector<float> state() {
    std::vector<float> all;
    const auto add = [&](View<const float> v) { all.insert(all.end(), v.data, v.data + v.size()); };
    for (size_t p = 0; p < decoder.parameters().size(); ++p) {
      add(decoder.parameters()[p].values().view());
      add(trainer->optimizer().moments()[p].first().view());
      add(trainer->optimizer().moments()[p].second().view());
    }
    return all;
  }
  std::vector<float> gradient() { return test::gradients_of(decoder); }
  kernels::Context ctx;
  Decoder decoder;
  std::unique_ptr<Trainer> trainer;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

// An answer of `response` ids to a prompt of `prompt` ids, as the rollout would have recorded it.
Trajectory answer(int64_t prompt, int64_t response, std::optional<float> score, uint32_t seed) {
  Trajectory t;
  for (uint32_t i = 0; i < prompt + response; ++i) {
    const auto id = static_cast<int32_t>(random_below({seed, Stream::test}, i, 0, 0, 13));
    (static_cast<int64_t>(i) < prompt ? t.prompt_ids : t.response_ids).push_back(id);
  }
  if (response > 0) t.response_ids.back() = 13;
  for (int64_t i = 0; i < response; ++i) t.logprobs.push_back(-2.0f - 0.1f * static_cast<float>(i % 5));
  t.score.value = score;
  t.finish = FinishReason::end;
  return t;
}

// The group's sequences with GRPO's advantages, as the loop makes them.
std::vector<TrainSequence> sequences_of(Group group) {
  for (Trajectory& t : group.trajectories) t.reward = t.score.value;
  Metrics metrics;
  set_advantages(std::span(&group, 1), *algorithms::find_advantage_estimator("grpo"), {}, metrics);
  std::vector<TrainSequence> sequences;
  append_sequences(group, sequences);
  return sequences;
}

Group group_of(const std::vector<std::optional<float>>& scores, const std::vector<int64_t>& lengths) {
  Group group;
  for (size_t k = 0; k < scores.size(); ++k) {
    group.trajectories.push_back(answer(5, lengths[k], scores[k], static_cast<uint32_t>(k + 1)));
  }
  return group;
}

double relative_distance(const std::vector<float>& a, const std::vector<float>& b) {
  double error = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    error += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    size += double{b[i]} * b[i];
  }
  EXPECT_GT(size, 0.0);
  return std::sqrt(error / size);
}

// Eight answers as one, two, four and eight micro-batches: rows 5 11, 7 9, 6 10, 4 12: pairs fill 16, fours 32, and
// within 8 no two fit.
class Cuts {
 public:
  Cuts() {
    for (const int64_t n : kRows) sequence_rows_.push_back({n, 0});
    for (uint32_t s = 0; s < 8; ++s) {
      const Trajectory t = answer(2, kRows[s] - 1, 1.0f, 20 + s);
      TrainSequence& sequence = sequences.emplace_back();
      sequence.ids = t.prompt_ids;
      sequence.ids.insert(sequence.ids.end(), t.response_ids.begin(), t.response_ids.end());
      sequence.num_prompt = 2;
      sequence.old_logprobs = t.logprobs;
      sequence.advantage = s % 2 == 0 ? 0.0f : s % 4 == 1 ? 1.2f : -0.8f;  // half of them teach nothing
    }
  }
  // The same loss and gradient in float32 for every cut.
  void expect_the_same(const Objective& objective) const {
    double loss = 0;
    std::vector<float> gradient;
    for (size_t b = 0; b < 4; ++b) {
      SCOPED_TRACE(fmt::format("micro-batches {}", 1 << b));
      ASSERT_EQ(balance_micro_batches(sequence_rows_, {kBudgets[b], 0}, 48).batches.size(), size_t{1} << b);
      Model model(kBudgets[b]);
      const TrainStep step = model.trainer->accumulate(sequences, objective);
      const std::vector<float> now = model.gradient();
      const double whole_loss = step.loss + step.entropy_loss + objective.kl_coef * step.kl_loss;
      if (b == 0) {
        loss = whole_loss;
        gradient = now;
        continue;
      }
      EXPECT_NEAR(whole_loss, loss, 1e-6 * std::abs(loss));
      EXPECT_LE(relative_distance(now, gradient), 1e-6);
    }
  }
  // Half of the ids without loss, one advantage and weight an id, a reference.
  void mask_half() {
    for (TrainSequence& s : sequences) {
      for (int64_t i = 0; i < s.num_response(); ++i) {
        s.loss_mask.push_back(i % 2 == 0);
        s.weights.push_back(0.5f + 0.25f * static_cast<float>(i % 4));
        s.ref_logprobs.push_back(-2.5f + 0.2f * static_cast<float>(i % 3));
      }
    }
  }

  std::vector<TrainSequence> sequences;

 private:
  static constexpr int64_t kRows[] = {5, 11, 7, 9, 6, 10, 4, 12}, kBudgets[] = {64, 32, 16, 8};
  std::vector<SequenceRows> sequence_rows_;
};

constexpr LossAggregation kModes[] = {LossAggregation::token_mean, LossAggregation::seq_mean_token_sum,
                                      LossAggregation::seq_mean_token_mean, LossAggregation::seq_mean_token_sum_norm};

TEST(Training, MicroBatchesChangeNeitherLossNorGradient) {
  const Cuts cuts;
  for (const auto mode : kModes) {
    for (const double entropy_coeff : {0.0, 0.1}) {
      SCOPED_TRACE(fmt::format("mode {}", static_cast<int>(mode)));
      Objective objective = test::policy_objective();
      objective.aggregation = mode;
      objective.loss_scale_factor = 16;
      objective.entropy_coeff = entropy_coeff;
      cuts.expect_the_same(objective);
    }
  }
}

TEST(Training, MicroBatchesChangeNothingOfAnyPolicyLossWithHalfTheIdsMaskedAndAKlLoss) {
  Cuts cuts;
  cuts.mask_half();
  for (const algorithms::PolicyLoss& loss : algorithms::policy_losses()) {
    for (const auto mode : kModes) {
      SCOPED_TRACE(fmt::format("{}, mode {}", loss.name, static_cast<int>(mode)));
      Objective objective = test::policy_objective();
      objective.policy = &loss;
      objective.options.clip_cov_lb = -1;
      objective.options.clip_cov_ratio = objective.options.kl_cov_ratio = 0.2;
      objective.aggregation = mode;
      objective.loss_scale_factor = 16;
      if (mode != LossAggregation::token_mean) {
        objective.kl = *algorithms::kl_estimator("k3");
        objective.kl_coef = 0.3;
      }
      cuts.expect_the_same(objective);
    }
  }
}

TEST(Training, MicroBatchesChangeNothingOfACorrectionOfTheUpdatesOwnPolicy) {
  const Cuts cuts;
  Objective objective = test::policy_objective();
  objective.policy = algorithms::find_policy_loss("gpg");
  objective.correction = {algorithms::RolloutCorrection::Weights::token, 2.0, true, {}};
  ASSERT_EQ(algorithms::parse_rejections("token_k2,seq_mean_k3", "2,3", objective.correction->rejections), "");
  cuts.expect_the_same(objective);
  Model model;
  const TrainStep step = model.trainer->accumulate(cuts.sequences, objective);
  EXPECT_GT(step.correction.rejected_tokens, 0.05) << "what is left out leaves the normalisers as well";
  EXPECT_LT(step.correction.rejected_tokens, 0.9);
  EXPECT_LT(step.num_tokens, 56);
}

// Two families of answers, one of a prompt that fills a block and a part, and an answer of one id in each.
std::vector<TrainSequence> families(int64_t prompt) {
  std::vector<TrainSequence> sequences;
  for (uint32_t family = 0; family < 2; ++family) {
    const Trajectory first = answer(prompt + family, 4, 1.0f, 70 + family);
    for (uint32_t k = 0; k < 5; ++k) {
      const Trajectory t = answer(1, k == 1 ? 1 : 3 + 9 * k, 1.0f, 80 + 10 * family + k);
      TrainSequence& sequence = sequences.emplace_back();
      sequence.ids = first.prompt_ids;
      sequence.ids.insert(sequence.ids.end(), t.response_ids.begin(), t.response_ids.end());
      sequence.num_prompt = prompt + family;
      sequence.old_logprobs = t.logprobs;
      sequence.advantage = k % 2 == 0 ? 1.2f : -0.8f;
    }
  }
  return sequences;
}

TEST(Training, ASharedPromptGivesTheSameLogprobsAndTheGradientOfThePlainWay) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const int64_t prompt : {1, 5, 31, 32, 35, 64}) {
      SCOPED_TRACE(fmt::format("prompt {} {}", prompt, name(dtype)));
      const auto sequences = families(prompt);
      Model plain(1000, 1, dtype), shared(1000, 2, dtype, true), cut(90, 1, dtype, true);
      const auto logprobs = plain.trainer->score(sequences);
      for (Model* model : {&shared, &cut}) {
        EXPECT_EQ(model->trainer->score(sequences), logprobs);
        const TrainStep expected = plain.trainer->accumulate(sequences, test::policy_objective());
        const TrainStep step = model->trainer->accumulate(sequences, test::policy_objective());
        EXPECT_NEAR(step.loss, expected.loss, 1e-6 * std::abs(expected.loss));
        // f32: sums in another order, as between micro-batches; bf16 rounds the sum of a prompt's gradients once where
        // it rounded each
        EXPECT_LE(relative_distance(model->gradient(), plain.gradient()), dtype == DType::f32 ? 1e-6 : 4e-3);
        Model again(model == &shared ? 1000 : 90, 4, dtype, true);
        again.trainer->accumulate(sequences, test::policy_objective());
        EXPECT_TRUE(same_bits(again.gradient(), model->gradient()));
      }
    }
  }
}

// At ratio 1 the loss of a token is minus its advantage, so each mode's loss is known without the model.
TEST(Training, TheLossIsAggregatedAsTheModeSays) {
  auto sequences = sequences_of(group_of({1.0f, 0.0f, 1.0f}, {6, 3, 1}));
  const double advantages[] = {0.5, -2.0, 4.0};
  Model model;
  const auto logprobs = model.trainer->score(sequences);
  for (size_t s = 0; s < 3; ++s) {
    sequences[s].old_logprobs = logprobs[s];
    sequences[s].advantage = static_cast<float>(advantages[s]);
  }
  Objective objective = test::policy_objective();
  objective.loss_scale_factor = 12;
  const auto loss = [&](LossAggregation mode) {
    objective.aggregation = mode;
    return model.trainer->accumulate(sequences, objective).loss;
  };
  const double sum = 6 * 0.5 - 3 * 2.0 + 1 * 4.0;
  EXPECT_NEAR(loss(LossAggregation::token_mean), -sum / 10, 1e-12);
  EXPECT_NEAR(loss(LossAggregation::seq_mean_token_sum), -sum / 3, 1e-12);
  EXPECT_NEAR(loss(LossAggregation::seq_mean_token_mean), -(0.5 - 2.0 + 4.0) / 3, 1e-12);
  EXPECT_NEAR(loss(LossAggregation::seq_mean_token_sum_norm), -sum / 12, 1e-12);
  // the entropy's term stands apart
  objective.entropy_coeff = 0.25;
  objective.aggregation = LossAggregation::token_mean;
  const TrainStep step = model.trainer->accumulate(sequences, objective);
  EXPECT_NEAR(step.loss, -sum / 10, 1e-12);
  EXPECT_GT(step.entropy, 1.0);
  EXPECT_NEAR(step.entropy_loss, -0.25 * step.entropy, 1e-12);
}

TEST(Training, TheMemoryAskedForIsThatOfMicroBatchesThatCanBe) {
  const auto bytes = [](int64_t budget, const TrainerWork& work) {
    return Trainer::memory(test::tiny_config(), DType::f32, test::tiny_trainer_options(budget), work).bytes();
  };
  const TrainerWork small{20, 100, 0};
  EXPECT_EQ(bytes(16384, small), bytes(100, small)) << "no micro-batch is larger than its optimizer batch";
  EXPECT_EQ(bytes(5, small), bytes(20, small)) << "the longest sequence is never cut";
  EXPECT_LT(bytes(20, small), bytes(100, small));
  EXPECT_LT(bytes(16384, small), bytes(16384, {20, 101, 0}));
  EXPECT_LT(bytes(16384, {20, 16384, 0}), 1.01 * bytes(16384, {20, 1e30, 0})) << "nor than the budget";
  const double steps_alone = bytes(16384, small), infinity = std::numeric_limits<double>::infinity();
  EXPECT_LT(steps_alone, bytes(16384, {20, 100, 16384})) << "scoring makes micro-batches of its own";
  EXPECT_EQ(bytes(16384, {20, 100, infinity}), bytes(16384, {20, 100, 16384}));
  EXPECT_LT(bytes(16384, {20, 100, 16384}), bytes(16384, {20, 16384, 0})) << "but keeps one layer";
}

TEST(Training, AnEmptyAnswerTakesNoPartAndAnEndIdAloneDoes) {
  const Group group = group_of({1.0f, 0.0f, 0.0f, 1.0f}, {6, 1, 0, 9});
  const auto sequences = sequences_of(group);
  ASSERT_EQ(sequences.size(), 3u) << "the answer of 0 ids is left out";
  EXPECT_EQ(sequences[1].num_response(), 1);
  EXPECT_LT(sequences[1].advantage, 0.0f);
  Model model, without;
  const TrainStep step = model.trainer->step(sequences, test::policy_objective(), 1e-3);
  EXPECT_EQ(step.optimizer.outcome, StepOutcome::applied);
  EXPECT_EQ(step.num_tokens, 16);
  EXPECT_TRUE(std::isfinite(step.loss));
  EXPECT_TRUE(all_finite(model.state()));
  // the same step from a group that never had it
  Group three = group;
  three.trajectories.erase(three.trajectories.begin() + 2);
  without.trainer->step(sequences_of(three), test::policy_objective(), 1e-3);
  EXPECT_TRUE(same_bits(model.state(), without.state()));
  // even one handed to the trainer changes nothing
  Model with_empty;
  std::vector<TrainSequence> four = sequences;
  TrainSequence empty;
  empty.ids = {1, 2, 3};
  empty.num_prompt = 3;
  empty.advantage = 5.0f;
  four.insert(four.begin(), empty);
  with_empty.trainer->step(four, test::policy_objective(), 1e-3);
  EXPECT_TRUE(same_bits(model.state(), with_empty.state()));
}

TEST(Training, FlatGroupsLeaveWeightsAndMomentsUntouchedToTheBit) {
  for (const float reward : {1.0f, 0.0f}) {
    const auto flat = sequences_of(group_of({reward, reward, reward, reward}, {6, 1, 4, 9}));
    ASSERT_EQ(flat.size(), 4u);
    Model model;
    model.trainer->step(sequences_of(group_of({1.0f, 0.0f}, {6, 4})), test::policy_objective(),
                        1e-2);  // moments that are not 0
    const auto before = model.state();
    const int32_t version = model.decoder.version();
    const TrainStep step = model.trainer->step(flat, test::policy_objective(), 1e-2);
    EXPECT_EQ(step.optimizer.outcome, StepOutcome::zero_gradient);
    EXPECT_EQ(step.optimizer.grad_norm, 0.0);
    EXPECT_TRUE(std::all_of(flat.begin(), flat.end(), [](const auto& s) { return s.advantage == 0.0f; }));
    const auto gradient = model.gradient();
    EXPECT_TRUE(std::all_of(gradient.begin(), gradient.end(), [](float g) { return g == 0.0f; }));
    EXPECT_TRUE(same_bits(model.state(), before));
    EXPECT_EQ(model.decoder.version(), version);
    EXPECT_EQ(model.trainer->optimizer().num_steps(), 1);
  }
}

TEST(Training, FlatGroupsKeepNoActivationsAndAreMeasuredAllTheSame) {
  auto flat = sequences_of(group_of({1.0f, 1.0f}, {7, 3}));
  flat[0].old_logprobs[2] -= 0.25f;
  for (const char* loss : {"vanilla", "gspo", "geo_mean", "clip_cov"}) {
    Objective objective = test::policy_objective();
    objective.policy = algorithms::find_policy_loss(loss);
    Model model, teaching;
    const TrainStep step = model.trainer->accumulate(flat, objective);
    EXPECT_EQ(model.trainer->memory_taken().activations, 0) << loss;
    EXPECT_EQ(step.num_tokens, 10);
    EXPECT_GT(step.entropy, 0.0);
    EXPECT_EQ(step.loss, 0.0);
    // with a gradient, from an entropy of no weight to speak of
    objective.entropy_coeff = 1e-30;
    const TrainStep other = teaching.trainer->accumulate(flat, objective);
    EXPECT_GT(teaching.trainer->memory_taken().activations, 0) << loss;
    EXPECT_EQ(step.entropy, other.entropy) << loss;
    EXPECT_EQ(step.ppo_kl, other.ppo_kl) << loss;
    EXPECT_EQ(step.loss, other.loss) << loss;
    EXPECT_EQ(step.clip_fraction, other.clip_fraction) << loss;
    EXPECT_EQ(step.probs_difference_max, other.probs_difference_max) << loss;
  }
}

TEST(Training, FlatGroupsCountInTheNormalisers) {
  const auto teaching = sequences_of(group_of({1.0f, 0.0f}, {6, 4}));
  auto with_flat = teaching;
  for (TrainSequence& s : sequences_of(group_of({1.0f, 1.0f}, {7, 3}))) with_flat.push_back(std::move(s));
  Model one, both;
  one.trainer->accumulate(teaching, test::policy_objective());
  both.trainer->accumulate(with_flat, test::policy_objective());
  const auto g = one.gradient(), half = both.gradient();
  double error = 0, size = 0;
  for (size_t i = 0; i < g.size(); ++i) {
    error += std::pow(double{half[i]} - 0.5 * double{g[i]}, 2);  // 20 tokens in place of 10
    size += std::pow(0.5 * double{g[i]}, 2);
  }
  EXPECT_GT(size, 0.0);
  EXPECT_LE(std::sqrt(error), 1e-6 * std::sqrt(size));
}

TEST(Training, OneScoreAmongAbsentOnesTeachesNothing) {
  const auto nan = std::optional<float>();  // what a scorer's NaN becomes
  const auto sequences = sequences_of(group_of({nan, 1.0f, nan, nan}, {6, 2, 4, 9}));
  ASSERT_EQ(sequences.size(), 1u);
  EXPECT_EQ(sequences[0].advantage, 0.0f);
  Model model;
  const auto before = model.state();
  EXPECT_EQ(model.trainer->step(sequences, test::policy_objective(), 1e-2).optimizer.outcome,
            StepOutcome::zero_gradient);
  EXPECT_EQ(model.trainer->step({}, test::policy_objective(), 1e-2).optimizer.outcome, StepOutcome::zero_gradient);
  EXPECT_TRUE(same_bits(model.state(), before));
  // with one absent score of four the step is finite and applied
  const auto three = sequences_of(group_of({nan, 1.0f, 0.0f, 0.0f}, {6, 2, 4, 9}));
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(model.trainer->step(three, test::policy_objective(), 1e-2).optimizer.outcome, StepOutcome::applied);
  EXPECT_TRUE(all_finite(model.state()));
}

TEST(Training, AStepThatIsNotFiniteIsUndoneAndTheNextIsAsIfItHadNotBeen) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const auto sequences = sequences_of(group_of({1.0f, 0.0f, 0.0f}, {6, 4, 5}));
    Model undisturbed(1000, 1, dtype), model(1000, 1, dtype);
    for (Model* m : {&undisturbed, &model}) m->trainer->step(sequences, test::policy_objective(), 1e-2);
    const auto before = model.state();
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      auto poisoned = sequences;
      poisoned[1].advantage = bad;
      const int32_t version = model.decoder.version();
      EXPECT_EQ(model.trainer->step(poisoned, test::policy_objective(), 1e-2).optimizer.outcome,
                StepOutcome::not_finite);
      EXPECT_TRUE(same_bits(model.state(), before));
      EXPECT_EQ(model.decoder.version(), version);
    }
    for (Model* m : {&undisturbed, &model}) {
      EXPECT_EQ(m->trainer->step(sequences, test::policy_objective(), 1e-2).optimizer.outcome, StepOutcome::applied);
    }
    EXPECT_TRUE(same_bits(model.state(), undisturbed.state()));
    EXPECT_FALSE(same_bits(model.state(), before));
  }
}

TEST(Training, FiftyStepsAtLearningRateZeroChangeNoLogProb) {
  Model model;
  Prompt prompts[2];
  prompts[0].ids = {1, 10, 2, 12};
  prompts[1].ids = {7, 11, 3, 12};
  SamplingParams sampling;
  sampling.temperature = 0.6f;
  sampling.max_new_tokens = 12;
  sampling.end_ids = {13};
  sampling.key = {3, Stream::train};
  sampling.valid_vocab = test::kTinyValidVocab;
  EngineOptions engine_options;
  engine_options.num_kv_blocks = 32;
  Engine engine(model.ctx, model.decoder, engine_options);
  std::vector<std::vector<float>> first;
  std::vector<TrainSequence> first_sequences;
  const Buffer<float> before = model.decoder.parameters().front().values();
  const std::vector<float> table(before.begin(), before.end());
  for (uint64_t step = 0; step < 50; ++step) {
    for (uint64_t p = 0; p < 2; ++p) engine.add({&prompts[p], 2 * step + p}, 4, sampling);
    std::vector<TrainSequence> sequences;
    float reward = 0;
    for (Group& group : engine.run_all()) {
      for (Trajectory& t : group.trajectories) t.score.value = reward = 1.0f - reward;
      for (TrainSequence& s : sequences_of(group)) sequences.push_back(std::move(s));
    }
    if (step == 0) first_sequences = sequences;
    const TrainStep done = model.trainer->step(sequences, test::policy_objective(), 0.0);
    ASSERT_EQ(done.optimizer.outcome, StepOutcome::applied);
    ASSERT_GT(done.optimizer.grad_norm, 0.0);
    ASSERT_EQ(done.probs_difference_max, 0.0) << "step " << step;
    ASSERT_EQ(done.ppo_kl, 0.0);
    ASSERT_EQ(done.clip_fraction, 0.0);
    const auto scored = model.trainer->score(first_sequences);
    if (step == 0) first = scored;
    ASSERT_EQ(scored, first) << "step " << step;
  }
  const Buffer<float> after = model.decoder.parameters().front().values();
  EXPECT_TRUE(same_bits(table, std::vector<float>(after.begin(), after.end())));
}

TEST(Training, ThreadsChangeNoBitOfAStep) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    std::vector<float> state;
    for (const int threads : {1, 2, 4}) {
      Model model(24, threads, dtype);
      for (int step = 0; step < 3; ++step) {
        model.trainer->step(sequences_of(group_of({1.0f, 0.0f, 0.0f, 1.0f}, {16, 4, 5, 9})), test::policy_objective(),
                            1e-2);
      }
      if (threads == 1) state = model.state();
      EXPECT_TRUE(same_bits(model.state(), state)) << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace hone
