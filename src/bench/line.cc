#include "bench/line.h"

#include <fmt/format.h>

#include <utility>

#include "io/json.h"

namespace hone::bench {

namespace {

io::Json or_null(std::optional<double> value) { return value ? io::Json(*value) : io::Json(); }

}  // namespace

std::string Line::json() const {
  io::Json json =
      io::Json::object({{"name", name}, {"dtype", dtype}, {"target", target}, {"threads", int64_t{threads}}});
  json.set("seconds", seconds);
  json.set("flops", flops);
  json.set("bytes", bytes);
  json.set("peak_flops", roofs.peak_flops);
  json.set("peak_dtype", roofs.peak_dtype);
  json.set("roof_flops", roofs.roof_flops);
  json.set("read_bytes_per_s", roofs.read_bytes_per_s);
  json.set("peer", peer.empty() ? io::Json() : io::Json(peer));
  json.set("peer_seconds", or_null(peer_seconds));
  json.set("ratio", or_null(ratio));
  if (ideal_seconds) json.set("ideal_seconds", *ideal_seconds);
  if (peak_memory_bytes) json.set("peak_memory_bytes", *peak_memory_bytes);
  io::Json all = io::Json::array();
  for (const Part& part : parts) {
    all.push_back(io::Json::object({{"name", part.name},
                                    {"seconds", part.seconds},
                                    {"peer_seconds", or_null(part.peer_seconds)},
                                    {"flops", part.flops}}));
  }
  if (!parts.empty()) json.set("parts", std::move(all));
  return json.dump();
}

std::string Line::text() const {
  std::string out =
      fmt::format("{:<12} {} {} x{}: {:.3f} ms, {:.1f} GFLOP/s ({:.0f} % of peak), {:.1f} GB/s ({:.0f} %)", name, dtype,
                  target, threads, seconds * 1e3, flops / seconds * 1e-9, 100 * flops / seconds / roofs.peak_flops,
                  bytes / seconds * 1e-9, 100 * bytes / seconds / roofs.read_bytes_per_s);
  out += peer_seconds ? fmt::format(", {} {:.3f} ms, ratio {:.3f}", peer, *peer_seconds * 1e3, ratio.value_or(0))
                      : std::string(ratio ? fmt::format(", ratio {:.3f}", *ratio) : ", no peer here: no ratio");
  if (peak_memory_bytes) out += fmt::format(", {:.2f} GiB", *peak_memory_bytes * 0x1p-30);
  for (const Part& part : parts) {
    out += fmt::format("\n    {:<18} {:9.3f} ms {:7.1f} GFLOP/s", part.name, part.seconds * 1e3,
                       part.flops / part.seconds * 1e-9);
    if (part.peer_seconds) {
      out +=
          fmt::format("   peer {:9.3f} ms, ratio {:.3f}", *part.peer_seconds * 1e3, *part.peer_seconds / part.seconds);
    }
  }
  return out;
}

}  // namespace hone::bench
