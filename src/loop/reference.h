// Reference: the policy that the KL is measured against: the weights that the run's model has, as one decoder that only
// samples (about half of the memory). It never changes, and a run that goes on loads it again. With adapters it is the
// model without them, which takes no memory: also where the run begins with adapters of its own.
#pragma once

#include <memory>
#include <span>

#include "loop/recipe.h"
#include "records/trajectory.h"
#include "train/trainer.h"

namespace hone {

class Reference {
 public:
  Reference(kernels::Context& ctx, const ModelRecipe& model, uint64_t seed, DType dtype);

  // The log-probs of the reference into every answer that has ids, by the trainer's own pass.
  void score(Trainer& trainer, std::span<Group> groups) const;

 private:
  std::unique_ptr<Decoder> decoder_;  // nothing with adapters
};

}  // namespace hone
