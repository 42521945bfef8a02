#include "bench/bench.h"

#include <gtest/gtest.h>

#include "bench/line.h"
#include "bench/linear_bench.h"
#include "core/error.h"

namespace hone::bench {
namespace {

TEST(Bench, LineWithoutPeerHasNullRatio) {
  Line line;
  line.name = "linear_m1";
  line.seconds = 0.5;
  line.flops = 1e9;
  const std::string json = line.json();
  EXPECT_NE(json.find(R"("name": "linear_m1")"), std::string::npos);
  EXPECT_NE(json.find(R"("seconds": 0.5, "flops": 1e+09)"), std::string::npos);
  EXPECT_NE(json.find(R"("peer": null, "peer_seconds": null, "ratio": null)"), std::string::npos);
  EXPECT_EQ(json.find('\n'), std::string::npos);
  EXPECT_NE(line.text().find("no peer here"), std::string::npos);
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
