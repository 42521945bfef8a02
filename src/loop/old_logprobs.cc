#include "loop/old_logprobs.h"

#include <algorithm>
#include <cmath>
#include <iterator>

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

void report_off_policy(const algorithms::OffPolicy& o, Metrics& metrics) {
  const std::pair<const char*, double> values[] = {{"kl", o.kl},
                                                   {"k3_kl", o.k3_kl},
                                                   {"training_ppl", o.training_ppl},
                                                   {"training_log_ppl", o.training_log_ppl},
                                                   {"rollout_ppl", o.rollout_ppl},
                                                   {"rollout_log_ppl", o.rollout_log_ppl},
                                                   {"log_ppl_diff", o.log_ppl_diff},
                                                   {"log_ppl_abs_diff", o.log_ppl_abs_diff},
                                                   {"log_ppl_diff_max", o.log_ppl_diff_max},
                                                   {"log_ppl_diff_min", o.log_ppl_diff_min},
                                                   {"ppl_ratio", o.ppl_ratio},
                                                   {"chi2_token", o.chi2_token},
                                                   {"chi2_seq", o.chi2_seq}};
  for (const auto& [name, value] : values) metrics.set(std::string("rollout_corr/") + name, value);
}

}  // namespace

bool scores_old_logprobs(const Recipe& recipe) {
  const CorrectionRecipe& correction = recipe.algorithm.rollout_correction;
  if (correction.bypass_mode) return false;
  return recipe.actor.recompute_old_log_prob || rollout_correction(correction).is_on();
}

void report_correction(const algorithms::CorrectionStatistics& s, Metrics& metrics) {
  const std::string name = "rollout_corr/rollout_";
  metrics.set(name + "is_mean", s.weight_mean);
  metrics.set(name + "is_max", s.weight_max);
  metrics.set(name + "is_min", s.weight_min);
  metrics.set(name + "is_std", s.weight_std);
  metrics.set(name + "is_eff_sample_size", s.effective_sample_size);
  metrics.set(name + "rs_masked_fraction", s.rejected_tokens);
  metrics.set(name + "rs_seq_masked_fraction", s.rejected_rows);
}

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
    rows.push_back({t->old_logprobs.empty() ? t->logprobs : t->old_logprobs, t->logprobs, t->loss_mask});
  }
  report_off_policy(algorithms::off_policy(rows), metrics);
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
