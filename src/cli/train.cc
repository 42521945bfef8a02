// hone train and hone sft: a recipe and settings to a run.
#include <utility>

#include "cli/commands.h"
#include "config/print.h"
#include "core/error.h"
#include "loop/grpo.h"
#include "loop/sft.h"

namespace hone::cli {

namespace {

// The recipe file may stand among the settings: it is the argument without '='. It leaves an empty one in its place, so
// that settings keep their numbers.
void split_recipe(std::string& recipe, std::vector<std::string>& overrides) {
  for (std::string& argument : overrides) {
    if (argument.empty() || argument.find('=') != std::string::npos || argument.starts_with("~")) continue;
    if (!recipe.empty()) {
      throw Error(fmt::format("'{}': a second recipe beside '{}'", argument, recipe), "settings are written key=value");
    }
    recipe = std::exchange(argument, "");
  }
}

// --help-config behind a whole command lists all: a recipe and settings are no words to look for.
std::vector<std::string> searched_words(const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  for (const std::string& argument : arguments) {
    if (argument.find('=') == std::string::npos && !argument.ends_with(".yaml")) words.push_back(argument);
  }
  return words;
}

template <class R>
int print_help(const RunArgs& args) {
  R recipe;
  const config::Schema schema = schema_of(recipe);
  const std::vector<std::string> words = searched_words(args.overrides);
  if (args.help_markdown) {
    fmt::print("{}", config::help_markdown(schema));
  } else if (args.list_config) {
    fmt::print("{}", config::class_list(schema));
  } else if (words.empty()) {
    fmt::print("{}\n{}.\n", config::help_text(schema), config::class_counts(schema));
  }
  if (!args.help_config) return 0;
  for (const std::string& searched : words) {
    const std::string text = config::help_text(schema, searched);
    const std::string nearest = schema.nearest(searched);
    if (text.empty()) {
      throw Error(fmt::format("'{}' is in no option", searched),
                  nearest.empty() ? "--help-config alone lists all of them" : "the nearest key is " + nearest);
    }
    fmt::print("{}", text);
  }
  return 0;
}

template <class R>
int print_config(R recipe) {
  fmt::print("{}", config::effective_yaml(schema_of(recipe)));
  return 0;
}

template <class R>
int run(RunArgs args, R (*load)(const std::string&, const std::vector<std::string>&, std::vector<std::string>&),
        int (*train)(R, const RunFlags&)) {
  if (args.help_config || args.help_markdown || args.list_config) return print_help<R>(args);
  split_recipe(args.recipe, args.overrides);
  std::vector<std::string> notes;
  const R recipe = load(args.recipe, args.overrides, notes);
  if (!args.quiet) {
    for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
  }
  if (args.print_config || !args.cfg.empty()) return print_config(recipe);
  return train(recipe, {args.check_only, args.quiet});
}

}  // namespace

int run_train(const RunArgs& args) { return run<Recipe>(args, load_recipe, train_grpo); }
int run_sft(const RunArgs& args) { return run<SftRecipe>(args, load_sft_recipe, train_sft); }

}  // namespace hone::cli
