#include "reward/scorer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "reward/expression.h"
#include "reward/gsm8k.h"

namespace hone {
namespace {

TEST(Arithmetic, OnlyTheResultAndTheEndCount) {
  struct Row {
    const char *text, *truth;
    FinishReason finish;
    float value;
  };
  const Row table[] = {
      {"360902507014050=0579", "0579", FinishReason::end, 1},
      {"nonsense=0579", "0579", FinishReason::end, 1},
      {"1=2=0579", "0579", FinishReason::end, 1},
      {"360902507014050=0579", "0579", FinishReason::length, 0},
      {"360902507014050=0579", "0579", FinishReason::stop, 0},
      {"360902507014050=579", "0579", FinishReason::end, 0},
      {"360902507014050=05790", "0579", FinishReason::end, 0},
      {"0579", "0579", FinishReason::end, 0},
      {"0579=", "0579", FinishReason::end, 0},
      {"", "0579", FinishReason::end, 0},
  };
  for (const Row& row : table) {
    EXPECT_EQ(score({"hone/arithmetic", row.text, row.truth, row.finish}).value, row.value) << row.text;
  }
}

TEST(Gsm8k, StrictTakesTheLastMarkedNumberAndNothingElse) {
  const std::string talk(480, 'x');
  struct Row {
    std::string text, truth;
    float value;
    const char* reason;
  };
  const Row table[] = {
      {"#### 42", "42", 1, "right"},
      {"2+40=42\n#### 42" + talk, "42", 1, "right"},  // R5: the whole answer is searched
      {"2+40=42\n#### 42\n" + talk + " 17", "42", 1, "right"},
      {"I think it may be 42 or so.", "42", 0, "no answer found"},  // R3
      {"5", "5", 0, "no answer found"},                             // R2: never two rules on one text
      {"\\boxed{5}", "5", 0, "no answer found"},
      {"#### 41 no, #### 42", "42", 1, "right"},
      {"#### 42 or #### none", "42", 1, "right"},
      {"#### 115,000", "115000", 1, "right"},
      {"#### 115,000", "115,000", 1, "right"},
      {"#### 1,234,567.5", "1234567.5", 1, "right"},
      {"#### 0,1", "01", 0, "wrong: 0,1"},  // R6: a comma separates thousands only in groups of three
      {"#### 0,123", "0123", 0, "wrong: 0,123"},
      {"#### 1234,567", "1234567", 0, "wrong: 1234,567"},
      {"#### 72.", "72", 1, "right"},
      {"#### 72, in total", "72", 1, "right"},
      {"#### -3", "-3", 1, "right"},
      {"#### -1,000", "-1000", 1, "right"},
      {"#### $42", "42", 0, "no answer found"},
      {"####42", "42", 0, "no answer found"},
      {"#### ", "42", 0, "no answer found"},
      {"#### .", "42", 0, "no answer found"},
      {"##### 42", "42", 1, "right"},
      {"#### 42.0", "42", 0, "wrong: 42.0"},
      {"#### 142", "42", 0, "wrong: 142"},
      {"", "42", 0, "no answer found"},
  };
  for (const Row& row : table) {
    const Score got = score({"openai/gsm8k", row.text, row.truth, FinishReason::length});
    EXPECT_EQ(got.value, row.value) << row.text;
    EXPECT_EQ(got.reason, row.reason) << row.text;
  }
}

TEST(Gsm8k, TakesTimeLinearInTheLength) {
  for (const std::string unit : {"#### ", "####  ", "1,", "-", "#", "9", "#### -,"}) {
    std::string text;
    while (text.size() < 500'000) text += unit;  // square time would take minutes
    score_gsm8k(text, "1");
    score_gsm8k(text + "x", "1");
  }
}

TEST(Countdown, EachNumberOnceAndTheTarget) {
  const std::string truth = R"({"target": 24, "numbers": [3, 3, 8, 8]})";
  struct Row {
    std::string answer;
    float value;
    const char* reason;
  };
  const Row table[] = {
      {"8 / (3 - 8 / 3)", 1, "right"},  // through thirds, exactly
      {"8/(3-8/3)", 1, "right"},
      {" +8 / ( 3 - 8 / 3 )\n", 1, "right"},
      {"-8 / (8 / 3 - 3)", 1, "right"},
      {"8 + 8 + 3 + 3", 0, "another value than the target"},
      {"3 * 8", 0, "the numbers are not those given, each once"},
      {"3 * 8 + 3 * 8 - 24", 0, "the numbers are not those given, each once"},
      {"24", 0, "the numbers are not those given, each once"},
      {"8 / (3 - 8 / 3) = 24", 0, "the numbers are not those given, each once"},
      {"83838", 0, "the numbers are not those given, each once"},
      {"8 / (3 - 8 / 3", 0, "a bracket is not closed"},
      {"8 / (3 - 8 / 3))", 0, "unexpected ')'"},
      {"8 3 8 3", 0, "unexpected '3'"},
      {"8 ** 3 - 8 - 3", 0, "unexpected '*'"},
      {"8 // 3 + 8 * 3", 0, "unexpected '/'"},
      {"8 / (3 - 3) + 8", 0, "division by zero"},
      {"8 + 3 + 8 + 3 +", 0, "the expression breaks off"},
      {"8.3 + 8 + 3", 0, "unexpected '.'"},
      {"f(8) + 3 + 8 + 3", 0, "unexpected 'f'"},
      {"", 0, "the numbers are not those given, each once"},
  };
  for (const Row& row : table) {
    const std::string text = "so <answer>3</answer> or <answer>" + row.answer + "</answer> <answer>";
    const Score got = score({"hone/countdown", text, truth, FinishReason::end});
    EXPECT_EQ(got.value, row.value) << row.answer;
    EXPECT_EQ(got.reason, row.reason) << row.answer;
  }
  EXPECT_EQ(score({"hone/countdown", "8 / (3 - 8 / 3)", truth, FinishReason::end}).reason, "no answer found");
}

TEST(Sorting, ListsAreReadForgivinglyAndComparedInOrder) {
  struct Row {
    const char* text;
    float value;
    const char* reason;
  };
  const Row table[] = {
      {"<answer>3, 12, 40</answer>", 1, "right"},
      {"so 40, 3 <answer>[3,12,40]</answer> done", 1, "right"},
      {"Here is the list:\n3 12 40\n", 1, "right"},
      {"<answer>\n3\n12\n40.\n</answer>", 1, "right"},
      {"**3, 12, 40**", 1, "right"},
      {"<answer>3, 40, 12</answer>", 0, "wrong: 3, 40, 12"},
      {"<answer>3, 12</answer>", 0, "wrong: 3, 12"},
      {"<answer>3, 12, 40, 40</answer>", 0, "wrong: 3, 12, 40, 40"},
      {"<answer>31240</answer>", 0, "wrong: 31240"},
      {"3, 12, 40\nThat is it", 0, "wrong: That is it"},
      {"<answer></answer>", 0, "no answer found"},
      {"", 0, "no answer found"},
  };
  for (const Row& row : table) {
    const Score got = score({"hone/sorting", row.text, "3, 12, 40", FinishReason::end});
    EXPECT_EQ(got.value, row.value) << row.text;
    EXPECT_EQ(got.reason, row.reason) << row.text;
  }
  EXPECT_EQ(score({"hone/sorting", "<answer>Apple, \"bear\"</answer>", "apple, bear", FinishReason::end}).value, 1.0f);
  EXPECT_EQ(score({"hone/sorting", "<answer>3, -12</answer>", "3, 12", FinishReason::end}).value, 0.0f);
}

TEST(Countdown, HostileAnswersAreBounded) {
  const std::string truth = R"({"target": 1, "numbers": [1]})";
  const auto judge = [&](const std::string& answer) {
    return score({"hone/countdown", "<answer>" + answer + "</answer>", truth, FinishReason::end});
  };
  EXPECT_EQ(judge(std::string(499, '(') + "1" + std::string(499, ')')).reason, "nested too deeply");
  EXPECT_EQ(judge(std::string(900, '-') + "1").reason, "nested too deeply");
  EXPECT_EQ(judge(std::string(90, '(') + "1" + std::string(90, ')')).value, 1.0f);
  EXPECT_EQ(judge(std::string(5'000'000, '(')).reason, "an expression of 5000000 bytes");
  EXPECT_EQ(judge(std::string(900, '9')).value, 0.0f);
  std::string tags;
  for (int i = 0; i < 100'000; ++i) tags += "<answer>";
  EXPECT_EQ(judge(tags).value, 0.0f);
}

TEST(Countdown, NumbersThatCouldOverflowAreRefused) {
  const int64_t max = std::numeric_limits<int64_t>::max(), min = std::numeric_limits<int64_t>::min();
  const std::vector<int64_t> one = {max}, two = {max, max}, small(20, 50);
  EXPECT_TRUE(fits_exactly(one, 1000));
  EXPECT_FALSE(fits_exactly(two, min));
  EXPECT_TRUE(fits_exactly(small, 1000));
  const std::vector<int64_t> many(30, 50);
  EXPECT_FALSE(fits_exactly(many, 1));
}

TEST(Scorer, WhatIsNotFiniteIsAbsent) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const float value : {std::nanf(""), inf, -inf}) {
    const Score got = finite_or_absent({value, "right"});
    EXPECT_FALSE(got.value);
    EXPECT_NE(got.reason.find("the scorer gave"), std::string::npos);
  }
  EXPECT_EQ(finite_or_absent({0.5f, "x"}).value, 0.5f);
}

TEST(Scorer, AnAnswerThatWasTakenBackIsAbsentForEveryScorer) {
  for (const Scorer& scorer : scorers()) {
    const Score got = score_with(scorer, {"", "=5 #### 5 \\boxed{5} Answer: 5", "5", FinishReason::aborted});
    EXPECT_FALSE(got.value) << scorer.name;
    EXPECT_EQ(got.reason, "aborted") << scorer.name;
  }
}

TEST(Scorer, AFailingScorerMakesTheScoreAbsent) {
  EXPECT_FALSE(score({"hone/countdown", "<answer>1</answer>", "not json", FinishReason::end}).value);
}

TEST(Scorer, NamesWhatCannotBeScoredInOneGo) {
  const auto prompt = [](const char* source, const char* truth, int64_t line) {
    return Prompt{
        .ids = {1}, .text = "", .data_source = source, .ground_truth = truth, .file = "d.jsonl", .line = line};
  };
  io::Faults faults;
  find_unscorable({prompt("hone/arithmetic", "0579", 1), prompt("mine", "1", 2), prompt("mine", "1", 3),
                   prompt("hone/countdown", "{\"target\": 1}", 4), prompt("openai/gsm8k", "none", 5),
                   prompt("hone/arithmetic", "", 6), prompt("hone/countdown", "{\"target\": 1, \"numbers\": [-1]}", 7)},
                  faults);
  ASSERT_EQ(faults.list().size(), 5u);
  const std::string all = faults.list()[0] + faults.list()[1] + faults.list()[2] + faults.list()[3] + faults.list()[4];
  for (const char* part :
       {"d.jsonl:2: no scorer for data source \"mine\" (2 rows); name one with reward.scorers; known: hone/arithmetic",
        "d.jsonl:4:", "d.jsonl:5:", "d.jsonl:6:", "d.jsonl:7:"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << " in " << all;
  }
  EXPECT_THROW(score({"mine", "", "", FinishReason::end}), Bug);
}

TEST(Scorer, AGroundTruthThatNoAnswerMatchesIsAFault) {
  struct Row {
    const char *scorer, *truth;
    bool good;
  };
  const Row table[] = {
      {"gsm8k", "72", true},
      {"gsm8k", "-1,234.5", true},
      {"gsm8k", "72.", false},
      {"gsm8k", "$72", false},
      {"gsm8k", "72 apples", false},
      {"gsm8k", "36 + 36 = 72\n#### 72", false},
      {"gsm8k_flexible", "72", true},
      {"gsm8k_flexible", "72%", false},
      {"math", "\\{1, \\frac12\\}", true},
      {"math", "\\boxed{5}", false},
      {"math", "5}", false},
      {"math", "\\frac{1}{2", false},
      {"math_dapo_strict", "5", true},
      {"math_dapo_strict", "\\boxed{5}", false},
      {"math_dapo", " 5", true},
      {"math_dapo", "\\boxed{5}", true},
      {"math_dapo", "5\n6", false},
      {"prime_math", "\\text{no formula at all} \\foo", true},
      {"prime_math", "so \\boxed{5}", false},
      {"geo3k", "5 \\sqrt{2}", true},
      {"geo3k", "5}", false},
      {"exact_match", "a\nb", true},
      {"exact_match", "<answer>a</answer>", false},
      {"search_em", R"({"target": ["Paris", "City of Light"]})", true},
      {"search_em", R"({"target": ["Paris", "the"]})", false},
      {"search_em", R"({"target": []})", false},
      {"search_em", "a </answer> b", false},
      {"multiple_choice", "(B) Paris", true},
      {"multiple_choice", "B and C", false},
  };
  for (const auto& [name, truth, good] : table) {
    const auto fault = find_fault(*find_scorer(name), truth);
    EXPECT_EQ(!fault, good) << name << ", " << truth << ": " << fault.value_or("");
  }
  io::Faults faults;
  find_unscorable({{.ids = {1},
                    .text = "",
                    .data_source = "openai/gsm8k",
                    .ground_truth = "72 apples",
                    .file = "d.jsonl",
                    .line = 3}},
                  faults);
  ASSERT_EQ(faults.list().size(), 1u);
  EXPECT_EQ(
      faults.list()[0],
      "d.jsonl:3: ground truth of openai/gsm8k: no answer can be right: gsm8k says of \"#### 72 apples\": wrong: 72");
}

TEST(Routes, AreThoseOfVerlAndTheRunsOwnComeFirst) {
  const std::pair<const char*, const char*> table[] = {
      {"openai/gsm8k", "gsm8k"},          {"lighteval/MATH", "math"},   {"DigitalLearningGmbH/MATH-lighteval", "math"},
      {"HuggingFaceH4/MATH-500", "math"}, {"math", "math_dapo"},        {"math_dapo_reasoning", "math_dapo"},
      {"aime2024", "math_dapo"},          {"aime", "math_dapo"},        {"numina_olympiads", "prime_math"},
      {"hiyouga/geometry3k", "geo3k"},    {"searchR1_nq", "search_em"},
  };
  for (const auto& [source, name] : table) {
    const Scorer* scorer = ScoringRules().scorer_of(source);
    ASSERT_NE(scorer, nullptr) << source;
    EXPECT_EQ(scorer->name, name) << source;
  }
  for (const char* unknown : {"", "codecontests", "gsm8k", "MATH", "my/aime2024"}) {
    EXPECT_EQ(ScoringRules().scorer_of(unknown), nullptr) << unknown;
  }
  ScoringRules rules;
  rules.scorers = {{"mine", "math"}, {"aime2024", "exact_match"}, {"my/*", "gsm8k"}};
  EXPECT_EQ(rules.scorer_of("mine")->name, "math");
  EXPECT_EQ(rules.scorer_of("aime2024")->name, "exact_match");
  EXPECT_EQ(rules.scorer_of("aime2025")->name, "math_dapo");
  EXPECT_EQ(rules.scorer_of("my/rows")->name, "gsm8k");
}

double extra(const Score& score, const std::string& name) {
  for (const ScoreExtra& e : score.extras) {
    if (e.name == name) return std::get<double>(e.value);
  }
  return -7;
}

TEST(WeightedSum, AddsFormatAndTheShortnessOfRightAnswersAlone) {
  ScoringRules rules;
  rules.answer_weight = 2;
  rules.format_weight = 0.5;
  rules.length_weight = 1;
  rules.format = Format::boxed;
  rules.max_length = 100;
  const auto judge = [&](const char* text, int64_t ids) {
    return score({"lighteval/MATH", text, "5", FinishReason::end, ids}, rules);
  };
  const Score right = judge("\\boxed{5}", 25);
  EXPECT_FLOAT_EQ(*right.value, 2 + 0.5 + 0.75);
  EXPECT_EQ(extra(right, "acc"), 1);
  EXPECT_EQ(extra(right, "format"), 1);
  EXPECT_EQ(extra(right, "length"), 0.75);
  EXPECT_FLOAT_EQ(*judge("\\boxed{6}", 0).value, 0.5) << "to be short is worth nothing without the answer";
  EXPECT_FLOAT_EQ(*judge("5", 0).value, 0);
  EXPECT_FLOAT_EQ(*judge("\\boxed{5}", 300).value, 2.5);
  EXPECT_EQ(extra(score({"lighteval/MATH", "\\boxed{5}", "5"}), "acc"), -7) << "without weights nothing is added";
}

TEST(WeightedSum, AnAbsentScoreStaysAbsent) {
  ScoringRules rules;
  rules.scorers = {{"mine", "prime_math"}};
  rules.format_weight = 1;
  const Score got = score({"mine", "\\boxed{9^{9^{9^{9}}}}", "1"}, rules);
  EXPECT_FALSE(got.value);
  EXPECT_EQ(got.verdict, Verdict::undecided);
}

TEST(Format, EachIsWhatItsNameSays) {
  struct Row {
    const char *text, *formats;
  };
  const Row table[] = {
      {"\\boxed{5}", "boxed"},
      {"\\boxed{5", ""},
      {"#### 5", "hashes"},
      {"#### -5", "hashes"},
      {"#### five", ""},
      {"so\nAnswer: 5", "answer_line"},
      {"Answer:", ""},
      {"<think>a</think> \\boxed{5}", "boxed think_boxed"},
      {" <think>a</think> \\boxed{5}", "boxed"},
      {"<think>a</think>\n<answer>5</answer>", "think_answer"},
      {"<think>a</think> so <answer>5</answer>", ""},
      {"<think>a</think><answer>5</answer><answer>6</answer>", ""},
      {"<answer>5</answer><think>a</think>", ""},
      {"", ""},
  };
  for (const Row& row : table) {
    std::string found;
    for (const std::string_view name : format_names()) {
      if (has_format(row.text, *find_format(name))) found += (found.empty() ? "" : " ") + std::string(name);
    }
    EXPECT_EQ(found, row.formats) << row.text;
  }
}

}  // namespace
}  // namespace hone
