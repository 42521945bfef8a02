// Schema: the list of all options of a command, bound to one struct that holds their values. Next to the honoured
// fields stand the keys of verl that have no meaning here (accepted, with one line that says so) and those that would
// change results if they were ignored (refused unless neutral).
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "config/field.h"

namespace hone::config {

class Schema {
 public:
  // `target` must outlive the schema; its value now is the default.
  Field& field(std::string key, Field::Target target, std::string doc) {
    return fields_.emplace_back(std::move(key), target, std::move(doc));
  }

  // A key, or with ".*" at its end all keys of a group, that is accepted and means nothing here, with the reason.
  void ignored(std::string pattern, std::string reason) {
    ignored_.push_back({std::move(pattern), {}, std::move(reason)});
  }
  // The same for keys that are refused unless null or one of `neutral`.
  void refused(std::string pattern, std::vector<io::Json> neutral, std::string reason) {
    refused_.push_back({std::move(pattern), std::move(neutral), std::move(reason)});
  }

  // An old name of a field: taken for the new one, with one line that says so.
  void renamed(std::string old_key, std::string key) { renamed_.emplace_back(std::move(old_key), std::move(key)); }
  const std::string* renamed_to(const std::string& old_key) const;

  struct Rule {
    std::string pattern;
    std::vector<io::Json> neutral;
    std::string reason;
  };
  const std::deque<Field>& fields() const { return fields_; }
  const std::vector<Rule>& ignored() const { return ignored_; }
  const std::vector<Rule>& refused() const { return refused_; }

  Field* find(const std::string& key);
  const Field* find(const std::string& key) const { return const_cast<Schema*>(this)->find(key); }
  // The rule that names the key most closely.
  static const Rule* match(const std::vector<Rule>& rules, const std::string& key);
  // The known key that looks most like this one; empty when none comes near.
  std::string nearest(const std::string& key) const;
  // True when some known key begins with `key` and a dot.
  bool is_group(const std::string& key) const;

  // All honoured fields as a tree of groups.
  io::Json tree() const;
  // FNV-1a over key and value of every field whose effect is `results`.
  uint64_t hash() const;
  // "key: saved 1, now 2" for every field with an effect on results that differs from a tree saved earlier.
  std::vector<std::string> differences(const io::Json& saved) const;

 private:
  std::deque<Field> fields_;
  std::vector<Rule> ignored_, refused_;
  std::vector<std::pair<std::string, std::string>> renamed_;
};

}  // namespace hone::config
