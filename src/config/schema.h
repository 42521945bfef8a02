// Schema: the list of all options of a command, bound to one struct that holds their values. Next to the honoured
// fields stand the keys of verl without a field: accepted (they have no meaning here, and one line says so) or refused
// unless neutral (ignoring them would change results).
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "config/field.h"

namespace hone::config {

// What a key without a field takes; null is always fine.
enum class ValueKind { any, boolean, integer, number, text, list };

struct KeyRule {
  std::string pattern;  // a key, or with ".*" at its end all keys of a group
  ValueKind kind = ValueKind::any;
  std::vector<io::Json> neutral;  // the first is verl's default
  std::string reason;
  bool refused = false;

  bool is_group() const { return pattern.ends_with(".*"); }
  bool is_neutral(const io::Json& value) const;  // null and what is empty always are
  // What is wrong with the kind of a value, or nothing.
  std::string fault_of(const io::Json& value) const;
  std::string type_text() const;
};

class Schema {
 public:
  // `target` must outlive the schema; its value now is the default.
  Field& field(std::string key, Field::Target target, std::string doc) {
    return fields_.emplace_back(std::move(key), target, std::move(doc));
  }

  // The kind of the value is that of verl's default, or is given where that is null.
  void accepted(std::string pattern, io::Json default_value, std::string reason);
  void accepted(std::string pattern, ValueKind kind, std::string reason);
  // The first neutral value is verl's default.
  void refused(std::string pattern, std::vector<io::Json> neutral, std::string reason);
  void refused(std::string pattern, ValueKind kind, std::string reason);

  // An old name of a field: taken for the new one, with one line that says so.
  void renamed(std::string old_key, std::string key) { renamed_.emplace_back(std::move(old_key), std::move(key)); }
  const std::string* renamed_to(const std::string& old_key) const;
  // An old and a new name of a key without a field: only one of the two may be set.
  void alternatives(std::string old_key, std::string key) {
    alternatives_.emplace_back(std::move(old_key), std::move(key));
  }

  const std::deque<Field>& fields() const { return fields_; }
  const std::vector<KeyRule>& rules() const { return rules_; }
  const std::vector<std::pair<std::string, std::string>>& renames() const { return renamed_; }
  const std::vector<std::pair<std::string, std::string>>& alternatives() const { return alternatives_; }

  Field* find(const std::string& key);
  const Field* find(const std::string& key) const { return const_cast<Schema*>(this)->find(key); }
  // The field that is an open group and holds the key.
  Field* find_open(const std::string& key);
  // The rule that names the key most closely.
  const KeyRule* find_rule(const std::string& key) const;
  // The known key that looks most like this one; empty when none comes near.
  std::string nearest(const std::string& key) const;
  // True when some known key begins with `key` and a dot.
  bool is_group(const std::string& key) const;
  bool is_known(const std::string& key) const;

  // All honoured fields as a tree of groups.
  io::Json tree() const;
  // "key: saved 1, now 2" for every field with an effect on results that differs from a tree saved earlier.
  std::vector<std::string> differences(const io::Json& saved) const;

 private:
  std::deque<Field> fields_;
  std::vector<KeyRule> rules_;
  std::vector<std::pair<std::string, std::string>> renamed_, alternatives_;
};

}  // namespace hone::config
