#include "bench/opening.h"

#include <fmt/format.h>

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

io::Json Opening::json(const std::string& name) const {
  return io::Json::object({{"name", name},
                           {"dtype", line.dtype},
                           {"target", line.target},
                           {"threads", int64_t{line.threads}},
                           {"peak_flops", line.roofs.peak_flops},
                           {"roof_flops", line.roofs.roof_flops},
                           {"read_bytes_per_s", line.roofs.read_bytes_per_s}});
}

std::string Opening::head(const std::string& name) const {
  return fmt::format("{:<22} {} {} x{}", name, line.dtype, line.target, line.threads);
}

}  // namespace hone::bench
