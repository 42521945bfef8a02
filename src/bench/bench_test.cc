#include "bench/bench.h"

#include <gtest/gtest.h>

#include "bench/bench_model.h"
#include "bench/line.h"
#include "bench/linear_bench.h"
#include "core/error.h"
#include "io/json.h"

namespace hone::bench {
namespace {

TEST(Bench, LineWithoutPeerHasNullRatio) {
  Line line;
  line.name = "linear_m1";
  line.seconds = 0.5;
  line.flops = 1e9;
  EXPECT_EQ(line.json().find('\n'), std::string::npos);
  const io::Json json = io::parse_json(line.json(), "line");
  EXPECT_EQ(json.at("name").as_string(), "linear_m1");
  EXPECT_EQ(json.at("seconds").as_double(), 0.5);
  EXPECT_EQ(json.at("flops").as_double(), 1e9);
  for (const char* key : {"peer", "peer_seconds", "ratio"}) EXPECT_TRUE(json.at(key).is_null()) << key;
  EXPECT_NE(line.text().find("no peer here"), std::string::npos);
}

TEST(Bench, CountsWhatTheMathematicsNeeds) {
  const ModelConfig config = bench_model();
  const int64_t embedding = config.vocab_size * config.hidden_size;
  const int64_t norms = config.num_layers * 2 * config.hidden_size + config.hidden_size;
  const auto weights = static_cast<double>(config.num_parameters() - norms);
  double flops = 0, bytes = 0;
  for (const Operation& operation : forward_operations(config, {1, 1, 256, 1})) {
    flops += operation.flops;
    bytes += operation.bytes;
  }
  EXPECT_EQ(flops, 2 * weights + 30.0 * 4 * 256 * 9 * 64);  // scores and sums over 256 keys
  EXPECT_EQ(bytes, 2 * (weights + 30.0 * 2 * 256 * 3 * 64));
  // A causal prompt sees half of its square, its diagonal included; the head reads one row.
  flops = 0;
  for (const Operation& operation : forward_operations(config, {1, 512, 512, 1})) flops += operation.flops;
  const double layers = weights - static_cast<double>(embedding);
  EXPECT_EQ(flops, 512 * 2 * layers + 2.0 * static_cast<double>(embedding) + 30.0 * 4 * (512 * 513 / 2) * 9 * 64);
}

TEST(Bench, TokenizeReportsBothWaysAndTheLoading) {
  std::string line;
  Options options;
  options.json = true;
  options.repetitions = 1;
  options.print = [&](std::string_view text) { line = text; };
  EXPECT_EQ(run("tokenize", options), 0);
  const io::Json json = io::parse_json(line, "line");
  EXPECT_EQ(json.at("name").as_string(), "tokenize");
  EXPECT_EQ(json.at("threads").as_int(), 1);
  EXPECT_GE(json.at("text_bytes").as_int(), 4'000'000);
  for (const char* key : {"load_seconds", "encode_mb_per_s", "encode_mb_per_cpu_s", "decode_mb_per_s"}) {
    EXPECT_GT(json.at(key).as_double(), 0) << key;
  }
}

TEST(Bench, UnknownNameIsAUserError) { EXPECT_THROW(run("gem", {}), Error); }

TEST(Bench, MeasuresEveryDirectionAndAgreesWithThePeerWhereThereIsOne) {
  kernels::Context ctx(2);
  const Peer peer(2);
  for (HonePeerKind kind : {kHonePeerForward, kHonePeerDx, kHonePeerDw}) {
    LinearBench bench(ctx, peer, DType::f32, {kind, 9, 50, 35}, 2);
    EXPECT_GT(bench.measure(3, 2).ours, 0);
  }
}

}  // namespace
}  // namespace hone::bench
