// hone data make and hone data prepare as a user runs them.
#include "support/command.h"

#include <gtest/gtest.h>

#include "io/jsonl.h"
#include "support/tiny_model.h"

namespace hone::test {
namespace {

using Arguments = std::vector<std::string>;

class DataCommand : public ::testing::Test {
 protected:
  Result hone(Arguments arguments) const {
    arguments.insert(arguments.begin(), "data");
    return run_hone(folder_.path(), arguments);
  }
  std::vector<io::Json> rows_of(const std::string& name) const {
    io::Faults faults;
    std::vector<io::Json> rows;
    for (io::JsonRow& row : io::read_jsonl(folder_ / name, faults)) rows.push_back(std::move(row.value));
    EXPECT_TRUE(faults.empty());
    return rows;
  }
  std::string write(const std::string& name, const std::string& text) const {
    io::write_file(folder_ / name, text);
    return folder_ / name;
  }
  // With each of these words on the error output, and without a folder of the output.
  void expect_refused(const Arguments& arguments, const std::vector<std::string>& words) const {
    const Result result = hone(arguments);
    EXPECT_EQ(result.code, 2) << result.out;
    for (const std::string& word : words) {
      EXPECT_NE(result.err.find(word), std::string::npos) << word << " in\n" << result.err;
    }
    EXPECT_FALSE(io::exists(folder_ / "refused")) << "something was written";
  }
  TemporaryFolder folder_{"data_command"};
};

TEST_F(DataCommand, MakeWritesTheRowsThatAreAskedForAndReplacesThoseThatAreThere) {
  const auto make = [&](const std::string& seed) {
    const Result result = hone({"make", "sorting", "--out", folder_ / "made", "--train", "6", "--held-out", "3",
                                "--sft", "2", "--difficulty", "2-3", "--seed", seed});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, (folder_ / "made") +
                              ": train.jsonl 6 prompts, val.jsonl 3 held-out prompts, sft.jsonl 2 worked examples\n");
    return io::read_file(folder_ / "made/train.jsonl");
  };
  const std::string first = make("7");
  const std::vector<io::Json> train = rows_of("made/train.jsonl"), val = rows_of("made/val.jsonl");
  ASSERT_EQ(train.size(), 6u);
  ASSERT_EQ(val.size(), 3u);
  EXPECT_EQ(rows_of("made/sft.jsonl").size(), 2u);
  for (const io::Json& row : train) {
    EXPECT_EQ(row.at("data_source").as_string(), "hone/sorting");
    EXPECT_EQ(row.at("prompt").as_array().front().at("role").as_string(), "user");
    EXPECT_EQ(row.at("extra_info").at("split").as_string(), "train");
    const int64_t difficulty = row.at("extra_info").at("difficulty").as_int();
    EXPECT_TRUE(difficulty == 2 || difficulty == 3) << difficulty;
  }
  EXPECT_EQ(val.front().at("extra_info").at("split").as_string(), "val");
  EXPECT_NE(make("8"), first);
  EXPECT_EQ(make("7"), first);
}

TEST_F(DataCommand, MakeArithmeticWritesItsTokenizerToo) {
  const Result result = hone({"make", "arithmetic", "--out", folder_ / "sums", "--digits", "2", "--train", "4",
                              "--held-out", "2", "--sft", "2"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(io::exists(folder_ / "sums/tokenizer.json"));
  EXPECT_EQ(rows_of("sums/train.jsonl").front().at("prompt").as_string().size(), 6u) << "as in 12+34=";
}

TEST_F(DataCommand, MakeRefusesByNameAndWritesNothing) {
  const auto make = [&](const std::string& task, const Arguments& more) {
    Arguments all{"make", task, "--out", folder_ / "refused"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  expect_refused(make("sums", {}), {"'sums' is no task", "countdown, sorting or word_problems"});
  expect_refused(make("sorting", {"--digits", "2"}), {"--digits: expected for arithmetic alone"});
  expect_refused(make("arithmetic", {"--digits", "2", "--difficulty", "2"}), {"--digits", "--difficulty"});
  expect_refused(make("arithmetic", {"--difficulty", "1-2"}), {"arithmetic: one difficulty"});
  expect_refused(make("sorting", {"--difficulty", "5"}), {"sorting: difficulty 5", "it goes from 1 to 4"});
  expect_refused(make("sorting", {"--difficulty", "hard"}), {"difficulty 'hard': expected a number or a range"});
  expect_refused(make("sorting", {"--held-out", "20000000"}), {"--held-out: expected 0 to 10000000, found 20000000"});
  expect_refused(make("sorting", {"--difficult", "2"}), {"--difficult"});
  expect_refused({"make", "sorting"}, {"--out"});
  expect_refused({}, {"subcommand"});
}

TEST_F(DataCommand, PrepareWritesBothHalvesAndReplacesThoseThatAreThere) {
  const std::string train = write("train.jsonl", R"({"question": "Q", "answer": "so\n#### 1,234"})"
                                                 "\n"
                                                 R"({"question": "R", "answer": "#### 5"})"
                                                 "\n");
  const std::string test = write("test.jsonl", R"({"question": "T", "answer": "#### 18"})");
  const Arguments prepare{"prepare", "gsm8k", "--input", train, test, "--output", folder_ / "out"};
  const Result result = hone(prepare);
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char* told : {"out/test.jsonl: 1 rows\n", "out/train.jsonl: 2 rows\n"}) {
    EXPECT_NE(result.out.find(told), std::string::npos) << told << " in\n" << result.out;
  }
  const std::vector<io::Json> rows = rows_of("out/train.jsonl");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("data_source").as_string(), "openai/gsm8k");
  EXPECT_EQ(rows[0].at("reward_model").at("ground_truth").as_string(), "1234");
  EXPECT_EQ(rows_of("out/test.jsonl").size(), 1u);
  write("train.jsonl", R"({"question": "New", "answer": "#### 6"})");
  EXPECT_EQ(hone(prepare).code, 0);
  ASSERT_EQ(rows_of("out/train.jsonl").size(), 1u);
  EXPECT_EQ(rows_of("out/train.jsonl")[0].at("reward_model").at("ground_truth").as_string(), "6");
}

TEST_F(DataCommand, PrepareRefusesByNameAndLeavesWhatIsThere) {
  const std::string good = write("good.jsonl", R"({"question": "Q", "answer": "#### 5"})");
  const std::string bad = write("bad.jsonl", R"({"question": "Q", "answer": "five"})");
  const std::string out = folder_ / "out";
  ASSERT_EQ(hone({"prepare", "gsm8k", "--input", good, "--output", out}).code, 0);
  const std::string before = io::read_file(folder_ / "out/train.jsonl");
  expect_refused({"prepare", "gsm8k", "--input", bad, "--output", out},
                 {"bad.jsonl:1: answer: expected a number behind \"#### \""});
  EXPECT_EQ(io::read_file(folder_ / "out/train.jsonl"), before);
  const std::string published = write("train.jsonl", R"({"question": "Q", "answer": "#### 5"})");
  expect_refused({"prepare", "gsm8k", "--input", published, "--output", folder_.path()},
                 {"train.jsonl would be written over, and is read"});
  expect_refused({"prepare", "gsm9k", "--input", good, "--output", folder_ / "refused"},
                 {"no preparation for 'gsm9k'"});
  expect_refused({"prepare", "gsm8k", "--input", good}, {"--output"});
  expect_refused({"prepare", "gsm8k", "--output", folder_ / "refused"}, {"--input"});
}

}  // namespace
}  // namespace hone::test
