// EarlyStopping: when a validation loss no longer falls. Checkpoints keep its state (law 3).
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace hone {

class EarlyStopping {
 public:
  // Over after `patience` validations in a row, each of which fell by `threshold` or less below the best one before.
  EarlyStopping(int64_t patience, double threshold) : patience_(patience), threshold_(threshold) {}

  // Whether this is the best one so far; a loss that is not a number never is.
  bool observe(double loss, int64_t global_step);
  bool is_over() const { return num_worse_ >= patience_; }
  double best_loss() const { return best_loss_; }  // infinite before the first
  int64_t best_step() const { return best_step_; }

  // JSON in a file of the training state's folder. Without the file (saved before this was on) it begins anew; raises
  // Error on one that cannot be read.
  void save(const std::string& folder) const;
  void restore(const std::string& folder);

 private:
  int64_t patience_;
  double threshold_;
  double best_loss_ = std::numeric_limits<double>::infinity();
  int64_t best_step_ = 0, num_worse_ = 0;
};

}  // namespace hone
