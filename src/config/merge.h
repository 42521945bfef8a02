// Merged: one setting a key, out of a file and arguments in their order.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/load.h"

namespace hone::config {

// Later settings over earlier ones, ~key takes back, old names under their new ones, and the defaults that hold
// references. Names of one option with two values, ~key of what is not known and both of two alternatives are faults.
class Merged {
 public:
  Merged(const Schema& schema, const std::vector<Setting>& settings, std::vector<std::string>& notes,
         io::Faults& faults);
  const std::vector<Setting>& settings() const { return settings_; }
  // What is set, else verl's default or that of the field; nothing when there is no such key.
  std::optional<io::Json> find(const std::string& key) const;

 private:
  void put(Setting setting);
  void remove(const Setting& setting, io::Faults& faults);
  const Schema& schema_;
  std::vector<Setting> settings_;
  std::map<std::string, size_t> index_;
  std::map<std::string, std::string> given_;  // key -> the name it was given under
};

// "unknown key; the nearest known one is KEY".
std::string unknown_key(const Schema& schema, const std::string& key);

}  // namespace hone::config
