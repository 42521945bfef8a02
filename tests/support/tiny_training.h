// What tests of training steps on the tiny model share.
#pragma once

#include <vector>

#include "support/tiny_model.h"
#include "train/trainer.h"

namespace hone::test {

inline TrainerOptions tiny_trainer_options(int64_t micro_batch_tokens = 1000) {
  TrainerOptions options;
  options.valid_vocab = kTinyValidVocab;
  options.micro_batch_tokens = micro_batch_tokens;
  return options;
}

// The clipped surrogate.
inline Objective policy_objective() {
  Objective objective;
  objective.policy = algorithms::find_policy_loss("vanilla");
  return objective;
}

// Of all that is trained, one after the other.
inline std::vector<float> gradients_of(Decoder& decoder) {
  std::vector<float> all;
  for (Parameter& parameter : decoder.trained()) {
    const View<float> g = parameter.gradient();
    all.insert(all.end(), g.data, g.data + g.size());
  }
  return all;
}

}  // namespace hone::test
