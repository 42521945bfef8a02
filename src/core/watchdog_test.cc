#include "core/watchdog.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include "core/activity.h"
#include "core/team.h"

namespace hone {
namespace {

using namespace std::chrono_literals;

// Takes what a watchdog says and lets a test wait for it.
class Reports {
 public:
  void operator()(const std::string& text) {
    const std::lock_guard lock(mutex_);
    texts_.push_back(text);
    changed_.notify_all();
  }
  // The n-th report, or nothing when it does not come.
  std::string wait_for(size_t n) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 20s, [&] { return texts_.size() > n; });
    return texts_.size() > n ? texts_[n] : "";
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return texts_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void multiply_for_ever(Team& team, const std::function<void(int64_t)>& body) { team.run(2, body); }

TEST(Watchdog, TellsOnceWhatEachThreadAndWorkerWaitsForAndWhenItGoesOn) {
  Reports reports;
  Activity worker("scorer 0");
  worker.begin("answer to sample", 17);
  Activity::of_this_thread().rename("main loop");
  const Watchdog watchdog(0.1, [&](const std::string& text) { reports(text); });
  Team team(2);
  {
    const Doing step("step", 12);
    const Doing phase("gen");
    std::string first;
    multiply_for_ever(team, [&](int64_t task) {
      if (task == 0) first = reports.wait_for(0);  // stalls until the watchdog has spoken
    });
    EXPECT_TRUE(has(first, "no progress for 0.1")) << first;
    EXPECT_TRUE(has(first, "main loop")) << first;
    EXPECT_TRUE(has(first, "scorer 0")) << first;
    EXPECT_TRUE(has(first, "answer to sample 17")) << first;
    EXPECT_TRUE(has(first, "step 12 > gen > multiply_for_ever")) << first;
    EXPECT_TRUE(has(first, "team thread 1")) << first;
  }
  EXPECT_TRUE(has(reports.wait_for(1), "going on after")) << reports.wait_for(1);
  EXPECT_TRUE(has(reports.wait_for(2), "no progress")) << "the next stall is told again";
  worker.end();
  EXPECT_TRUE(has(reports.wait_for(3), "going on"));
}

TEST(Watchdog, IsQuietWhileAnyOfThemComesOn) {
  Reports reports;
  const Watchdog watchdog(1.0, [&](const std::string& text) { reports(text); });
  Activity worker("slow worker");
  worker.begin("one long answer");
  const auto end = std::chrono::steady_clock::now() + 1800ms;
  while (std::chrono::steady_clock::now() < end) {
    worker.beat();
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(reports.count(), 0u);
  worker.end();
}

TEST(Watchdog, OfZeroSecondsIsOff) {
  Reports reports;
  const Watchdog watchdog(0, [&](const std::string& text) { reports(text); });
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(reports.count(), 0u);
}

TEST(Activity, IsListedWhileItLivesWithWhatWasBegunLast) {
  const auto find = [](const std::string& name) {
    for (const Activity::State& state : Activity::all()) {
      if (state.name == name) return state.doing;
    }
    return std::string("gone");
  };
  {
    Activity activity("of the test");
    EXPECT_EQ(find("of the test"), "idle");
    activity.begin("a");
    for (int i = 0; i < 20; ++i) activity.begin("deeper", i);
    EXPECT_EQ(find("of the test").substr(0, 12), "a > deeper 0");
    for (int i = 0; i < 20; ++i) activity.end();
    EXPECT_EQ(find("of the test"), "a");
    activity.end();
    EXPECT_EQ(find("of the test"), "idle");
  }
  EXPECT_EQ(find("of the test"), "gone");
}

}  // namespace
}  // namespace hone
