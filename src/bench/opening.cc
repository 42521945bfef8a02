#include "bench/opening.h"

#include "bench/pin.h"

namespace hone::bench {

Opening::Opening(const Options& options)
    : ctx(resolve_threads(options.threads)),
      peer(ctx.team.num_threads()),
      dtype(options.dtype.value_or(ctx.target.has_bf16_dot ? DType::bf16 : DType::f32)) {
  pin(ctx.team);
  line.dtype = name(dtype);
  line.target = ctx.target.name;
  line.threads = ctx.team.num_threads();
  line.roofs = measure_roofs(ctx, peer, dtype);
}

}  // namespace hone::bench
