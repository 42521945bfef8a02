// A row and a file of its own for a test of PythonScorer. Where there is no Python the message has to say so.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/json.h"
#include "reward/python_scorer.h"
#include "workers/python_test_cases.h"

namespace hone {

class PythonScorerTest : public ::testing::Test {
 protected:
  PythonScorerTest() {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("hone_reward_{}", ::getpid());
    std::filesystem::create_directories(folder_);
    prompt_.data_source = "mine";
    prompt_.ground_truth = "7";
    prompt_.text = "3+4=";
    prompt_.file = "rows.jsonl";
    prompt_.line = 12;
    prompt_.row =
        R"({"data_source":"mine","prompt":"3+4=","reward_model":{"ground_truth":"7"},"extra_info":{"index":5}})";
  }
  ~PythonScorerTest() override { std::filesystem::remove_all(folder_); }

  void SetUp() override {
    if (test::has_python()) return;
    const std::string said = error_of("def compute_score(solution_str): return 1");
    EXPECT_NE(said.find("cannot start 'python3'"), std::string::npos) << said;
    GTEST_SKIP() << test::kNoPython;
  }

  std::string path() const { return folder_ / "reward.py"; }
  PythonScorerOptions options(const std::string& source, const std::string& name = "compute_score") const {
    io::write_file(path(), source);
    PythonScorerOptions options;
    options.path = path();
    options.name = name;
    options.seconds = 20;
    return options;
  }
  std::string error_of(const std::string& source, io::Json kwargs = io::Json::object(),
                       const std::string& name = "compute_score") const {
    try {
      PythonScorerOptions with = options(source, name);
      with.kwargs = std::move(kwargs);
      PythonScorer scorer(with);
      if (const auto fault = scorer.find_fault(prompt_)) return *fault;
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  std::vector<Score> scores(PythonScorer& scorer, const std::vector<std::string>& texts) const {
    std::vector<Answer> answers;
    for (const std::string& text : texts) {
      answers.push_back({prompt_.data_source, text, prompt_.ground_truth});
      answers.back().sample = static_cast<uint32_t>(answers.size() - 1);
    }
    return scorer.score(prompt_, 3, answers);
  }
  // "1 0.5 -(why)" for the answers "0", "1", ... of a group.
  std::string said(PythonScorer& scorer, int n) const {
    std::vector<std::string> texts;
    for (int i = 0; i < n; ++i) texts.push_back(std::to_string(i));
    std::string all;
    for (const Score& score : scores(scorer, texts)) {
      if (!all.empty()) all += ' ';
      all += score.value ? fmt::format("{}", *score.value) : "-(" + score.reason + ")";
      for (const ScoreExtra& extra : score.extras) {
        const auto* number = std::get_if<double>(&extra.value);
        all += "," + extra.name + "=" + (number ? fmt::format("{}", *number) : std::get<std::string>(extra.value));
      }
    }
    return all;
  }
  std::string said(const std::string& source, int n) const {
    PythonScorer scorer(options(source));
    return said(scorer, n);
  }

  std::filesystem::path folder_;
  Prompt prompt_;
};

}  // namespace hone
