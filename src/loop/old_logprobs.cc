#include "loop/old_logprobs.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "algorithms/off_policy.h"
#include "core/error.h"
#include "loop/group_sequences.h"
#include "loop/policy_objective.h"

namespace hone {

namespace {

bool is_stale(const Trajectory& t, int32_t version) {
  return std::any_of(t.versions.begin(), t.versions.end(), [&](int32_t of_id) { return of_id != version; });
}

// The id that this version drew whose log-prob in training differs most from that in sampling.
struct Farthest {
  const Trajectory* answer = nullptr;
  size_t id = 0;
  float scored = 0;
  double difference = 0;

  void look_at(const Trajectory& t, const std::vector<float>& logprobs, int32_t version) {
    for (size_t i = 0; i < t.response_ids.size(); ++i) {
      if (t.versions[i] != version || logprobs[i] == t.logprobs[i]) continue;
      const double of_id = std::abs(double{logprobs[i]} - double{t.logprobs[i]});
      if (answer == nullptr || of_id > difference) *this = {&t, i, logprobs[i], of_id};
    }
  }
  // Law 1.
  void check() const {
    HONE_CHECK(answer == nullptr,
               "actor.recompute_old_log_prob: draw {}, sample {}, id {} of {}: log-prob {} in training, {} in sampling",
               answer->draw, answer->sample, id, answer->response_ids.size(), scored, answer->logprobs[id]);
  }
};

void report(const std::vector<std::pair<std::string_view, double>>& numbers, Metrics& metrics) {
  for (const auto& [name, value] : numbers) metrics.set(fmt::format("rollout_corr/{}", name), value);
}

}  // namespace

bool scores_old_logprobs(const Recipe& recipe) {
  const CorrectionRecipe& correction = recipe.algorithm.rollout_correction;
  if (correction.bypass_mode) return false;
  return recipe.actor.recompute_old_log_prob || rollout_correction(correction).is_on();
}

void report_correction(const algorithms::CorrectionStatistics& s, Metrics& metrics) { report(named(s), metrics); }

void set_old_logprobs(Trainer& trainer, const Recipe& recipe, int32_t version, std::span<Group> groups,
                      Metrics& metrics) {
  if (!scores_old_logprobs(recipe)) return;
  const std::vector<Trajectory*> answers = trained_answers(groups);
  std::vector<Trajectory*> scored;
  std::copy_if(answers.begin(), answers.end(), std::back_inserter(scored),
               [&](const Trajectory* t) { return recipe.actor.recompute_old_log_prob || is_stale(*t, version); });
  std::vector<std::vector<float>> logprobs = trainer.score(sequences_of(scored));
  Farthest farthest;
  for (size_t i = 0; i < scored.size(); ++i) {
    farthest.look_at(*scored[i], logprobs[i], version);
    scored[i]->old_logprobs = std::move(logprobs[i]);
  }
  metrics.set("training/old_log_prob_diff_max", farthest.difference);
  farthest.check();
  metrics.set("training/num_rescored_answers", static_cast<double>(scored.size()));

  std::vector<algorithms::RatioRow> rows;
  for (const Trajectory* t : answers) {
    rows.push_back({t->effective_old_logprobs(), t->logprobs, t->loss_mask});
  }
  report(named(algorithms::off_policy(rows)), metrics);
  const algorithms::RolloutCorrection correction = rollout_correction(recipe.algorithm.rollout_correction);
  if (!correction.is_on()) return;
  algorithms::Corrected corrected = algorithms::correct(rows, correction);
  for (size_t i = 0; i < answers.size(); ++i) {
    answers[i]->loss_mask = std::move(corrected.masks[i]);
    if (!corrected.weights.empty()) answers[i]->weights = std::move(corrected.weights[i]);
  }
  report_correction(corrected.statistics, metrics);
}

}  // namespace hone
