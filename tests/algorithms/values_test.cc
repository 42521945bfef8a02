// Every estimator, policy loss, KL form and rollout correction against values worked out by hand: tests/cases/*.json
// say how.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "algorithms/advantage.h"
#include "algorithms/kl.h"
#include "algorithms/policy_loss.h"
#include "algorithms/rollout_correction.h"
#include "support/case_table.h"

namespace hone::algorithms {
namespace {

using io::Json;

// The rows of a table behind its head, which says what they are.
std::vector<Json> rows_of(const std::string& name) {
  std::vector<Json> rows = test::load_cases(name);
  EXPECT_NE(rows.front().find("about"), nullptr) << name;
  rows.erase(rows.begin());
  return rows;
}

// The rows of a table with the method that each names under `key`; every method there is has to have one.
template <class Method, class Body>
void for_methods(const char* table, const char* key, std::span<const Method> methods, const Body& body) {
  std::set<std::string_view> seen;
  for (const Json& row : rows_of(table)) {
    const auto method = std::find_if(methods.begin(), methods.end(),
                                     [&](const Method& m) { return m.name == row.at(key).as_string(); });
    ASSERT_NE(method, methods.end()) << row.dump();
    seen.insert(method->name);
    body(row, *method);
  }
  for (const Method& method : methods) EXPECT_TRUE(seen.contains(method.name)) << method.name;
}

double number(const Json& object, const char* key, double otherwise) {
  const Json* value = object.find(key);
  return value == nullptr ? otherwise : value->as_double();
}

std::vector<float> floats(const Json* list) {
  std::vector<float> values;
  if (list == nullptr) return values;
  for (const Json& item : list->as_array()) values.push_back(item.as_float());
  return values;
}

Json options_of(const Json& row) { return row.find("options") == nullptr ? Json::object() : row.at("options"); }

// Results are floats, and so are scores.
void expect_close(double found, double expected, const std::string& what) {
  EXPECT_NEAR(found, expected, 4e-7 * std::abs(expected)) << what;
}

// A number for all tokens, or one each.
void expect_tokens(float all, const std::vector<float>& each, int64_t tokens, const Json& expected,
                   const std::string& what) {
  for (int64_t t = 0; t < tokens; ++t) {
    const auto at = static_cast<size_t>(t);
    const double value = expected.is_array() ? expected.as_array().at(at).as_double() : expected.as_double();
    expect_close(each.empty() ? all : each.at(at), value, what + " token " + std::to_string(t));
  }
}

TEST(Values, AdvantagesAreThoseWorkedOutByHand) {
  for_methods("advantages", "estimator", advantage_estimators(),
              [](const Json& row, const AdvantageEstimator& estimator) {
                std::vector<RewardedAnswer> answers;
                for (const Json& a : row.at("answers").as_array()) {
                  RewardedAnswer& answer = answers.emplace_back();
                  answer.group = a.at("group").as_int();
                  if (!a.at("score").is_null()) answer.score = a.at("score").as_float();
                  answer.num_tokens = a.at("tokens").as_int();
                  answer.token_rewards = floats(a.find("token_rewards"));
                  answer.values = floats(a.find("values"));
                  if (const Json* baseline = a.find("baseline")) answer.baseline = baseline->as_float();
                }
                const Json options = options_of(row);
                AdvantageOptions of;
                if (const Json* norm = options.find("norm_by_std")) of.norm_by_std = norm->as_bool();
                of.gamma = number(options, "gamma", 1);
                of.lambda = number(options, "lambda", 1);
                const std::vector<Advantage> found = estimator.estimate(answers, of);
                ASSERT_EQ(found.size(), answers.size());
                for (size_t i = 0; i < found.size(); ++i) {
                  const std::string what = row.at("name").as_string() + " answer " + std::to_string(i);
                  expect_tokens(found[i].advantage, found[i].advantages, answers[i].num_tokens,
                                row.at("advantages").as_array()[i], what);
                  const Json* returns = row.find("returns");
                  if (returns == nullptr) continue;
                  expect_tokens(0, found[i].returns, answers[i].num_tokens, returns->as_array()[i], what + " return");
                }
              });
}

PolicyLossOptions loss_options(const Json& options) {
  PolicyLossOptions of;
  of.clip = {static_cast<float>(number(options, "clip_low", 0.2)),
             static_cast<float>(number(options, "clip_high", 0.2)), static_cast<float>(number(options, "clip_c", 3))};
  of.tau_neg = number(options, "tau_neg", of.tau_neg);
  of.clip_cov_lb = number(options, "clip_cov_lb", of.clip_cov_lb);
  of.clip_cov_ub = number(options, "clip_cov_ub", of.clip_cov_ub);
  of.kl_cov_ratio = number(options, "kl_cov_ratio", of.kl_cov_ratio);
  of.ppo_kl_coef = number(options, "ppo_kl_coef", of.ppo_kl_coef);
  return of;
}

TEST(Values, PolicyLossesAreThoseWorkedOutByHand) {
  for_methods("policy_losses", "loss", policy_losses(), [](const Json& row, const PolicyLoss& loss) {
    const PolicyLossOptions options = loss_options(options_of(row));
    std::vector<TrainSequence> sequences;
    std::vector<std::vector<float>> logprobs;
    for (const Json& s : row.at("sequences").as_array()) {
      TrainSequence& sequence = sequences.emplace_back();
      logprobs.push_back(floats(s.find("logprobs")));
      sequence.old_logprobs = floats(s.find("old_logprobs"));
      sequence.advantages = floats(s.find("advantages"));
      sequence.weights = floats(s.find("weights"));
      for (float kept : floats(s.find("mask"))) sequence.loss_mask.push_back(kept != 0.0f);
      sequence.num_prompt = 1;
      sequence.ids.resize(1 + logprobs.back().size());
    }
    Coefficients coefficients;
    if (loss.coefficients) coefficients = loss.coefficients(sequences, logprobs, options, {}, 0);
    for (size_t s = 0; s < sequences.size(); ++s) {
      for (size_t t = 0; t < logprobs[s].size(); ++t) {
        const auto at = static_cast<int64_t>(t);
        if (!sequences[s].has_loss(at)) continue;
        const std::string what = row.at("name").as_string() + fmt::format(" sequence {} token {}", s, t);
        const TokenLoss found =
            loss.token({logprobs[s][t], sequences[s].old_logprobs[t], sequences[s].advantage_at(at),
                        sequences[s].weight_at(at), coefficients.empty() ? 0.0 : coefficients[s][t]},
                       options);
        const auto expected = [&](const char* key) { return row.at(key).as_array()[s].as_array()[t].as_double(); };
        expect_close(found.loss, expected("losses"), what);
        expect_close(found.dlogprob, expected("slopes"), what + " slope");
        if (row.find("clipped") != nullptr) {
          EXPECT_EQ(found.clipped, expected("clipped") != 0) << what;
        }
        if (row.find("clipped_lower") != nullptr) {
          EXPECT_EQ(found.clipped_lower, expected("clipped_lower") != 0) << what;
        }
      }
    }
  });
}

TEST(Values, KlEstimatesAreThoseWorkedOutByHand) {
  for (const Json& row : rows_of("kl")) {
    const auto estimator = kl_estimator(row.at("kl").as_string());
    ASSERT_TRUE(estimator.has_value()) << row.dump();
    const float x = row.at("x").as_float();
    const TokenKl kl = token_kl(*estimator, x - 64, -64);
    expect_close(kl.value, row.at("value").as_double(), row.at("name").as_string());
    expect_close(kl.dlogprob, row.at("slope").as_double(), row.at("name").as_string() + " slope");
  }
  for (const char* name : {"", "+", "full", "k3++", "k4", "K3"}) EXPECT_FALSE(kl_estimator(name).has_value()) << name;
}

RolloutCorrection correction_of(const Json& options) {
  RolloutCorrection correction;
  if (const Json* weights = options.find("rollout_is")) {
    correction.weights =
        weights->as_string() == "token" ? RolloutCorrection::Weights::token : RolloutCorrection::Weights::sequence;
  }
  correction.threshold = number(options, "rollout_is_threshold", 2.0);
  if (const Json* normalize = options.find("rollout_is_batch_normalize"))
    correction.batch_normalize = normalize->as_bool();
  if (const Json* criteria = options.find("rollout_rs")) {
    EXPECT_EQ(
        parse_rejections(criteria->as_string(), options.at("rollout_rs_threshold").as_string(), correction.rejections),
        "");
  }
  return correction;
}

TEST(Values, RolloutCorrectionsAreThoseWorkedOutByHand) {
  for (const Json& row : rows_of("rollout_corrections")) {
    const std::string name = row.at("name").as_string();
    std::vector<std::vector<float>> logprobs, rollout;
    std::vector<std::vector<uint8_t>> masks;
    std::vector<RatioRow> rows;
    for (const Json& r : row.at("rows").as_array()) {
      logprobs.push_back(floats(r.find("logprobs")));
      rollout.push_back(floats(r.find("rollout_logprobs")));
      masks.emplace_back();
      for (float kept : floats(r.find("mask"))) masks.back().push_back(kept != 0.0f);
    }
    for (size_t r = 0; r < logprobs.size(); ++r) rows.push_back({logprobs[r], rollout[r], masks[r]});
    const Corrected found = correct(rows, correction_of(row.at("options")));
    const Json *weights = row.find("weights"), *kept = row.find("masks");
    EXPECT_EQ(found.weights.empty(), weights == nullptr) << name;
    for (size_t r = 0; r < rows.size(); ++r) {
      for (size_t t = 0; t < logprobs[r].size(); ++t) {
        if (weights != nullptr) {
          expect_close(found.weights[r][t], weights->as_array()[r].as_array()[t].as_double(), name + " weight");
        }
        if (kept == nullptr) continue;
        EXPECT_EQ(found.masks[r].empty() || found.masks[r][t] != 0, kept->as_array()[r].as_array()[t].as_int() != 0)
            << name << " row " << r << " token " << t;
      }
    }
    const Json* statistics = row.find("statistics");
    if (statistics == nullptr) continue;
    size_t looked_at = 0;
    for (const auto& [key, value] : named(found.statistics)) {
      const Json* expected = statistics->find(key);
      if (expected == nullptr) continue;
      expect_close(value, expected->as_double(), fmt::format("{} {}", name, key));
      ++looked_at;
    }
    EXPECT_EQ(looked_at, statistics->as_object().size()) << name;
  }
}

}  // namespace
}  // namespace hone::algorithms
