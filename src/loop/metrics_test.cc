#include "loop/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/error.h"

namespace hone {
namespace {

TEST(Metrics, EveryNameIsDefinedOnceInOneLine) {
  std::set<std::string> seen;
  for (const MetricDefinition& definition : metric_definitions()) {
    EXPECT_FALSE(definition.definition.empty());
    EXPECT_EQ(definition.definition.find('\n'), std::string_view::npos);
    EXPECT_EQ(definition.definition.back(), '.') << definition.name;
    for (const std::string& name : names_of(definition)) EXPECT_TRUE(seen.insert(name).second) << name;
  }
  EXPECT_GT(seen.size(), 60u);
}

TEST(Metrics, BracesAndStarsStandForManyNames) {
  const auto definition_of = [](const char* name) {
    const auto found = find_metric(name);
    return found ? std::string(found->name) : "";
  };
  EXPECT_EQ(definition_of("critic/score/max"), "critic/score/{mean,max,min}");
  EXPECT_EQ(definition_of("critic/score/median"), "");
  EXPECT_EQ(definition_of("val-core/openai/gsm8k/reward/mean@1"), "val-core/*/mean@*");
  EXPECT_EQ(definition_of("val-core/s/acc/best@16/std"), "val-core/*/best@*");
  EXPECT_EQ(definition_of("val-aux/s/num_absent"), "val-aux/*/num_absent");
  EXPECT_EQ(definition_of("val-core/s/acc/worst@16/std"), "");
  Metrics metrics;
  EXPECT_THROW(metrics.set("actor/pg_los", 1), Bug);
  metrics.set("actor/pg_loss", std::nan(""));
  EXPECT_EQ(metrics.json().dump(), "{\"actor/pg_loss\": null}");
}

TEST(Metrics, OnlyClockFieldsMayDifferBetweenEqualRuns) {
  for (const char* name : {"timing_s/step", "timing_s/save_checkpoint", "timing_per_token_ms/gen", "perf/throughput",
                           "perf/time_per_step", "perf/cpu_memory_used_gb"}) {
    EXPECT_TRUE(is_clock_metric(name)) << name;
  }
  for (const char* name : {"perf/total_num_tokens", "actor/lr", "training/num_updates"}) {
    EXPECT_FALSE(is_clock_metric(name)) << name;
  }
}

}  // namespace
}  // namespace hone
