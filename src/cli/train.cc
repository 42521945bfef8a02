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

template <class R>
int run(RunArgs args, const char* title,
        R (*load)(const std::string&, const std::vector<std::string>&, std::vector<std::string>&),
        int (*train)(R, const RunFlags&)) {
  if (args.help_config || args.help_markdown) return print_help<R>(title, args.help_markdown);
  split_recipe(args.recipe, args.overrides);
  std::vector<std::string> notes;
  const R recipe = load(args.recipe, args.overrides, notes);
  if (!args.quiet) {
    for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
  }
  return train(recipe, {args.check_only, args.quiet});
}

}  // namespace

int run_train(const RunArgs& args) { return run<Recipe>(args, "Options of hone train", load_recipe, train_grpo); }
int run_sft(const RunArgs& args) { return run<SftRecipe>(args, "Options of hone sft", load_sft_recipe, train_sft); }

}  // namespace hone::cli
