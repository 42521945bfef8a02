// Faults: what is wrong with a file or a config, all of it, so that a user mends it in one go.
#pragma once

#include <string>
#include <vector>

namespace hone::io {

class Faults {
 public:
  // "file:line: what", complete in itself.
  void add(std::string fault) { faults_.push_back(std::move(fault)); }
  bool empty() const { return faults_.empty(); }
  const std::vector<std::string>& list() const { return faults_; }
  // Raises one Error that lists the faults, the first 50 in full, when there are any.
  void raise_if_any(const std::string& title, const std::string& hint = "") const;

 private:
  std::vector<std::string> faults_;
};

}  // namespace hone::io
