// hone serve: an OpenAI-compatible server.
#include "cli/commands.h"
#include "core/error.h"

namespace hone::cli {

int run_serve(const serve::ServeOptions& options) {
  const auto expect = [](bool holds, const char* option, const char* expected) {
    if (!holds) throw Error(fmt::format("{}: expected {}", option, expected));
  };
  expect(options.port >= 0 && options.port <= 65535, "--port", "0 to 65535");
  expect(options.max_num_seqs >= 1 && options.max_num_seqs <= 4096, "--max-num-seqs", "1 to 4096");
  expect(options.max_waiting >= 0, "--max-waiting", "at least 0");
  expect(options.kv_cache_gib > 0, "--kv-cache-gib", "a number above 0");
  expect(options.max_body_mib > 0 && options.max_body_mib <= 1024, "--max-body-mib", "above 0, at most 1024");
  expect(options.max_connections >= 1 && options.max_connections <= 4096, "--max-connections", "1 to 4096");
  expect(options.drain_seconds >= 0, "--drain-seconds", "at least 0");
  return serve::serve(options);
}

}  // namespace hone::cli
