#include "loop/early_stopping.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "io/atomic_file.h"

namespace hone {
namespace {

TEST(EarlyStopping, IsOverAfterSoManyValidationsThatDoNotFallByMoreThanTheThreshold) {
  EarlyStopping stopping(2, 0.1);
  EXPECT_TRUE(stopping.observe(3.0, 10));
  EXPECT_FALSE(stopping.observe(2.95, 20)) << "not by enough";
  EXPECT_FALSE(stopping.is_over());
  EXPECT_TRUE(stopping.observe(2.0, 30));
  EXPECT_FALSE(stopping.observe(std::nan(""), 40));
  EXPECT_FALSE(stopping.is_over()) << "only those in a row count";
  EXPECT_FALSE(stopping.observe(1.9, 50));
  EXPECT_TRUE(stopping.is_over());
  EXPECT_EQ(stopping.best_loss(), 2.0);
  EXPECT_EQ(stopping.best_step(), 30);
}

TEST(EarlyStopping, GoesOnFromItsFileAndBeginsAnewWithoutOne) {
  const auto folder = std::filesystem::temp_directory_path() / ("hone-stopping-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  EarlyStopping none(1, 0);
  none.restore(folder.string());
  EXPECT_FALSE(none.is_over());
  none.save(folder.string());
  EarlyStopping first(2, 0);
  first.restore(folder.string());
  EXPECT_TRUE(std::isinf(first.best_loss()));
  first.observe(1.0 / 3, 7);
  first.observe(0.5, 8);
  first.save(folder.string());
  EarlyStopping second(2, 0);
  second.restore(folder.string());
  EXPECT_EQ(second.best_loss(), 1.0 / 3) << "to the bit";
  EXPECT_EQ(second.best_step(), 7);
  EXPECT_FALSE(second.is_over());
  second.observe(0.5, 9);
  EXPECT_TRUE(second.is_over());
  io::write_file((folder / "early_stopping.json").string(), R"({"best_loss": 1, "best_step": 2, "num_worse": -1})");
  EXPECT_THROW(second.restore(folder.string()), Error);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hone
