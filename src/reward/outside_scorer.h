// OutsideScorer: a scorer that is not a function of this program: the user's Python function, a service, code that is
// run. What goes wrong with an answer out there makes its score absent, with the reason, and never ends the run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/team.h"
#include "records/prompt.h"
#include "records/trajectory.h"
#include "reward/answer.h"

namespace hone {

// Reason of a score that is withheld on purpose: nobody needs to be told.
inline constexpr std::string_view kWithheld = "the scorer gave none";

// Processes or requests at once where nobody says how many: one for each core, at most 8.
inline int default_scoring_workers() { return std::min(num_cores(), 8); }

class OutsideScorer {
 public:
  virtual ~OutsideScorer() = default;

  // The scores of answers to one prompt, in their order. Any number of threads may ask. `draw` is that of the prompt in
  // the run.
  virtual std::vector<Score> score(const Prompt& prompt, uint64_t draw, std::span<const Answer> answers) = 0;
  // The answers of a group are better given together than each by itself.
  virtual bool takes_groups() const { return false; }
  // So many calls at once have a use.
  virtual int num_threads() const = 0;
  // What makes its scores what they are, beside the recipe's options; empty: nothing. A run does not go on with
  // another.
  virtual std::string mark() const { return {}; }
  // What is wrong with a row, or nothing.
  virtual std::optional<std::string> find_fault(const Prompt&) { return {}; }
  // Where it puts what others print; empty: the error output of this program.
  virtual void keep_output(const std::string& /*path*/) {}
};

}  // namespace hone
