#include "rollout/speculation_file.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace hone {
namespace {

SpeculationState some_state() {
  SpeculationState state;
  state.cost = {{1, 0.1 + 0.2}, {7, 1.0 / 3}};
  state.acceptance[2] = {7.123456789012345, 1e-17};
  state.answers = {{{1, 2}, {{3}, {}}}, {{}, {{2147483647, 0}}}};
  return state;
}

TEST(SpeculationFile, GivesTheStateBackToTheBit) {
  for (const SpeculationState& state : {some_state(), SpeculationState()}) {
    EXPECT_EQ(parse_speculation(speculation_text(state), "x.json"), state);
  }
}

TEST(SpeculationFile, RefusesWhatNoStateCanBe) {
  const std::string good = speculation_text(some_state());
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"rows\": 7", "\"rows\": 1"},
           {"\"rows\": 1,", "\"rows\": 0,"},
           {"0.3333333333333333", "0"},
           {"1e-17", "8"},
           {"2147483647", "2147483648"},
           {"[1, 2]", "[1, -2]"},
           {"{\"times\": 0.0, \"right\": 0.0}, ", ""},
           {"[[3], []]", "[3]"},
       }) {
    std::string bad = good;
    const size_t at = bad.find(from);
    ASSERT_NE(at, std::string::npos) << from << " is not in " << good;
    bad.replace(at, from.size(), to);
    try {
      parse_speculation(bad, "x.json");
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("x.json"), 0u) << error.what();
    }
  }
}

}  // namespace
}  // namespace hone
