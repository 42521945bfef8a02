#include "core/team.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
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

// Keeps this thread, and the process it stands for, to the first processor that it may use.
void pin_to_one_core() {
  cpu_set_t allowed, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int first = 0;
  while (!CPU_ISSET(first, &allowed)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

// In processes of their own: the number of cores is asked once.
TEST(TeamDeathTest, ThreadsByDefaultAreTheCoresThatTheProcessMayUse) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        pin_to_one_core();
        const bool one = num_cores() == 1 && resolve_threads(0) == 1 && resolve_threads(3) == 3;
        std::_Exit(one ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        const int before = num_cores();
        pin_to_one_core();
        std::_Exit(num_cores() == before && resolve_threads(-1) == before ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "")
      << "a thread that is pinned later";
}

}  // namespace
}  // namespace hone
