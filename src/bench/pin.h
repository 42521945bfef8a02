// Each thread of a team to a core of its own: two threads on one core would be measured as half a machine.
#pragma once

#include "core/team.h"

namespace hone::bench {

// Thread t to the t-th processor that this process may use. With more threads than processors nothing is pinned.
void pin(Team& team);

}  // namespace hone::bench
