// Context: what every operation is given first: threads, scratch memory and the kernels of one target.
// Rollout and training own one each; there are no globals.
#pragma once

#include "core/arena.h"
#include "core/team.h"
#include "kernels/cpu/target.h"

namespace hone::kernels {

struct Context {
  explicit Context(int num_threads, const cpu::Target& target_ = cpu::default_target())
      : team(num_threads), target(target_) {}

  Team team;
  Arena scratch;
  const cpu::Target& target;
};

}  // namespace hone::kernels
