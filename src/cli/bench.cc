// hone bench: benchmarks by name.
#include "bench/bench.h"

#include "cli/commands.h"
#include "core/error.h"

namespace hone::cli {

int run_bench(const BenchArgs& args) {
  if (args.names.empty()) {
    for (const auto name : bench::names()) fmt::print("{}\n", name);
    return 0;
  }
  bench::Options options;
  options.json = args.json;
  options.threads = args.threads;
  options.tokenizer = args.tokenizer;
  options.text = args.text;
  options.model = args.model;
  options.families = args.families;
  if (args.repetitions > 0) options.repetitions = args.repetitions;
  if (args.dtype == "bfloat16") {
    options.dtype = DType::bf16;
  } else if (args.dtype == "float32") {
    options.dtype = DType::f32;
  } else if (!args.dtype.empty()) {
    throw Error(fmt::format("--dtype: '{}' is not known", args.dtype), "bfloat16 or float32");
  }
  options.print = [](std::string_view line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  };
  for (const std::string& name : args.names) {
    if (const int code = bench::run(name, options); code != 0) return code;
  }
  return 0;
}

}  // namespace hone::cli
