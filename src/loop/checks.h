// Checks before anything heavy: what each of them finds joins one list, so that a user mends everything in one go.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "io/faults.h"
#include "models/model_config.h"
#include "text/tokenizer.h"

namespace hone {

class Checks {
 public:
  // Runs one check; an Error that comes out of it joins the faults and the others go on. True when none came.
  template <class Check>
  bool run(Check&& check) {
    const size_t before = faults_.size();
    try {
      std::forward<Check>(check)();
    } catch (const Error& error) {
      faults_.add(error);
    }
    return faults_.size() == before;
  }
  // For checks that list on their own.
  io::Faults& faults() { return faults_; }
  bool passed() const { return faults_.empty(); }
  // Raises one Error with every fault, exit code 2, when there are any.
  void finish() const { faults_.raise_if_any("this cannot be run as it is"); }

 private:
  io::Faults faults_;
};

// Raises Error when the tokenizer knows ids that the model does not.
void check_vocabulary(const std::string& folder, const Tokenizer& tokenizer, const ModelConfig& config);

// What a run will write into its folder.
struct RunSpace {
  std::string folder;
  int64_t num_parameters = 0;
  int64_t total_steps = 0, save_freq = -1, max_to_keep = 0;  // as in RunOptions
  int64_t first_step = 0;                                    // of the checkpoint it goes on from; 0: from the start
};
// Checkpoints that lie there at once, beyond those that are there: float32 weights and two moments each. Those after
// first_step are set aside when the run begins, so that they make no room.
int64_t most_new_checkpoints(const RunSpace& space);
double checkpoint_bytes(int64_t num_parameters);
// Raises Error with the numbers when the file system of the folder has no room for them, or the folder cannot be
// written.
void check_run_space(const RunSpace& space);

}  // namespace hone
