// Estimators that compare the answers to one prompt. s = total reward of an answer, n = answers of its group that take
// part; mean and std (unbiased) are the group's over those. A group whose rewards are all equal has advantages of
// exactly 0, and so has a group with fewer than two: one answer compares with nothing (verl: its score as it is).
#pragma once

#include "algorithms/advantage.h"

namespace hone::algorithms {

using Answers = std::span<const RewardedAnswer>;

// (s - mean) / (std + 1e-6): Shao et al. 2024, DeepSeekMath, section 4.1.2; without norm_by_std s - mean (Dr. GRPO, Liu
// et al. 2025).
Estimate grpo;
// The same with a std of at least 1e-3.
Estimate grpo_vectorized;
// s - second for the best answer, 0 for the others (Tang et al. 2025, arXiv 2503.19595); with norm_by_std over std +
// 1e-6.
Estimate grpo_passk;
// s minus the mean of the others' (Ahmadian et al. 2024).
Estimate rloo;
// s minus the mean weighted by length (Hao et al. 2025, OPO).
Estimate opo;
// (s - mean) * (answers / answers with s not 0), the counts over all groups (Chu et al. 2025, GPG).
Estimate gpg;

// Runs of answers with one group number: begin and end of each.
struct GroupRange {
  size_t begin = 0, end = 0;
};
std::vector<GroupRange> group_ranges(Answers answers);

// Whether the rewards of those that take part are all equal (and there is one).
bool is_flat(Answers group);

}  // namespace hone::algorithms
