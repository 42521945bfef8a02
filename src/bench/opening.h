// What every benchmark begins with: a context with its threads pinned, the peer, the dtype, and a line that already
// holds the machine's readings.
#pragma once

#include "bench/bench.h"
#include "bench/line.h"
#include "bench/peer.h"
#include "kernels/context.h"

namespace hone::bench {

struct Opening {
  explicit Opening(const Options& options);

  kernels::Context ctx;
  Peer peer;
  DType dtype;
  Line line;
};

}  // namespace hone::bench
