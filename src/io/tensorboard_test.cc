#include "io/tensorboard.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "io/atomic_file.h"
#include "io/file.h"

namespace hone::io {
namespace {

namespace fs = std::filesystem;
using Scalars = std::vector<std::pair<std::string, double>>;

class TensorBoard : public ::testing::Test {
 protected:
  TensorBoard() : folder_((fs::temp_directory_path() / ("hone-tb-" + std::to_string(::getpid()))).string()) {
    fs::remove_all(folder_);
  }
  ~TensorBoard() override { fs::remove_all(folder_); }
  // Every (step, value) of a tag in all files, in the order of their names.
  std::vector<std::pair<int64_t, float>> read(const std::string& tag) const {
    std::vector<std::string> paths;
    for (const auto& entry : fs::directory_iterator(folder_)) paths.push_back(entry.path().string());
    std::sort(paths.begin(), paths.end());
    std::vector<std::pair<int64_t, float>> values;
    for (const std::string& path : paths) {
      std::string rest;
      for (const TensorBoardEvent& event : read_tensorboard_events(read_file(path), &rest)) {
        for (const auto& [name, value] : event.scalars) {
          if (name == tag) values.emplace_back(event.step, value);
        }
      }
      EXPECT_EQ(rest, "") << path;
    }
    return values;
  }
  std::string folder_;
};

TEST(Crc32c, IsThatOfTheStandardsExamples) {
  // RFC 3720, appendix B.4
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending += static_cast<char>(i);
  EXPECT_EQ(crc32c(ascending), 0x46dd794eu);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  // masking as TensorFlow's test of it: mask(crc("foo")) differs from the crc, and is not masked twice by chance
  EXPECT_EQ(masked_crc32c("foo"), ((crc32c("foo") >> 15) | (crc32c("foo") << 17)) + 0xa282ead8u);
}

TEST(TensorBoardRecord, HasTheBytesOfTheFormat) {
  TensorBoardEvent event;
  event.wall_time = 1.0;
  event.step = 300;
  event.scalars = {{"a/b", 0.5f}};
  const std::string record = tensorboard_record(event);
  const std::string content(
      "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f"  // wall_time
      "\x10\xac\x02"                          // step
      "\x2a\x0c\x0a\x0a\x0a\x03"
      "a/b"
      "\x15\x00\x00\x00\x3f",
      26);
  ASSERT_EQ(record.size(), 12 + content.size() + 4);
  EXPECT_EQ(record.substr(12, content.size()), content);
  EXPECT_EQ(record.substr(0, 8), std::string("\x1a\0\0\0\0\0\0\0", 8));
}

TEST_F(TensorBoard, HoldsWhatWasWritten) {
  {
    TensorBoardFile file(folder_, "run1", std::nullopt);
    file.write(0, Scalars{{"val-core/x/reward/mean@1", 0.25}});
    file.write(1, Scalars{{"actor/pg_loss", -1.5}, {"actor/lr", 1e-6}, {"odd", std::nan("")}});
    EXPECT_EQ(read("actor/pg_loss"), (std::vector<std::pair<int64_t, float>>{{1, -1.5f}})) << "flushed with each step";
    file.write(int64_t{1} << 40, Scalars{{"actor/pg_loss", 3.0}});
  }
  EXPECT_EQ(read("actor/pg_loss"), (std::vector<std::pair<int64_t, float>>{{1, -1.5f}, {int64_t{1} << 40, 3.0f}}));
  EXPECT_EQ(read("actor/lr"), (std::vector<std::pair<int64_t, float>>{{1, 1e-6f}}));
  EXPECT_TRUE(std::isnan(read("odd").at(0).second));
}

TEST_F(TensorBoard, OnResumeStepsDoNotDoubleAndOtherRunsStayWhole) {
  TensorBoardFile other(folder_, "other", std::nullopt);
  other.write(9, Scalars{{"of/other", 1}});
  std::string first_path;
  {
    TensorBoardFile file(folder_, "mine", std::nullopt);
    first_path = file.path();
    for (int step = 1; step <= 5; ++step) file.write(step, Scalars{{"x", double(step)}});
  }
  const std::string whole = read_file(first_path);
  write_file(first_path, whole.substr(0, whole.size() - 3));  // killed while it wrote
  {
    TensorBoardFile file(folder_, "mine", 3);
    for (int step = 4; step <= 6; ++step) file.write(step, Scalars{{"x", double(10 * step)}});
  }
  EXPECT_EQ(read("x"), (std::vector<std::pair<int64_t, float>>{{1, 1}, {2, 2}, {3, 3}, {4, 40}, {5, 50}, {6, 60}}));
  EXPECT_EQ(read("of/other").size(), 1u);
  { const TensorBoardFile anew(folder_, "mine", std::nullopt); }
  EXPECT_TRUE(read("x").empty()) << "a run from the start leaves nothing of an earlier one";
  EXPECT_EQ(read("of/other").size(), 1u);
}

TEST(ReadTensorBoardEvents, EndsAtWhatIsBroken) {
  TensorBoardEvent event;
  event.step = 7;
  event.scalars = {{"x", 1.0f}};
  const std::string record = tensorboard_record(event), two = record + record;
  for (size_t size = 0; size < two.size(); ++size) {
    std::string rest;
    const auto events = read_tensorboard_events(std::string_view(two).substr(0, size), &rest);
    EXPECT_EQ(events.size(), size < record.size() ? 0u : 1u);
    EXPECT_EQ(rest.empty(), size == 0 || size == record.size()) << rest;
  }
  for (size_t place = 0; place < record.size(); ++place) {
    std::string broken = record;
    broken[place] = static_cast<char>(broken[place] ^ 0x10);
    std::string rest;
    EXPECT_TRUE(read_tensorboard_events(broken, &rest).empty()) << place;
    EXPECT_FALSE(rest.empty());
  }
  // a length that is right but beyond the file, and a content that is no message
  std::string rest;
  read_tensorboard_events(std::string(12, '\xff'), &rest);
  EXPECT_NE(rest.find("byte 0"), std::string::npos) << rest;
}

}  // namespace
}  // namespace hone::io
