// What every benchmark begins with: a context with its threads pinned, the peer, the dtype, and a line that already
// holds the machine's readings.
#pragma once

#include "bench/bench.h"
#include "bench/line.h"
#include "bench/peer.h"
#include "io/json.h"
#include "kernels/context.h"

namespace hone::bench {

struct Opening {
  explicit Opening(const Options& options);

  // What a line of JSON begins with, where a benchmark has figures of its own: name, dtype, target, threads and roofs.
  io::Json json(const std::string& name) const;
  // The same for people.
  std::string head(const std::string& name) const;

  kernels::Context ctx;
  Peer peer;
  DType dtype;
  Line line;
};

}  // namespace hone::bench
