// hone data make: the data of a built-in task.
#include "cli/commands.h"
#include "core/error.h"
#include "prompts/arithmetic_task.h"
#include "prompts/countdown_task.h"

namespace hone::cli {

int run_data_make(const DataMakeArgs& args) {
  for (const int64_t size : {args.train, args.held_out, args.sft}) {
    if (size < 0 || size > 10'000'000) throw Error(fmt::format("sizes: expected 0 to 10000000, found {}", size));
  }
  TaskSizes sizes;
  if (args.train > 0) sizes.train = args.train;
  if (args.held_out > 0) sizes.val = args.held_out;
  if (args.sft > 0) sizes.sft = args.sft;
  Task task;
  if (args.task == "arithmetic") {
    ArithmeticOptions options;
    options.digits = args.digits;
    options.sizes = sizes;
    options.seed = args.seed;
    task = make_arithmetic(options);
    write_arithmetic_tokenizer(args.out);
  } else if (args.task == "countdown") {
    CountdownOptions options;
    options.sizes = sizes;
    options.seed = args.seed;
    task = make_countdown(options);
  } else {
    throw Error(fmt::format("'{}' is no task", args.task), "arithmetic or countdown");
  }
  write_task(args.out, task);
  fmt::print("{}: train.jsonl {} prompts, val.jsonl {} held-out prompts, sft.jsonl {} worked examples\n", args.out,
             task.train.size(), task.val.size(), task.sft.size());
  return 0;
}

}  // namespace hone::cli
