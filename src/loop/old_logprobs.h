// Old log-probs: those of the policy that a step starts from. For ids that it drew itself they are the sampled ones, to
// the bit (law 1); what older weights drew is scored where a recipe asks for it, and corrected.
#pragma once

#include <span>

#include "loop/metrics.h"
#include "loop/recipe.h"
#include "records/trajectory.h"
#include "train/trainer.h"

namespace hone {

// Whether the recipe makes a step score answers before it trains; of on-policy ones nothing is scored unless
// actor.recompute_old_log_prob is true.
bool scores_old_logprobs(const Recipe& recipe);

// Old log-probs, weights and masks into the trajectories, with the metrics of rollout_corr/. `version` is the policy's
// now. Raises Bug where an id that this version drew has other bits in training than in sampling.
void set_old_logprobs(Trainer& trainer, const Recipe& recipe, int32_t version, std::span<Group> groups,
                      Metrics& metrics);

// The numbers of a correction under verl's names.
void report_correction(const algorithms::CorrectionStatistics& statistics, Metrics& metrics);

}  // namespace hone
