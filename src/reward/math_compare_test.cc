#include "reward/math_compare.h"

#include <gtest/gtest.h>

#include <numbers>
#include <string>

#include "reward/formula_residue.h"
#include "reward/formula_value.h"

namespace hone {
namespace {

TEST(MathCompare, LargeWholeNumbersAndPowersAreComparedExactly) {
  const std::string nines(1500, '9');
  EXPECT_EQ(compare_answers(nines + "0", nines + "1", {}), Verdict::wrong);
  EXPECT_EQ(compare_answers("10^{1500} - 1", nines, {}), Verdict::right);
  EXPECT_EQ(compare_answers("9^{9^9}", "9^{9^9} + 1", {}), Verdict::wrong);
  EXPECT_EQ(compare_answers("(x+y)^{50} (x-y)^{50}", "(x^2-y^2)^{50}", {}), Verdict::right);
  EXPECT_EQ(compare_answers("\\binom{1000}{500}", "\\frac{1000!}{500! \\cdot 500!}", {}), Verdict::right);
}

TEST(MathCompare, WhatCannotBeDecidedIsNotCalledWrong) {
  EXPECT_EQ(compare_answers("9^{9^{9^{9}}}", "1", {}), Verdict::undecided);
  EXPECT_EQ(compare_answers("\\sqrt{10^{400}}", "10^{200}", {}), Verdict::undecided) << "beyond the range of double";
  // sin of a number whose error is larger than a turn
  EXPECT_EQ(compare_answers("\\sin(\\sqrt{2} \\cdot 10^{17})", "\\sin(2^{1/2} \\cdot 10^{17})", {}),
            Verdict::undecided);
  std::string upwards = "0", downwards = "0";
  for (int i = 1; i < 400; ++i) {
    upwards += "," + std::to_string(i);
    downwards.insert(0, std::to_string(i) + ",");
  }
  EXPECT_EQ(compare_answers("\\{" + upwards + "\\}", "\\{" + downwards + "\\}", {}), Verdict::undecided) << "budget";
}

TEST(MathCompare, EquationsAreComparedExactlyWhateverTheSizeOfTheirNumbers) {
  const std::pair<const char*, const char*> other[] = {
      {"x=50000", "x=50001"},         {"N=65536", "N=65537"},
      {"y=x+100000", "y=x+100001"},   {"x=2^{100}", "x=7^{50}"},
      {"x=10^{30}", "x=10^{30}+1"},   {"x=10^5\\sqrt{2}", "x=10^5\\sqrt{2}+1"},
      {"\\sqrt{x}=\\sqrt{x}", "x=1"}, {"x=x", "x=1"},
      {"y=\\pi x", "y=3x"},
  };
  for (const auto& [one, two] : other) {
    EXPECT_EQ(compare_answers(one, two, {.tolerance = 0}), Verdict::wrong) << one << " | " << two;
    EXPECT_EQ(compare_answers(two, one, {.tolerance = 0}), Verdict::wrong) << two << " | " << one;
  }
  const std::pair<const char*, const char*> same[] = {
      {"2x=200000", "x=100000"},           {"x=x", "y=y"},
      {"\\pi x = \\pi", "x = 1"},          {"\\sqrt{2} x = 10^5", "x = \\frac{10^5}{\\sqrt{2}}"},
      {"y^2 - x^2 = 0", "(x-y)(x+y) = 0"},
  };
  for (const auto& [one, two] : same) {
    EXPECT_EQ(compare_answers(one, two, {.tolerance = 0}), Verdict::right) << one << " | " << two;
  }
  EXPECT_EQ(compare_answers("x = 10^{14}\\sqrt{2}", "2x = 10^{14}\\sqrt{8}", {}), Verdict::undecided)
      << "the bound of the error is as large as what the unknown moves";
}

void expect_both_ways(Verdict verdict, std::initializer_list<std::pair<const char*, const char*>> pairs) {
  for (const auto& [one, two] : pairs) {
    EXPECT_EQ(compare_answers(one, two, {}), verdict) << one << " | " << two;
    EXPECT_EQ(compare_answers(two, one, {}), verdict) << two << " | " << one;
  }
}

TEST(MathCompare, AnAnswerOfAnotherKindIsWrongAndNotUndecided) {
  expect_both_ways(Verdict::wrong, {{"50\\%", "(1,2)"},
                                    {"50\\%", "x = (1,2)"},
                                    {"50 percent", "(1,2)"},
                                    {"(1,2)^2", "5"},
                                    {"\\sqrt{2}", "3 \\cdot (1,2)"},
                                    {"A = (1,2)", "A = (1,3)"},
                                    {"\\{1\\} + 1", "x"},
                                    {"12 (m)", "12 (cm)"},
                                    {"50\\%", "\\text{half}"}});
  expect_both_ways(Verdict::right, {{"50\\%", "x = 0.5"},
                                    {"x = 50\\%", "0.5"},
                                    {"50 percent", "x = 0.5"},
                                    {"12 (cm)", "12"},
                                    {"12 (square feet)", "12 \\text{ ft}^2"},
                                    {"12 \\text{ (cm)}", "12 \\text{ cm}"}});
}

TEST(MathCompare, WordsAreTheSameInACommandAndOutside) {
  expect_both_ways(Verdict::right, {{"\\text{No}", "No"},
                                    {"\\text{no}", "No"},
                                    {"\\boldsymbol{x} + 1", "x + 1"},
                                    {"\\operatorname{sin} x", "\\sin x"},
                                    {"\\operatorname{lcm}", "lcm"},
                                    {"\\mathbb{R} \\backslash \\{0\\}", "\\mathbb{R} \\setminus \\{0\\}"}});
  expect_both_ways(Verdict::wrong, {{"\\text{No}", "\\text{Yes}"}, {"\\text{No}", "on"}, {"AB", "ab"}});
}

TEST(MathCompare, ANameInWordsIsStatedAndAnApproximationStatesBoth) {
  expect_both_ways(Verdict::right, {{"Area = 5", "5"},
                                    {"\\text{Area of it} = 5 \\text{ cm}", "5"},
                                    {"Area = 5", "A = 5"},
                                    {"= 5", "5"},
                                    {"\\approx 3.14", "3.14"},
                                    {"x \\approx 5", "x = 5"},
                                    {"\\sqrt{2} \\approx 1.41", "\\sqrt{2}"},
                                    {"\\sqrt{2} ≈ 1.41", "1.41"},
                                    {"x = \\sqrt{2} \\approx 1.41", "x = \\sqrt{2}"}});
  expect_both_ways(Verdict::wrong, {{"Area = 5", "6"},
                                    {"Area = 5", "Area = 6"},
                                    {"Area = 5", "Perimeter = 5"},
                                    {"5 \\approx 6", "5"},
                                    {"\\sqrt{2} \\approx 1.41", "\\sqrt{3}"}});
}

TEST(MathCompare, MoneyAndLettersBehindNumbersAreUnits) {
  expect_both_ways(Verdict::right, {{"\\$5", "5"},
                                    {"\\$5", "5 \\text{ dollars}"},
                                    {"-\\$5", "-5 dollars"},
                                    {"€5", "5"},
                                    {"5€", "5 euros"},
                                    {"£5", "5 pounds"},
                                    {"5¢", "5 cents"},
                                    {"\\$5 per hour", "5 \\text{ dollars/hour}"},
                                    {"\\$2.5 million", "2500000"},
                                    {"\\$5 \\text{ each}", "5 dollars"},
                                    {"5 m", "5"},
                                    {"5 m", "5 \\text{ m}"},
                                    {"5 m", "5m"},
                                    {"3 m + 2", "2 + 3m"},
                                    {"5 m/s", "5 \\text{ m/s}"},
                                    {"60 km/h", "60 \\text{ km/hr}"},
                                    {"2 L", "2 liters"},
                                    {"5 m^2", "5 square meters"}});
  expect_both_ways(Verdict::wrong, {{"\\$5", "5 cents"},
                                    {"$5", "5 \\text{ cents}"},
                                    {"x = \\$5", "5 cents"},
                                    {"€5", "\\$5"},
                                    {"£5", "5€"},
                                    {"5 m", "5 s"},
                                    {"5 m", "6"},
                                    {"x m", "x"},
                                    {"5 m/s", "5 km/h"},
                                    {"x = 5 cm", "x = 5 \\text{ m}"},
                                    {"x = 5 cm", "5 \\text{ m}"}});
}

// Each symbol is negative at one of the points.
TEST(MathCompare, ARootOfASquareIsNoSymbol) {
  for (const char* symbol : {"a", "b", "c", "h", "k", "L", "m", "n", "r", "s", "t", "w", "x", "y", "z", "\\theta"}) {
    const std::string text = symbol;
    EXPECT_EQ(compare_answers("\\sqrt{" + text + "^2}", text, {}), Verdict::wrong) << symbol;
    EXPECT_EQ(compare_answers("\\sqrt{" + text + "^2}", "|" + text + "|", {}), Verdict::right) << symbol;
  }
}

TEST(MathCompare, ASignBehindAMixedNumberIsOfTheWhole) {
  expect_both_ways(Verdict::right, {{"16\\frac{2}{3}\\%", "\\frac{1}{6}"},
                                    {"16\\frac23\\%", "16.6667\\%"},
                                    {"2 1/2 %", "0.025"},
                                    {"\\sin 22\\frac{1}{2}^\\circ", "\\sin \\frac{\\pi}{8}"},
                                    {"3\\frac{1}{2} \\text{ cm}", "3.5"},
                                    {"-2\\frac{1}{4}", "-\\frac{9}{4}"},
                                    {"3\\frac{x}{2}", "1.5x"},
                                    {"(3)\\frac{1}{2}", "\\frac{3}{2}"}});
  expect_both_ways(Verdict::wrong, {{"16\\frac{2}{3}\\%", "16.00667"}, {"3 4", "7"}, {"3 4/", "3"}});
}

TEST(MathCompare, ToleranceIsForDecimalsAlone) {
  EXPECT_EQ(compare_answers("3.1416", "\\pi", {}), Verdict::right);
  EXPECT_EQ(compare_answers("3.1416", "\\pi", {.tolerance = 0}), Verdict::wrong);
  EXPECT_EQ(compare_answers("\\frac{355}{113}", "\\pi", {}), Verdict::wrong) << "near, but no decimal";
  EXPECT_EQ(compare_answers("100001", "100000", {}), Verdict::wrong);
  EXPECT_EQ(compare_answers("0.5", "\\frac12", {.tolerance = 0}), Verdict::right) << "exact";
}

TEST(MathCompare, AsWrittenAsksForTheFormOfTheGroundTruth) {
  const CompareRules strict{.tolerance = 0, .as_written = true};
  EXPECT_EQ(compare_answers("\\frac{2}{4}", "\\frac{1}{2}", strict), Verdict::wrong);
  EXPECT_EQ(compare_answers("\\frac{-1}{2}", "-\\frac{1}{2}", strict), Verdict::right);
  EXPECT_EQ(compare_answers("4+1", "5", strict), Verdict::wrong);
  EXPECT_EQ(compare_answers("\\sqrt{8}", "2\\sqrt{2}", strict), Verdict::right);
}

TEST(FormulaResidue, DependsOnTheValueAndNotOnTheForm) {
  const auto residue_of = [](const char* text) {
    const auto formula = parse_formula(text, Commas::thousands);
    StepBudget budget{1000};
    return formula ? residue(*formula, formula->root, {0, 0}, 1, budget) : std::nullopt;
  };
  EXPECT_EQ(residue_of("\\frac{1}{3} + \\frac16"), residue_of("0.5"));
  EXPECT_EQ(residue_of("7"), 7u);
  EXPECT_EQ(residue_of("2^{61}"), 1u) << "modulo 2^61 - 1";
  EXPECT_NE(residue_of("x"), residue_of("y"));
  EXPECT_EQ(residue_of("\\sqrt{4}"), std::nullopt) << "not rational";
  EXPECT_EQ(residue_of("7^{(-2) \\cdot 2^{62}}"), std::nullopt) << "an exponent beyond what can be negated";
  EXPECT_EQ(residue_of("1/(2^{61}-1)"), std::nullopt) << "division by zero there";
}

// The bound holds for values that are known to more digits than a double has.
TEST(FormulaValue, TheErrorIsWithinItsBound) {
  const std::pair<const char*, double> table[] = {
      {"\\sqrt{2}", std::numbers::sqrt2},
      {"(\\sqrt{2}+1)^{20}(\\sqrt{2}-1)^{20}", 1.0},
      {"\\sqrt{10^8+1}-10^4", 4.99999998750000006e-05},
      {"\\ln(e^5)", 5.0},
      {"\\sin(\\pi)", 0.0},
      {"\\tan(\\frac{\\pi}{4})", 1.0},
      {"\\sqrt[3]{-27}", -3.0},
  };
  for (const auto& [text, exact] : table) {
    const auto formula = parse_formula(text, Commas::thousands);
    ASSERT_TRUE(formula) << text;
    StepBudget budget{1000};
    const FormulaValue value = evaluate(*formula, formula->root, 0, 1, std::numbers::pi, budget);
    ASSERT_EQ(value.state, FormulaValue::State::known) << text;
    EXPECT_LE(std::abs(value.value - exact), value.error) << text;
    EXPECT_LE(value.error, 1e-9 * (1 + std::abs(exact))) << text << ": the bound says nothing";
  }
}

TEST(Formula, NestingIsBoundedAndFaultsAreNoFormulas) {
  const std::string deep = std::string(500, '(') + "1" + std::string(500, ')');
  EXPECT_FALSE(parse_formula(deep, Commas::thousands));
  for (const char* text : {"", "1 +", "(", ")", "\\frac{1}", "{", "}", "1 2", "\\unknown", "x^",
                           "\\begin{cases} 1 \\end{cases}", "a,,b", "\\sqrt", "|x", "1//2", "=="}) {
    EXPECT_FALSE(parse_formula(text, Commas::thousands)) << text;
  }
}

}  // namespace
}  // namespace hone
