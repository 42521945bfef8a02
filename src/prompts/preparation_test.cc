// Rows of each published form, and what verl's preparation scripts make of them.
#include "prompts/preparation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/jsonl.h"
#include "prompts/chat_rows.h"
#include "prompts/verl_row.h"

namespace hone {
namespace {

using io::Json;

class Preparations : public ::testing::Test {
 protected:
  Preparations() {
    std::string name = (std::filesystem::temp_directory_path() / "hone_preparation_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Preparations() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    io::make_folders(std::filesystem::path(folder_ + "/" + name).parent_path().string());
    io::write_file(folder_ + "/" + name, text);
    return folder_ + "/" + name;
  }
  std::vector<Json> rows_of(const std::string& file) {
    io::Faults faults;
    std::vector<Json> rows;
    for (io::JsonRow& row : io::read_jsonl(folder_ + "/out/" + file, faults)) rows.push_back(std::move(row.value));
    faults.raise_if_any("prepared rows");
    return rows;
  }
  std::vector<PreparedFile> prepare(const std::string& name, const std::vector<std::string>& inputs) {
    return prepare_data(name, inputs, folder_ + "/out");
  }
  std::string error_of(const std::string& name, const std::vector<std::string>& inputs) {
    try {
      prepare(name, inputs);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  std::string folder_;
};

// The fields of a prepared row, whatever their order.
void expect_row(const Json& row, const std::string& expected_text) {
  const Json expected = io::parse_json(expected_text, "expected");
  EXPECT_EQ(row.as_object().size(), expected.as_object().size()) << row.dump();
  for (const auto& [key, value] : expected.as_object()) {
    ASSERT_NE(row.find(key), nullptr) << key;
    EXPECT_EQ(row.at(key).dump(), value.dump()) << key;
  }
}

TEST_F(Preparations, Gsm8k) {
  // The first row of openai/gsm8k (MIT), and one of our own with commas and a minus.
  const std::string question =
      "Natalia sold clips to 48 of her friends in April, and then she sold half as many clips in May. How many clips "
      "did Natalia sell altogether in April and May?";
  const std::string answer =
      "Natalia sold 48/2 = <<48/2=24>>24 clips in May.\nNatalia sold 48+24 = <<48+24=72>>72 clips altogether in April "
      "and May.\n#### 72";
  const std::string train =
      write("train.jsonl",
            Json::object({{"question", question}, {"answer", answer}}).dump() + "\n" +
                R"({"question": "Q", "answer": "so ####5 and #### - no\n#### -1,234.5 dollars\n#### 6"})" + "\n");
  const std::string test = write("test.jsonl", R"({"question": "T", "answer": "#### 18"})");
  const auto files = prepare("gsm8k", {train, test});
  ASSERT_EQ(files.size(), 2u);
  const std::vector<Json> rows = rows_of("train.jsonl");
  ASSERT_EQ(rows.size(), 2u);
  const Json extra = Json::object({{"split", "train"}, {"index", 0}, {"answer", answer}, {"question", question}});
  const Json prompt = user_message(question + " Let's think step by step and output the final answer after \"####\".");
  expect_row(rows[0], verl_row("openai/gsm8k", prompt, "math", "rule", "72", extra).dump());
  EXPECT_EQ(rows[1].at("reward_model").at("ground_truth").as_string(), "-1234.5");
  EXPECT_EQ(rows[1].at("extra_info").at("index").as_int(), 1);
  expect_row(
      rows_of("test.jsonl")[0],
      R"({"data_source": "openai/gsm8k", "prompt": [{"role": "user", "content": "T Let's think step by step and output the final answer after \"####\"."}], "ability": "math", "reward_model": {"style": "rule", "ground_truth": "18"}, "extra_info": {"split": "test", "index": 0, "answer": "#### 18", "question": "T"}})");
}

TEST_F(Preparations, Math) {
  const std::string file = write(
      "data/train-00000-of-00001.jsonl",
      R"({"problem": "Find $x$.", "level": "Level 5", "type": "Algebra", "solution": "First $\\boxed{7}$ is wrong, so $x = \\boxed{\\frac{1}{2}}$."})"
      "\n"
      R"({"problem": "P", "level": "Level 1", "type": "Geometry", "solution": "It is $\\boxed 5$, of course."})"
      "\n");
  prepare("math", {folder_});
  const std::vector<Json> rows = rows_of("train.jsonl");
  ASSERT_EQ(rows.size(), 2u);
  expect_row(
      rows[0],
      R"({"data_source": "DigitalLearningGmbH/MATH-lighteval", "prompt": [{"role": "user", "content": "Find $x$. Let's think step by step and output the final answer within \\boxed{}."}], "ability": "math", "reward_model": {"style": "rule", "ground_truth": "\\frac{1}{2}"}, "extra_info": {"split": "train", "index": 0}, "level": "Level 5", "type": "Algebra"})");
  EXPECT_EQ(rows[1].at("reward_model").at("ground_truth").as_string(), "5");
}

TEST_F(Preparations, DeepscalerIsAListInOneFile) {
  prepare("deepscaler", {write("deepscaler.json",
                               R"([{"problem": "P?", "answer": "-\\frac{2}{3}", "solution": "long"},
                                   {"problem": "N?", "answer": 12}])")});
  const std::vector<Json> rows = rows_of("train.jsonl");
  ASSERT_EQ(rows.size(), 2u);
  expect_row(
      rows[0],
      R"({"data_source": "agentica-org/DeepScaleR-Preview-Dataset", "prompt": [{"role": "user", "content": "P? Let's think step by step and output the final answer within \\boxed{}."}], "ability": "math", "reward_model": {"style": "rule", "ground_truth": "-\\frac{2}{3}"}, "extra_info": {"split": "train", "index": 0, "answer": "-\\frac{2}{3}", "question": "P?"}})");
  EXPECT_EQ(rows[1].at("reward_model").at("ground_truth").as_string(), "12");
}

const char* const kDapoRow =
    R"({"data_source": "math_dapo", "prompt": [{"content": "Solve the following math problem step by step. P", "role": "user"}], "ability": "MATH", "reward_model": {"ground_truth": "34", "style": "rule-lighteval/MATH_v2"}, "extra_info": {"index": "9a9b6eb4-a1cb-49d1-8c1e-62eaf2f74079"}})";

TEST_F(Preparations, DapoRowsAreKeptAsTheyAreEachPromptOnce) {
  std::string other = kDapoRow;
  other.replace(other.find(". P"), 3, ". R");
  const auto files =
      prepare("dapo-math-17k", {write("dapo-math-17k.jsonl", std::string(kDapoRow) + "\n" + other + "\n" + kDapoRow +
                                                                 "\n" + other + "\n" + kDapoRow + "\n")});
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].num_rows, 2);
  EXPECT_EQ(files[0].num_repeated, 3);
  const std::vector<Json> rows = rows_of("train.jsonl");
  ASSERT_EQ(rows.size(), 2u);
  expect_row(rows[0], kDapoRow);
  expect_row(rows[1], other);
}

TEST_F(Preparations, AimeRowsOfSeveralForms) {
  std::string prepared = kDapoRow;
  prepared.replace(prepared.find("math_dapo"), 9, "aime");
  prepare("aime", {write("aime.jsonl", R"({"id": 60, "problem": "P", "solution": "S", "answer": "025", "year": "2024"})"
                                       "\n"
                                       R"({"ID": "2024-I-1", "Problem": "Q", "Answer": 204})"
                                       "\n"
                                       R"({"problem": "Z", "answer": "000"})"
                                       "\n" +
                                           prepared + "\n" + prepared + "\n")});
  const std::vector<Json> rows = rows_of("test.jsonl");
  ASSERT_EQ(rows.size(), 4u);
  expect_row(
      rows[0],
      R"({"data_source": "aime", "prompt": [{"role": "user", "content": "Solve the following math problem step by step. The last line of your response should be of the form Answer: $Answer (without quotes) where $Answer is the answer to the problem.\n\nP\n\nRemember to put your answer on its own line after \"Answer:\"."}], "ability": "MATH", "reward_model": {"style": "rule-lighteval/MATH_v2", "ground_truth": "25"}, "extra_info": {"split": "test", "index": 0, "raw_problem": "P"}})");
  EXPECT_EQ(rows[1].at("reward_model").at("ground_truth").as_string(), "204");
  EXPECT_EQ(rows[2].at("reward_model").at("ground_truth").as_string(), "0");
  expect_row(rows[3], prepared);
}

TEST_F(Preparations, EveryFaultIsToldAndNothingIsWrittenThen) {
  const std::string file = write("train.jsonl", R"({"question": "Q", "answer": "#### 1"})"
                                                "\n"
                                                R"({"question": "Q", "answer": "no number"})"
                                                "\n"
                                                R"({"question": 7, "answer": "#### 1"})"
                                                "\n"
                                                R"({"question": "Q"})"
                                                "\n{\n");
  const std::string said = error_of("gsm8k", {file});
  for (const char* part : {"train.jsonl:2: answer: expected a number behind", "train.jsonl:3: question: expected text",
                           "train.jsonl:4: answer is missing", "train.jsonl:5"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << " in\n" << said;
  }
  EXPECT_FALSE(io::exists(folder_ + "/out/train.jsonl"));
  EXPECT_NE(error_of("math", {write("m.jsonl", R"({"problem": "P", "solution": "\\boxed{1"})")}).find("does not close"),
            std::string::npos);
  EXPECT_NE(error_of("dapo-math-17k", {write("d.jsonl", R"({"problem": "P"})")}).find("data_source is missing"),
            std::string::npos);
  EXPECT_EQ(error_of("gsm9k", {file}), "no preparation for 'gsm9k'");
  EXPECT_NE(error_of("gsm8k", {folder_ + "/out"}).find("no .jsonl, .json or .parquet file"), std::string::npos);
  EXPECT_NE(error_of("gsm8k", {folder_ + "/none.jsonl"}).find("none.jsonl"), std::string::npos);
}

}  // namespace
}  // namespace hone
