#include "config/schema.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "io/yaml.h"

namespace hone::config {
namespace {

using io::Json;

// Insertions, deletions, exchanges, and neighbours swapped (optimal string alignment).
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t exchange = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, exchange});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
  }
  return rows[a.size()][b.size()];
}

double difference(const std::string& a, const std::string& b) {
  const size_t longest = std::max(a.size(), b.size());
  return longest == 0 ? 0 : static_cast<double>(edit_distance(a, b)) / static_cast<double>(longest);
}

std::pair<std::string, std::string> split_last(const std::string& key) {
  const size_t dot = key.rfind('.');
  if (dot == std::string::npos) return {"", key};
  return {key.substr(0, dot), key.substr(dot + 1)};
}

// 0 = the same; the last part of a key weighs more than the groups before it, which users leave out.
double key_difference(const std::string& key, const std::string& candidate) {
  const auto [groups, last] = split_last(key);
  const auto [candidate_groups, candidate_last] = split_last(candidate);
  const double group_part = groups.empty() ? 0.5 : difference(groups, candidate_groups);
  return std::min(difference(key, candidate), 0.7 * difference(last, candidate_last) + 0.3 * group_part);
}

bool matches(const std::string& pattern, const std::string& key) {
  if (!pattern.ends_with(".*")) return pattern == key;
  const size_t length = pattern.size() - 1;  // with the dot
  return key.compare(0, length, pattern, 0, length) == 0 || key + "." == pattern.substr(0, length);
}

const Json* find_path(const Json& tree, const std::string& key) {
  const Json* at = &tree;
  for (size_t begin = 0; at != nullptr && begin <= key.size();) {
    const size_t end = std::min(key.find('.', begin), key.size());
    at = at->find(std::string_view(key).substr(begin, end - begin));
    begin = end + 1;
  }
  return at;
}

}  // namespace

Field* Schema::find(const std::string& key) {
  for (Field& field : fields_) {
    if (field.key() == key) return &field;
  }
  return nullptr;
}

const std::string* Schema::renamed_to(const std::string& old_key) const {
  for (const auto& [old, key] : renamed_) {
    if (old == old_key) return &key;
  }
  return nullptr;
}

const Schema::Rule* Schema::match(const std::vector<Rule>& rules, const std::string& key) {
  const Rule* best = nullptr;
  for (const Rule& rule : rules) {
    if (!matches(rule.pattern, key)) continue;
    if (rule.pattern == key) return &rule;
    if (best == nullptr || rule.pattern.size() > best->pattern.size()) best = &rule;
  }
  return best;
}

std::string Schema::nearest(const std::string& unknown) const {
  constexpr double kFar = 0.55;
  std::string key = unknown;
  std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
  std::string best;
  double best_difference = kFar;
  const auto consider = [&](const std::string& candidate, const std::string& as) {
    const double d = key_difference(key, candidate);
    if (d < best_difference) {
      best_difference = d;
      best = as;
    }
  };
  for (const Field& field : fields_) {
    consider(field.key(), field.key());
    const std::string groups = split_last(field.key()).first;
    for (const std::string& alias : field.aliases()) consider(groups + "." + alias, field.key());
  }
  for (const auto* rules : {&ignored_, &refused_}) {
    for (const Rule& rule : *rules) {
      if (!rule.pattern.ends_with(".*")) consider(rule.pattern, rule.pattern);
    }
  }
  return best;
}

bool Schema::is_group(const std::string& key) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [&](const Field& field) { return field.key().compare(0, key.size() + 1, key + ".") == 0; });
}

Json Schema::tree() const {
  Json root = Json::object();
  for (const Field& field : fields_) {
    Json* group = &root;
    const auto [groups, last] = split_last(field.key());
    for (size_t begin = 0; begin < groups.size();) {
      const size_t end = std::min(groups.find('.', begin), groups.size());
      const std::string name = groups.substr(begin, end - begin);
      Json* next = group->find(name);
      group = next != nullptr ? next : &group->set(name, Json::object());
      begin = end + 1;
    }
    group->set(last, field.value());
  }
  return root;
}

uint64_t Schema::hash() const {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const Field& field : fields_) {
    if (field.effect() != Effect::results) continue;
    for (const char c : field.key() + "=" + io::flow_yaml(field.value()) + "\n") {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
  }
  return hash;
}

std::vector<std::string> Schema::differences(const Json& saved) const {
  std::vector<std::string> lines;
  for (const Field& field : fields_) {
    if (field.effect() != Effect::results) continue;
    const Json* old = find_path(saved, field.key());
    const std::string before = old == nullptr ? "nothing" : io::flow_yaml(*old), now = io::flow_yaml(field.value());
    if (before != now) lines.push_back(fmt::format("{}: saved {}, now {}", field.key(), before, now));
  }
  return lines;
}

}  // namespace hone::config
