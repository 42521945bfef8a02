// The stories of the task hone/word_problems, as data. A story is a question with places for numbers, the numbers that
// fit it, and its solution with one calculation a line.
//   {a}             a number, by its letter
//   {N} {M} {O}     three names; {he} {He} {him} {his} stand for N
//   {things}        something that can be counted, the same all through
//   [a+b=x]         a calculation: shown as "12 + 5 = 17", and x is 17 from there on; the last one gives the answer
#pragma once

#include <vector>

namespace hone {

struct WordProblemScenario {
  int steps;             // calculations of the solution: its difficulty
  const char* numbers;   // "a:2-50 b:2-9": drawn from these, first and last included
  const char* given;     // "q*b=a": numbers that follow from others; one that has a range must lie in it
  const char* question;  // ends in a question mark
  const char* solution;
};

const std::vector<WordProblemScenario>& word_problem_scenarios();

}  // namespace hone
