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

namespace hone {
namespace {

struct Script {
  std::string name;
  std::vector<std::string> arguments;
  std::set<std::string> refused;
};

std::vector<Script> scripts() {
  std::vector<Script> all;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_TEST_DATA "/scripts")) {
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

std::string error_of(const std::vector<std::string>& arguments, std::vector<std::string>& notes) {
  try {
    load_recipe("", arguments, notes);
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

TEST(VerlScripts, EveryKeyIsKnownAndWhatIsRefusedIsListed) {
  const std::vector<Script> all = scripts();
  ASSERT_GE(all.size(), 8u);
  for (const Script& script : all) {
    std::vector<std::string> notes;
    const std::string error = error_of(script.arguments, notes);
    EXPECT_EQ(error.find("unknown key"), std::string::npos) << script.name << "\n" << error;
    EXPECT_EQ(keys_of(error), script.refused) << script.name << "\n" << error;
  }
}

TEST(VerlScripts, WithoutWhatIsRefusedTheRecipeLoads) {
  for (const Script& script : scripts()) {
    std::vector<std::string> arguments, notes;
    for (const std::string& argument : script.arguments) {
      if (!script.refused.contains(config::parse_override(argument).key)) arguments.push_back(argument);
    }
    EXPECT_EQ(error_of(arguments, notes), "") << script.name;
    for (const std::string& note : notes) {
      EXPECT_TRUE(note.find(" has no meaning here: ") != std::string::npos ||
                  note.find("is not there") != std::string::npos)
          << note;
    }
  }
}

TEST(VerlScripts, ShippedRecipesLoad) {
  for (const char* name : {"gsm8k_grpo.yaml", "quickstart/grpo.yaml"}) {
    std::vector<std::string> notes;
    const std::string path = std::string(HONE_TEST_DATA "/../../recipes/") + name;
    EXPECT_NO_THROW(load_recipe(path, {}, notes)) << name;
    EXPECT_TRUE(notes.empty()) << name << ": " << notes.front();
  }
}

}  // namespace
}  // namespace hone
