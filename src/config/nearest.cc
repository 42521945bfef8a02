// The known key that a misspelt one most likely stands for.
#include <algorithm>
#include <cctype>
#include <numeric>

#include "config/schema.h"

namespace hone::config {
namespace {

// Insertions, deletions, exchanges, and neighbours swapped (optimal string alignment).
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t exchange = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, exchange});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

double difference(const std::string& a, const std::string& b) {
  const size_t longest = std::max(a.size(), b.size());
  return longest == 0 ? 0 : static_cast<double>(edit_distance(a, b)) / static_cast<double>(longest);
}

// No edit bridges a difference of lengths for less.
double least_difference(size_t a, size_t b) {
  return static_cast<double>(std::max(a, b) - std::min(a, b)) / static_cast<double>(std::max({a, b, size_t{1}}));
}

struct Parts {
  std::string groups, last;
};

Parts split_last(const std::string& key) {
  const size_t dot = key.rfind('.');
  if (dot == std::string::npos) return {"", key};
  return {key.substr(0, dot), key.substr(dot + 1)};
}

// 0 = the same; the last part of a key weighs more than the groups before it, which users leave out.
constexpr double kLastWeight = 0.7, kGroupWeight = 0.3, kNoGroup = 0.5;

class Search {
 public:
  explicit Search(const std::string& key) : key_(key), parts_(split_last(key)) {}

  // Later candidates have to be better: honoured fields come first.
  void consider(const std::string& candidate, const std::string& as) {
    if (least_difference(key_.size(), candidate.size()) < best_difference_) {
      take(difference(key_, candidate), as);
    }
    const Parts parts = split_last(candidate);
    if (kLastWeight * least_difference(parts_.last.size(), parts.last.size()) >= best_difference_) return;
    const double last = kLastWeight * difference(parts_.last, parts.last);
    if (last >= best_difference_) return;
    take(last + kGroupWeight * (parts_.groups.empty() ? kNoGroup : difference(parts_.groups, parts.groups)), as);
  }
  const std::string& best() const { return best_; }

 private:
  void take(double difference, const std::string& as) {
    if (difference >= best_difference_) return;
    best_difference_ = difference;
    best_ = as;
  }
  std::string key_;
  Parts parts_;
  std::string best_;
  double best_difference_ = 0.55;  // what is farther names nothing
};

}  // namespace

std::string Schema::nearest(const std::string& unknown) const {
  std::string key = unknown;
  std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
  Search search(key);
  for (const Field& field : fields_) {
    search.consider(field.key(), field.key());
    const std::string groups = split_last(field.key()).groups;
    for (const std::string& alias : field.aliases()) search.consider(groups + "." + alias, field.key());
  }
  for (const KeyRule& rule : rules_) {
    if (!rule.is_group()) search.consider(rule.pattern, rule.pattern);
  }
  for (const auto& [old_key, now] : renamed_) search.consider(old_key, now);
  return search.best();
}

}  // namespace hone::config
