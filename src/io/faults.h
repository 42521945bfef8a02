// Faults: what is wrong with files and options, all of it, so that a user mends it in one go.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"

namespace hone::io {

// An Error that is a list: its faults can join those of other checks.
class FaultError : public Error {
 public:
  FaultError(const std::string& message, std::string hint, std::vector<std::string> faults)
      : Error(message, std::move(hint)), faults_(std::move(faults)) {}
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  std::vector<std::string> faults_;
};

class Faults {
 public:
  // "file:line: what", complete in itself.
  // It becomes one line: what it quotes of the outside world can neither forge another fault nor move the cursor.
  void add(const std::string& fault);
  // An Error of a check, with its hint and its lines; of a FaultError each fault.
  void add(const Error& error);
  void append(const Faults& others) { faults_.insert(faults_.end(), others.faults_.begin(), others.faults_.end()); }
  bool empty() const { return faults_.empty(); }
  size_t size() const { return faults_.size(); }
  const std::vector<std::string>& list() const { return faults_; }

  // Raises one FaultError that lists the faults when there are any: of each file at most 50, then how many more of it
  // there are. When some are left out, all of them are written to a file in the folder for temporary files, which the
  // message names.
  void raise_if_any(const std::string& title, const std::string& hint = "") const;

 private:
  std::string text(bool* is_cut) const;
  std::vector<std::string> faults_;
};

}  // namespace hone::io
