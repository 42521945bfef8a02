// hone eval: a model's score on data, mean@n with its interval and pass@k for each data source.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "cli/chat_arguments.h"
#include "cli/commands.h"
#include "cli/sampling_arguments.h"
#include "cli/scoring_arguments.h"
#include "core/error.h"
#include "io/file.h"
#include "io/json.h"
#include "loop/answer_mark.h"
#include "loop/evaluation_file.h"
#include "loop/inference.h"
#include "loop/progress.h"
#include "loop/rollout_dump.h"
#include "prompts/data_hash.h"
#include "prompts/prompt_set.h"
#include "reward/scorer.h"

namespace hone::cli {

namespace {

std::vector<Prompt> load_eval_prompts(const EvalArgs& args, const Tokenizer& tokenizer, const ScoringRules& scoring) {
  io::Faults faults;
  const ChatTemplate chat(args.model, args.chat_template, tokenizer);
  PromptSetOptions options;
  options.chat.chat = &chat;
  options.chat.arguments = template_arguments(args.arguments, chat);
  options.files = args.data;
  options.prompt_key = args.prompt_key;
  options.answer_key = args.answer_key;
  options.default_data_source = args.data_source;
  options.prompt_suffix = args.prompt_suffix;
  options.text_as_message = args.text_as_message;
  options.max_samples = args.max_samples;
  options.max_prompt_length = int64_t{1} << 20;
  options.keep_rows = scoring.custom != nullptr;
  PromptSet set = load_prompts(options, tokenizer, faults);
  find_unscorable(set.prompts, faults, scoring, {"--custom-reward", "--run-code", false});
  faults.raise_if_any("the data cannot be used as it is");
  return std::move(set.prompts);
}

// The dump replaces a file of its name: not the data, and not a device. That it can be written is known before the
// answers that it is to hold.
void check_dump(const EvalArgs& args) {
  if (args.dump.empty()) return;
  const std::string parent = std::filesystem::path(args.dump).parent_path().string();
  if (!parent.empty()) io::make_folders(parent);
  const char* folder = parent.empty() ? "." : parent.c_str();
  if (access(folder, W_OK) != 0) {
    throw Error(fmt::format("--dump: {}: {}", folder, std::strerror(errno)), "name a file in a folder of yours");
  }
  if (!std::filesystem::exists(args.dump)) return;
  bool is_data = false;
  for (const std::string& file : args.data) {
    is_data = is_data || (io::exists(file) && std::filesystem::equivalent(file, args.dump));
  }
  if (is_data || !std::filesystem::is_regular_file(args.dump)) {
    throw Error(fmt::format("--dump: {} is {}", args.dump, is_data ? "the data" : "not a regular file"),
                "name a new file");
  }
}

// All that decides the answers.
std::string mark_of(const EvalArgs& args, const EvaluationOptions& options, const std::vector<Prompt>& prompts) {
  DataHash hash;
  hash.add(fmt::format("{} {} {} {}", options.n, options.temperature, options.max_new_tokens, options.seed));
  hash.add(mark_of_filter(options.filter));
  hash.add(mark_of_model(args.model, args.dtype));
  hash.add(options.end_ids);
  for (const Prompt& prompt : prompts) hash.add(prompt.ids);
  return fmt::format("{:016x}", hash.value());
}

io::Json interval_of(const Interval& interval) {
  return io::Json::array({io::Json::number_or_null(interval.low), io::Json::number_or_null(interval.high)});
}

std::string score_text(const EvalArgs& args, const SourceScores& source) {
  if (source.num_scored == 0) return "no score";
  std::string text = fmt::format("mean@{} {:.4f} [{:.4f}, {:.4f}]", args.n, source.mean, source.mean_interval.low,
                                 source.mean_interval.high);
  for (const auto& [k, share] : source.pass) text += fmt::format("  pass@{} {:.4f}", k, share);
  const std::string best = fmt::format("best@{}/mean", args.n), maj = fmt::format("maj@{}/mean", args.n);
  for (const auto& [name, value] : source.variables.front().numbers) {
    if (name == best || name == maj) text += fmt::format("  {} {:.4f}", name.substr(0, name.find('/')), value);
  }
  return text;
}

void print_result(const EvalArgs& args, const SourceScores& source, double temperature) {
  if (args.json) {
    io::Json line = io::Json::object();
    line.set("data_source", source.data_source);
    line.set("num_prompts", source.num_prompts);
    line.set("n", args.n);
    line.set("temperature", temperature);
    line.set(fmt::format("mean@{}", args.n), source.num_scored > 0 ? io::Json(source.mean) : io::Json());
    line.set(fmt::format("mean@{}_interval", args.n),
             source.num_scored > 0 ? interval_of(source.mean_interval) : io::Json());
    for (const auto& [k, share] : source.pass) {
      line.set(fmt::format("pass@{}", k), source.num_scored > 0 ? io::Json(share) : io::Json());
    }
    line.set("num_absent", source.num_absent);
    line.set("response_length", source.response_length);
    line.set("clip_ratio", source.clip_ratio);
    for (const VariableScores& variable : source.variables) {
      io::Json numbers = io::Json::object();
      for (const auto& [name, value] : variable.numbers) numbers.set(name, value);
      line.set(free_key(line, variable.name), std::move(numbers));
    }
    fmt::print("{}\n", line.dump());
    return;
  }
  fmt::print("{}: {} prompts, temperature {}: {}  absent {}  length {:.1f}  cut {:.1f} %\n", source.data_source,
             source.num_prompts, temperature, score_text(args, source), source.num_absent, source.response_length,
             100 * source.clip_ratio);
}

}  // namespace

int run_eval(const EvalArgs& args) {
  if (args.n < 1 || args.n > 1000000) {
    throw Error(fmt::format("--n: expected at least 1, at most 1000000, found {}", args.n));
  }
  EvaluationOptions options;
  options.n = args.n;
  options.temperature = args.temperature.value_or(args.n == 1 ? 0.0 : 1.0);
  options.seed = args.seed;
  check_temperature(options.temperature);
  set_filter(args.sampling, options.filter);
  if (args.max_samples < -1 || args.max_samples == 0) {
    throw Error(fmt::format("--max-samples: expected at least 1, or -1 for all, found {}", args.max_samples));
  }
  check_dump(args);
  if (options.temperature == 0 && args.n > 1) {
    throw Error("--n above 1 with temperature 0 draws the same answer again and again", "set --temperature");
  }
  options.scoring = scoring_of(args.custom, args.seed);
  Tokenizer tokenizer = Tokenizer::load(args.model);
  const std::vector<Prompt> prompts = load_eval_prompts(args, tokenizer, options.scoring);
  options.max_new_tokens = answer_limit(args.model, args.max_new_tokens, 512, prompts);
  const int64_t answers = std::max<int64_t>(1, args.n * static_cast<int64_t>(prompts.size()));
  Inference inference(args.model, std::move(tokenizer), args.dtype, args.threads, std::min(args.max_num_seqs, answers),
                      prompts, options.max_new_tokens, args.speculative_tokens);
  if (!inference.end_note().empty()) fmt::print(stderr, "{}\n", inference.end_note());
  options.end_ids = inference.end_ids();
  std::unique_ptr<EvaluationFile> file;
  if (!args.dump.empty()) {
    file = std::make_unique<EvaluationFile>(args.dump + ".part", mark_of(args, options, prompts), prompts, options.n);
    if (file->num_groups() > 0) {
      fmt::print(stderr, "answers to {} of {} prompts are in {}.part already\n", file->num_groups(), prompts.size(),
                 args.dump);
    }
  }
  Progress progress("eval", static_cast<int64_t>(prompts.size()));
  const Evaluation evaluation = evaluate(
      inference.engine(), inference.tokenizer(), prompts, options, [&](int64_t done) { progress.update(done); },
      file.get());
  if (file != nullptr) {
    write_rollouts({args.dump}, 0, evaluation.groups);
    file->remove();
  }
  for (const SourceScores& source : evaluation.sources) print_result(args, source, options.temperature);
  return 0;
}

}  // namespace hone::cli
