// hone train and hone sft: a recipe and settings to a run.
#include "cli/commands.h"
#include "config/print.h"
#include "core/error.h"
#include "loop/grpo.h"
#include "loop/sft.h"

namespace hone::cli {

namespace {

// The recipe file may stand among the settings: it is the argument without '='.
void split_recipe(std::string& recipe, std::vector<std::string>& overrides) {
  std::vector<std::string> settings;
  for (const std::string& argument : overrides) {
    if (argument.find('=') != std::string::npos || argument.starts_with("~")) {
      settings.push_back(argument);
    } else if (recipe.empty()) {
      recipe = argument;
    } else {
      throw Error(fmt::format("'{}': a second recipe beside '{}'", argument, recipe), "settings are written key=value");
    }
  }
  overrides = settings;
}

template <class R>
int print_help(const char* title, bool markdown) {
  R recipe;
  const config::Schema schema = schema_of(recipe);
  if (markdown) {
    fmt::print("# {}\n\n{}", title, config::help_markdown(schema));
  } else {
    fmt::print("{}", config::help_text(schema));
  }
  return 0;
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
}

}  // namespace

int run_train(const RunArgs& given) {
  if (given.help_config || given.help_markdown) {
    return print_help<Recipe>("Options of hone train", given.help_markdown);
  }
  RunArgs args = given;
  split_recipe(args.recipe, args.overrides);
  std::vector<std::string> notes;
  const Recipe recipe = load_recipe(args.recipe, args.overrides, notes);
  if (!args.quiet) print_notes(notes);
  return train_grpo(recipe, {args.check_only, args.quiet});
}

int run_sft(const RunArgs& given) {
  if (given.help_config || given.help_markdown) {
    return print_help<SftRecipe>("Options of hone sft", given.help_markdown);
  }
  RunArgs args = given;
  split_recipe(args.recipe, args.overrides);
  std::vector<std::string> notes;
  const SftRecipe recipe = load_sft_recipe(args.recipe, args.overrides, notes);
  if (!args.quiet) print_notes(notes);
  return train_sft(recipe, {args.check_only, args.quiet});
}

}  // namespace hone::cli
