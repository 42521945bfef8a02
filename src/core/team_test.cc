#include "core/team.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace hone {
namespace {

TEST(Team, RunsEachTaskOnceForAnyNumberOfThreads) {
  for (int threads : {1, 2, 4}) {
    Team team(threads);
    for (int round = 0; round < 300; ++round) {
      std::vector<int> count(37);
      team.run(37, [&](int64_t task) { ++count[static_cast<size_t>(task)]; });
      for (int n : count) ASSERT_EQ(n, 1);
    }
  }
}

TEST(Team, RaisesTheTasksExceptionHereAndGoesOn) {
  Team team(2);
  EXPECT_THROW(team.run(8,
                        [](int64_t task) {
                          if (task == 5) throw std::runtime_error("task 5");
                        }),
               std::runtime_error);
  std::atomic<int> count = 0;
  team.run(8, [&](int64_t) { ++count; });
  EXPECT_EQ(count, 8);
}

}  // namespace
}  // namespace hone
