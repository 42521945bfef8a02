// hone data make: the data of a built-in task.
#include <initializer_list>
#include <utility>

#include "cli/commands.h"
#include "core/error.h"
#include "prompts/arithmetic_task.h"
#include "prompts/countdown_task.h"
#include "prompts/sorting_task.h"
#include "prompts/word_problem_task.h"

namespace hone::cli {

namespace {

void set_sizes(const DataMakeArgs& args, TaskSizes& sizes) {
  if (args.train > 0) sizes.train = args.train;
  if (args.held_out > 0) sizes.val = args.held_out;
  if (args.sft > 0) sizes.sft = args.sft;
}

// The task's own where the command line says nothing.
template <class Options>
Options options_of(const DataMakeArgs& args) {
  Options options;
  set_sizes(args, options.sizes);
  options.seed = args.seed;
  if constexpr (requires { options.difficulty; }) {
    if (!args.difficulty.empty()) options.difficulty = parse_difficulty(args.difficulty);
  }
  return options;
}

Task make_arithmetic_of(const DataMakeArgs& args) {
  auto options = options_of<ArithmeticOptions>(args);
  if (args.digits) options.digits = *args.digits;
  if (!args.difficulty.empty()) {
    const DifficultyRange range = parse_difficulty(args.difficulty);
    check_difficulty("arithmetic", range, 9);
    if (range.first != range.last) {
      throw Error("arithmetic: one difficulty", "its operands all have the same number of digits");
    }
    options.digits = range.first;
  }
  Task task = make_arithmetic(options);
  write_arithmetic_tokenizer(args.out);
  return task;
}

Task make_task(const DataMakeArgs& args) {
  if (args.task == "arithmetic") return make_arithmetic_of(args);
  if (args.task == "countdown") return make_countdown(options_of<CountdownOptions>(args));
  if (args.task == "sorting") return make_sorting(options_of<TaskOptions>(args));
  if (args.task == "word_problems") return make_word_problems(options_of<TaskOptions>(args));
  throw Error(fmt::format("'{}' is no task", args.task), "arithmetic, countdown, sorting or word_problems");
}

}  // namespace

int run_data_make(const DataMakeArgs& args) {
  for (const auto& [option, size] : std::initializer_list<std::pair<const char*, int64_t>>{
           {"--train", args.train}, {"--held-out", args.held_out}, {"--sft", args.sft}}) {
    if (size < 0 || size > 10'000'000) throw Error(fmt::format("{}: expected 0 to 10000000, found {}", option, size));
  }
  if (args.digits && (args.task != "arithmetic" || !args.difficulty.empty())) {
    throw Error("--digits: expected for arithmetic alone, and not beside --difficulty");
  }
  const Task task = make_task(args);
  write_task(args.out, task);
  fmt::print("{}: train.jsonl {} prompts, val.jsonl {} held-out prompts, sft.jsonl {} worked examples\n", args.out,
             task.train.size(), task.val.size(), task.sft.size());
  return 0;
}

}  // namespace hone::cli
