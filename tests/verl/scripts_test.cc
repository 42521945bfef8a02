// Launch scripts published for verl, by their key=value arguments: every key is known, what is refused is what the file
// lists with "! KEY" and says why, and without that the recipe loads. scripts/NAME.args holds an argument a line.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "config/load.h"
#include "config/override.h"
#include "core/error.h"
#include "io/file.h"
#include "loop/recipe.h"
#include "loop/sft_recipe.h"

namespace hone {
namespace {

struct Script {
  std::string name;
  std::vector<std::string> arguments;
  std::set<std::string> refused;
};

std::vector<Script> scripts(const std::string& folder) {
  std::vector<Script> all;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_TEST_DATA "/" + folder)) {
    Script script{entry.path().filename().string(), {}, {}};
    std::istringstream text(io::read_file(entry.path().string()));
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("! ")) {
        script.refused.insert(line.substr(2));
      } else if (!line.starts_with("#")) {
        script.arguments.push_back(line);
      }
    }
    all.push_back(std::move(script));
  }
  return all;
}

template <class R>
std::string error_of(R (*load)(const std::string&, const std::vector<std::string>&, std::vector<std::string>&),
                     const std::vector<std::string>& arguments, std::vector<std::string>& notes) {
  try {
    load("", arguments, notes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The keys that the lines "argument N: KEY ..." of an error are about.
std::set<std::string> keys_of(const std::string& error) {
  std::set<std::string> keys;
  std::istringstream lines(error);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find("argument "), colon = line.find(": ", at);
    if (at == std::string::npos || colon == std::string::npos) continue;
    const std::string rest = line.substr(colon + 2);
    keys.insert(rest.substr(0, rest.find_first_of(" :")));
  }
  return keys;
}

// As a user converts a script: what is refused is taken out until the rest loads. A key may be looked at only when the
// one that it is compared with is out.
template <class Load>
void expect_converted(Load load, const std::vector<Script>& all) {
  for (const Script& script : all) {
    std::vector<std::string> notes, arguments = script.arguments;
    std::set<std::string> refused;
    for (std::string error; !(error = error_of(load, arguments, notes)).empty(); notes.clear()) {
      EXPECT_EQ(error.find("unknown key"), std::string::npos) << script.name << "\n" << error;
      refused.merge(keys_of(error));
      const size_t erased = std::erase_if(arguments, [&](const std::string& argument) {
        return refused.contains(config::parse_override(argument).key);
      });
      ASSERT_GT(erased, 0u) << script.name << "\n" << error;
    }
    EXPECT_EQ(refused, script.refused) << script.name;
    for (const std::string& note : notes) {
      const bool says_why =
          note.find(" has no meaning here: ") != std::string::npos || note.find("is not there") != std::string::npos ||
          note.find(" has no effect: it has one when ") != std::string::npos || note.find(" now") != std::string::npos;
      EXPECT_TRUE(says_why) << note;
    }
  }
}

TEST(VerlScripts, EveryKeyIsKnownAndWithoutWhatIsRefusedTheRecipeLoads) {
  const std::vector<Script> train = scripts("scripts"), sft = scripts("sft_scripts");
  ASSERT_GE(train.size(), 8u);
  ASSERT_GE(sft.size(), 1u);
  expect_converted(load_recipe, train);
  expect_converted(load_sft_recipe, sft);
}

// All that verl prints of itself reads as a recipe.
TEST(VerlScripts, VerlsWholeOptionTreeIsKnown) {
  const std::string path = HONE_TEST_DATA "/verl_defaults.yaml";
  std::vector<std::string> notes;
  EXPECT_NO_THROW(load_recipe(path, {"algorithm.adv_estimator=grpo", "actor_rollout_ref.rollout.n=5"}, notes));
  const Recipe recipe = load_recipe(path, {}, notes);
  EXPECT_TRUE(recipe.has_critic()) << "PPO is verl's default";
  EXPECT_EQ(recipe.critic.optim.lr, 1e-5);
}

TEST(VerlScripts, ShippedRecipesLoad) {
  for (const char* name : {"gsm8k_grpo.yaml", "quickstart/grpo.yaml", "quickstart/grpo_lora.yaml",
                           "quickstart/dapo.yaml", "quickstart/ppo.yaml", "word_problems/2_grpo.yaml"}) {
    std::vector<std::string> notes;
    const std::string path = std::string(HONE_TEST_DATA "/../../recipes/") + name;
    EXPECT_NO_THROW(load_recipe(path, {}, notes)) << name;
    EXPECT_TRUE(notes.empty()) << name << ": " << notes.front();
  }
  for (const char* name : {"quickstart/sft.yaml", "word_problems/1_sft.yaml"}) {
    std::vector<std::string> notes;
    EXPECT_NO_THROW(load_sft_recipe(std::string(HONE_TEST_DATA "/../../recipes/") + name, {}, notes)) << name;
  }
}

}  // namespace
}  // namespace hone
