#include "algorithms/return_advantage.h"

#include <algorithm>
#include <cmath>

#include "algorithms/group_advantage.h"
#include "core/error.h"

namespace hone::algorithms {

namespace {

// An answer's numbers: one for all its tokens, or one each; none: it takes no part.
struct Row {
  std::vector<double> values;
  int64_t num_tokens = 0;
};

// G_t = r_t + gamma G_{t+1}
Row returns_of(const RewardedAnswer& answer, double gamma) {
  Row row{{}, answer.num_tokens};
  if (gamma == 1.0 && answer.token_rewards.empty()) {
    row.values.push_back(double{*answer.score});
    return row;
  }
  row.values.resize(static_cast<size_t>(answer.num_tokens));
  double running = 0;
  for (int64_t t = answer.num_tokens - 1; t >= 0; --t) {
    running = answer.reward(t) + gamma * running;
    row.values[static_cast<size_t>(t)] = running;
  }
  return row;
}

void whiten(std::vector<Row>& rows) {
  double count = 0, offset = 0;
  for (const Row& row : rows) {
    if (row.values.empty()) continue;
    if (count == 0) offset = row.values.front();  // so that equal values have exactly themselves as their mean
    count += static_cast<double>(row.num_tokens);
  }
  const auto sum = [&](const auto& of) {
    double total = 0;
    for (const Row& row : rows) {
      const double times = row.values.size() == 1 ? static_cast<double>(row.num_tokens) : 1.0;
      for (double value : row.values) total += times * of(value);
    }
    return total;
  };
  const double mean = count == 0 ? 0.0 : offset + sum([&](double v) { return v - offset; }) / count;
  const double squares = sum([&](double v) { return (v - mean) * (v - mean); });
  const double scale = count < 2 ? 0.0 : 1.0 / std::sqrt(squares / (count - 1) + 1e-8);
  for (Row& row : rows) {
    for (double& value : row.values) value = (value - mean) * scale;
  }
}

void put(const Row& row, float& all, std::vector<float>& each) {
  if (row.values.size() == 1) {
    all = static_cast<float>(row.values.front());
    return;
  }
  for (double value : row.values) each.push_back(static_cast<float>(value));
  const bool equal = std::all_of(each.begin(), each.end(), [&](float v) { return v == each.front(); });
  if (!equal || each.empty()) return;
  all = each.front();
  each.clear();
}

std::vector<Advantage> advantages_of(const std::vector<Row>& rows, const std::vector<Row>& returns) {
  std::vector<Advantage> result(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    put(rows[i], result[i].advantage, result[i].advantages);
    if (returns.empty()) continue;
    for (int64_t t = 0; t < (returns[i].values.empty() ? 0 : returns[i].num_tokens); ++t) {
      const size_t at = returns[i].values.size() == 1 ? 0 : static_cast<size_t>(t);
      result[i].returns.push_back(static_cast<float>(returns[i].values[at]));
    }
  }
  return result;
}

}  // namespace

std::vector<Advantage> reinforce_plus_plus(std::span<const RewardedAnswer> answers, const AdvantageOptions& options) {
  std::vector<Row> rows(answers.size());
  for (size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].takes_part()) rows[i] = returns_of(answers[i], options.gamma);
  }
  const std::vector<Row> returns = rows;
  whiten(rows);
  return advantages_of(rows, returns);
}

std::vector<Advantage> reinforce_plus_plus_baseline(std::span<const RewardedAnswer> answers, const AdvantageOptions&) {
  std::vector<Row> rows(answers.size());
  for (const GroupRange& range : group_ranges(answers)) {
    const auto group = answers.subspan(range.begin, range.end - range.begin);
    double sum = 0, count = 0;
    for (const RewardedAnswer& answer : group) {
      if (!answer.takes_part()) continue;
      sum += answer.total();
      count += 1;
    }
    if (count < 2) continue;
    const bool flat = is_flat(group);
    for (size_t i = range.begin; i < range.end; ++i) {
      if (!answers[i].takes_part()) continue;
      rows[i] = {{flat ? 0.0 : answers[i].total() - sum / count}, answers[i].num_tokens};
    }
  }
  whiten(rows);
  return advantages_of(rows, {});
}

std::vector<Advantage> remax(std::span<const RewardedAnswer> answers, const AdvantageOptions&) {
  std::vector<Row> rows(answers.size()), returns(answers.size());
  for (size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].takes_part() || !answers[i].baseline) continue;
    rows[i] = returns[i] = returns_of(answers[i], 1.0);
    for (double& value : rows[i].values) value -= double{*answers[i].baseline};
  }
  return advantages_of(rows, returns);
}

std::vector<Advantage> gae(std::span<const RewardedAnswer> answers, const AdvantageOptions& options) {
  std::vector<Row> rows(answers.size()), returns(answers.size());
  for (size_t i = 0; i < answers.size(); ++i) {
    const RewardedAnswer& answer = answers[i];
    if (!answer.takes_part()) continue;
    const auto tokens = static_cast<size_t>(answer.num_tokens);
    HONE_CHECK(answer.values.size() == tokens, "{} values of {} tokens", answer.values.size(), tokens);
    rows[i] = returns[i] = {std::vector<double>(tokens), answer.num_tokens};
    double next_value = 0, running = 0;
    for (size_t t = tokens; t-- > 0;) {
      const double value = answer.values[t];
      const double delta = answer.reward(static_cast<int64_t>(t)) + options.gamma * next_value - value;
      running = delta + options.gamma * options.lambda * running;
      rows[i].values[t] = running;
      returns[i].values[t] = running + value;
      next_value = value;
    }
  }
  whiten(rows);
  return advantages_of(rows, returns);
}

}  // namespace hone::algorithms
