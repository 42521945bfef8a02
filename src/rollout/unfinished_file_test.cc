#include "rollout/unfinished_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <vector>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"

namespace hone {
namespace {

std::vector<Prompt> prompts() {
  std::vector<Prompt> rows(3);
  rows[0].ids = {4, 5};
  rows[1].ids = {6};
  rows[2].ids = {7, 8, 9};
  return rows;
}

class UnfinishedFile : public testing::Test {
 protected:
  UnfinishedFile()
      : path_((std::filesystem::temp_directory_path() / fmt::format("unfinished-{}", ::getpid())).string()) {}
  ~UnfinishedFile() override { std::filesystem::remove(path_); }

  std::string fault(const std::string& text) {
    io::write_file(path_, text);
    try {
      read_unfinished(path_, prompts_);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(path_), std::string::npos) << error.what();
      return error.what();
    }
    return "read";
  }

  const std::vector<Prompt> prompts_ = prompts();
  std::string path_;
};

TEST_F(UnfinishedFile, GivesBackEveryBit) {
  const float least = -1.17549435e-38f, third = -1.0f / 3;
  const std::vector<UnfinishedGroup> groups{
      {{&prompts_[2], 7}, 0.7f, {{{1, 2}, {third, -0.0f}, {3, 4}, {}}, {{}, {}, {}, {}}}},
      {{&prompts_[0], UINT64_MAX}, 1.0f, {{{9}, {least}, {0}, FinishReason::end}, {{9}, {-80.5f}, {0}, {}}}}};
  write_unfinished(path_, groups, prompts_);
  const std::vector<UnfinishedGroup> read = read_unfinished(path_, prompts_);
  ASSERT_EQ(read.size(), 2u);
  for (size_t g = 0; g < 2; ++g) {
    EXPECT_EQ(read[g].drawn.prompt, groups[g].drawn.prompt);
    EXPECT_EQ(read[g].drawn.draw, groups[g].drawn.draw);
    EXPECT_EQ(read[g].temperature, groups[g].temperature);
    ASSERT_EQ(read[g].samples, groups[g].samples);
    for (size_t k = 0; k < 2; ++k) {
      const auto &a = read[g].samples[k].logprobs, &b = groups[g].samples[k].logprobs;
      EXPECT_TRUE(a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
    }
  }
  write_unfinished(path_, {}, prompts_);
  EXPECT_TRUE(read_unfinished(path_, prompts_).empty());
}

TEST_F(UnfinishedFile, RefusesWhatItWouldNotHaveWritten) {
  const std::string sample = R"({"finish":null,"response_ids":[1],"logprobs":[-0.5],"versions":[0]})";
  const auto group = [](const std::string& draw, const std::string& row, const std::string& ids,
                        const std::string& samples) {
    return R"({"draw":)" + draw + R"(,"row":)" + row + R"(,"prompt_ids":)" + ids + R"(,"temperature":1.0,"samples":[)" +
           samples + "]}";
  };
  const auto file = [](const std::string& groups) { return R"({"format":1,"groups":[)" + groups + "]}"; };
  const std::string sound = file(group("3", "1", "[6]", sample));
  EXPECT_EQ(fault(sound), "read");
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const std::vector<std::pair<std::string, std::string>> faults{
      {sound.substr(0, sound.size() / 2), ":1:"},
      {with(sound, "\"format\":1", "\"format\":2"), "format: expected 1, found 2"},
      {with(sound, "\"format\":1,", ""), "expected a key format"},
      {with(sound, "\"format\":1", "\"format\":1,\"more\":0"), "the key more is unknown"},
      {with(sound, "\"finish\":null", "\"finish\":null,\"finis\":null"), "the key finis is unknown"},
      {with(sound, "\"finish\":null", "\"finish\":\"ended\""), "found ended"},
      {with(sound, "\"draw\":3", "\"draw\":-3"), "groups[0].draw"},
      {with(sound, "\"row\":1", "\"row\":3"), "found row 3, the data has 3"},
      {with(sound, "[6]", "[7]"), "row 1 of the data is another prompt"},
      {with(sound, "[1]", "[1.5]"), "expected an integer, found number 1.5"},
      {with(sound, "[1]", "[-1]"), "response_ids[0]: found -1"},
      {with(sound, "[1]", "[1,2]"), "for each of 2 ids, found 1 and 1"},
      {with(sound, "[-0.5]", "[0.5]"), "expected at most 0, found 0.5"},
      {with(sound, "[-0.5]", "[-1e60]"), "expected at most 0, found -inf"},
      {with(sound, "1.0", "-1.0"), "temperature: found -1"},
      {file(group("3", "1", "[6]", "")), "samples: expected at least one"},
      {file(group("3", "1", "[6]", sample) + "," + group("3", "1", "[6]", sample)), "found 3 after 3"},
  };
  for (const auto& [text, expected] : faults) {
    const std::string found = fault(text);
    EXPECT_NE(found.find(expected), std::string::npos) << text << "\n" << found;
  }
}

}  // namespace
}  // namespace hone
