#include "core/task_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace hone {
namespace {

TEST(TaskQueue, RunsTasksInTheirOrderWithAndWithoutAThread) {
  for (const int num_threads : {0, 1}) {
    std::vector<int> done, expected(200);
    std::iota(expected.begin(), expected.end(), 0);
    TaskQueue queue("test", num_threads);
    for (int i = 0; i < 100; ++i) queue.add([&done, i] { done.push_back(i); });
    queue.wait();
    EXPECT_EQ(done.size(), 100u);
    for (int i = 100; i < 200; ++i) queue.add([&done, i] { done.push_back(i); });
    queue.wait();
    EXPECT_EQ(done, expected);
    queue.wait();  // nothing to wait for
  }
}

TEST(TaskQueue, RunsBesideTheCallerWithAThreadAndOnlyInWaitWithout) {
  std::atomic<bool> ran{false};
  TaskQueue alone("test", 0);
  alone.add([&] { ran = true; });
  EXPECT_FALSE(ran);
  alone.wait();
  EXPECT_TRUE(ran);
  EXPECT_EQ(alone.hidden_seconds(), 0);

  std::atomic<bool> beside{false};
  TaskQueue queue("test", 1);
  queue.add([&] { beside = true; });
  while (!beside) std::this_thread::yield();  // without a wait()
  queue.wait();
}

TEST(TaskQueue, TellsTheSecondsThatNobodyWaitedFor) {
  TaskQueue queue("test", 1);
  for (int attempt = 0; attempt < 100 && queue.hidden_seconds() == 0; ++attempt) {  // a busy machine may stop us
    std::atomic<bool> over{false};
    queue.add([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      over = true;
    });
    while (!over) std::this_thread::yield();
    queue.wait();
  }
  EXPECT_GT(queue.hidden_seconds(), 0);
}

TEST(TaskQueue, RaisesTheFirstFailureInWaitAndGoesOnAfterwards) {
  for (const int num_threads : {0, 1}) {
    TaskQueue queue("test", num_threads);
    queue.add([] { throw std::runtime_error("first"); });
    try {
      queue.wait();
      FAIL() << "nothing was raised";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "first");
    }
    int value = 0;
    queue.add([&] { value = 1; });
    queue.wait();
    EXPECT_EQ(value, 1);
  }
}

TEST(TaskQueue, SeveralThreadsWorkSideBySide) {
  constexpr int kThreads = 4;
  TaskQueue queue("test", kThreads);
  std::atomic<int> inside{0};
  std::vector<int> done(40);
  for (int i = 0; i < 40; ++i) {
    queue.add([&, i] {
      ++inside;
      while (inside < kThreads) std::this_thread::yield();  // until all are at work
      done[static_cast<size_t>(i)] = 1;
    });
  }
  queue.wait();
  EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), 40);
  queue.add([] { throw std::runtime_error("a failure"); });
  EXPECT_THROW(queue.wait(), std::runtime_error);
}

TEST(TaskQueue, EndsWithTasksLeft) {
  std::atomic<int> begun{0};
  {
    TaskQueue queue("test", 1);
    for (int i = 0; i < 1000; ++i) {
      queue.add([&] {
        ++begun;
        std::this_thread::yield();
      });
    }
  }
  EXPECT_LE(begun, 1000);
}

}  // namespace
}  // namespace hone
