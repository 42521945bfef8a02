#include "loop/checks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "io/atomic_file.h"
#include "io/file.h"
#include "io/system_calls.h"
#include "loop/checkpoint.h"

namespace hone {
namespace {

class RunSpaceTest : public ::testing::Test {
 protected:
  RunSpaceTest()
      : folder_((std::filesystem::temp_directory_path() / fmt::format("hone-space-{}", ::getpid())).string()) {}
  ~RunSpaceTest() override { io::remove_tree(folder_); }
  void put_checkpoint(int64_t step) const {
    const std::string state = checkpoint_path(folder_ + "/checkpoints", step) + "/training_state";
    io::make_folders(state);
    io::write_file(state + "/complete", "");
  }
  std::string folder_;
};

TEST_F(RunSpaceTest, CountsTheCheckpointsThatLieThereAtOnce) {
  struct Case {
    int64_t total_steps, save_freq, keep, expected;
  };
  const auto check = [&](int64_t first_step, const std::vector<Case>& cases) {
    for (const Case& c : cases) {
      EXPECT_EQ(most_new_checkpoints({folder_, 1, c.total_steps, c.save_freq, c.keep, first_step}), c.expected)
          << c.total_steps << " " << c.save_freq << " " << c.keep << " from " << first_step;
    }
  };
  check(0, {{10, -1, 0, 1}, {10, 1, 0, 10}, {10, 3, 0, 4}, {9, 3, 0, 3}, {10, 1, 2, 3}, {10, 5, 3, 2}, {1, 1, 1, 1}});
  put_checkpoint(2);
  put_checkpoint(4);
  check(4, {{10, 1, 0, 6}, {10, 1, 2, 1}, {10, 1, 1, 1}, {10, 1, 3, 2}, {4, 1, 0, 0}, {10, 4, 0, 2}, {3, 1, 0, 0}});
  // the later one is set aside
  check(2, {{10, 1, 0, 8}, {10, 1, 2, 2}, {10, 1, 1, 1}, {4, 1, 0, 2}});
}

TEST_F(RunSpaceTest, RefusesWithTheNumbers) {
  const RunSpace small{folder_ + "/a/b", 1000, 10, 1, 2};
  EXPECT_NO_THROW(check_run_space(small));
  EXPECT_FALSE(io::exists(folder_)) << "a check leaves nothing behind";
  RunSpace large = small;
  large.num_parameters = int64_t{1} << 50;
  try {
    check_run_space(large);
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("expected 37748736.003 GiB of free disk for 3 checkpoints of 12582912.001 GiB, found "),
              std::string::npos)
        << what;
    EXPECT_EQ(error.exit_code(), 2);
  }
  io::make_folders(folder_);
  io::write_file(folder_ + "/file", "");
  EXPECT_THROW(check_run_space({folder_ + "/file/run", 1, 1, -1, 0}), Error);
}

TEST(Checks, OneFaultDoesNotHideTheNext) {
  Checks checks;
  EXPECT_TRUE(checks.run([] {}));
  EXPECT_FALSE(checks.run([] { throw Error("a: first", "hint"); }));
  EXPECT_FALSE(checks.run([&] { checks.faults().add("b: second"); }));
  EXPECT_FALSE(checks.run([] {
    io::Faults list;
    list.add("c: third");
    list.add("c: fourth");
    list.raise_if_any("c");
  }));
  EXPECT_EQ(checks.faults().list(),
            (std::vector<std::string>{"a: first (hint)", "b: second", "c: third", "c: fourth"}));
  EXPECT_THROW(checks.finish(), Error);
}

}  // namespace
}  // namespace hone
