#include "algorithms/group_advantage.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace hone::algorithms {

namespace {

// Answers of a group that take part, at least two with unequal rewards.
struct Rewards {
  std::vector<double> s, tokens;

  double count() const { return static_cast<double>(s.size()); }
  double mean() const {
    double sum = 0;
    for (double x : s) sum += x;
    return sum / count();
  }
  double variance() const {
    const double m = mean();
    double squares = 0;
    for (double x : s) squares += (x - m) * (x - m);
    return squares / (count() - 1);
  }
};

// advantage_of(rewards, index) for every answer that is compared.
template <class Of>
std::vector<Advantage> compare(Answers answers, const Of& advantages_of) {
  std::vector<Advantage> result(answers.size());
  for (const GroupRange& range : group_ranges(answers)) {
    Rewards rewards;
    std::vector<size_t> index;
    for (size_t i = range.begin; i < range.end; ++i) {
      if (!answers[i].takes_part()) continue;
      index.push_back(i);
      rewards.s.push_back(answers[i].total());
      rewards.tokens.push_back(static_cast<double>(answers[i].num_tokens));
    }
    if (index.size() < 2 || is_flat(answers.subspan(range.begin, range.end - range.begin))) continue;
    const std::vector<double> advantages = advantages_of(rewards);
    for (size_t k = 0; k < index.size(); ++k) result[index[k]].advantage = static_cast<float>(advantages[k]);
  }
  return result;
}

std::vector<double> deviations(const Rewards& rewards, double from, double scale) {
  std::vector<double> result;
  for (double s : rewards.s) result.push_back((s - from) * scale);
  return result;
}

}  // namespace

std::vector<GroupRange> group_ranges(Answers answers) {
  std::vector<GroupRange> ranges;
  for (size_t i = 0; i < answers.size(); ++i) {
    if (i == 0 || answers[i].group != answers[i - 1].group) ranges.push_back({i, i});
    ranges.back().end = i + 1;
  }
  return ranges;
}

bool is_flat(Answers group) {
  std::optional<double> first;
  for (const RewardedAnswer& answer : group) {
    if (!answer.takes_part()) continue;
    if (first && *first != answer.total()) return false;
    first = answer.total();
  }
  return first.has_value();
}

std::vector<Advantage> grpo(Answers answers, const AdvantageOptions& options) {
  return compare(answers, [&](const Rewards& r) {
    return deviations(r, r.mean(), options.norm_by_std ? 1.0 / (std::sqrt(r.variance()) + 1e-6) : 1.0);
  });
}

std::vector<Advantage> grpo_vectorized(Answers answers, const AdvantageOptions& options) {
  return compare(answers, [&](const Rewards& r) {
    const double std = std::sqrt(std::max(r.variance(), 1e-6));
    return deviations(r, r.mean(), options.norm_by_std ? 1.0 / (std + 1e-6) : 1.0);
  });
}

std::vector<Advantage> grpo_passk(Answers answers, const AdvantageOptions& options) {
  return compare(answers, [&](const Rewards& r) {
    const auto best = std::max_element(r.s.begin(), r.s.end());
    double second = -HUGE_VAL;
    for (auto s = r.s.begin(); s != r.s.end(); ++s) {
      if (s != best) second = std::max(second, *s);
    }
    std::vector<double> result(r.s.size());
    const double scale = options.norm_by_std ? 1.0 / (std::sqrt(r.variance()) + 1e-6) : 1.0;
    result[static_cast<size_t>(best - r.s.begin())] = (*best - second) * scale;
    return result;
  });
}

std::vector<Advantage> rloo(Answers answers, const AdvantageOptions&) {
  return compare(answers, [](const Rewards& r) { return deviations(r, r.mean(), r.count() / (r.count() - 1)); });
}

std::vector<Advantage> opo(Answers answers, const AdvantageOptions&) {
  return compare(answers, [](const Rewards& r) {
    double sum = 0, tokens = 0;
    for (size_t k = 0; k < r.s.size(); ++k) {
      sum += r.tokens[k] * r.s[k];
      tokens += r.tokens[k];
    }
    return deviations(r, sum / tokens, 1.0);
  });
}

std::vector<Advantage> gpg(Answers answers, const AdvantageOptions&) {
  double part = 0, not_zero = 0;
  for (const RewardedAnswer& answer : answers) {
    part += answer.takes_part();
    not_zero += answer.takes_part() && answer.total() != 0.0;
  }
  const double scale = part / std::max(not_zero, 1.0);
  return compare(answers, [&](const Rewards& r) { return deviations(r, r.mean(), scale); });
}

}  // namespace hone::algorithms
