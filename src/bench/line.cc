#include "bench/line.h"

#include <fmt/format.h>

namespace hone::bench {

namespace {

std::string number(std::optional<double> value) { return value ? fmt::format("{:.6g}", *value) : "null"; }

// Names are ours or a library's version: no character needs more than this.
std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

}  // namespace

std::string Line::json() const {
  std::string out = fmt::format(
      R"({{"name": {}, "dtype": {}, "target": {}, "threads": {}, "seconds": {}, "flops": {}, "bytes": {}, )"
      R"("peak_flops": {}, "peak_dtype": {}, "roof_flops": {}, "read_bytes_per_s": {}, "peer": {}, )"
      R"("peer_seconds": {}, "ratio": {})",
      json_string(name), json_string(dtype), json_string(target), threads, number(seconds), number(flops),
      number(bytes), number(roofs.peak_flops), json_string(roofs.peak_dtype), number(roofs.roof_flops),
      number(roofs.read_bytes_per_s), peer.empty() ? "null" : json_string(peer), number(peer_seconds), number(ratio));
  if (ideal_seconds) out += fmt::format(R"(, "ideal_seconds": {})", number(ideal_seconds));
  if (peak_memory_bytes) out += fmt::format(R"(, "peak_memory_bytes": {})", number(peak_memory_bytes));
  if (!parts.empty()) {
    out += R"(, "parts": [)";
    for (size_t i = 0; i < parts.size(); ++i) {
      out += fmt::format(R"({}{{"name": {}, "seconds": {}, "peer_seconds": {}, "flops": {}}})", i == 0 ? "" : ", ",
                         json_string(parts[i].name), number(parts[i].seconds), number(parts[i].peer_seconds),
                         number(parts[i].flops));
    }
    out += "]";
  }
  return out + "}";
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
