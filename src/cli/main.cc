// hone: the command line. Options are parsed here and nowhere else; each command has a file of its own.
// Exit codes: 0 done, 1 a bug of ours, 2 the user's input, 3 nothing left to do, 4 stopped by a guard, 130 interrupted.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <system_error>

#include "cli/commands.h"
#include "cli/process.h"
#include "core/error.h"
#include "io/utf8.h"

namespace hone::cli {
namespace {

template <class Args>
using Run = int (*)(const Args&);

// One subcommand whose options fill an Args that lives as long as the parser.
template <class Args>
CLI::App* add(CLI::App& parent, const char* name, const char* text, Args& args, Run<Args> run, int& exit_code) {
  CLI::App* command = parent.add_subcommand(name, text);
  command->callback([&args, run, &exit_code] { exit_code = run(args); });
  return command;
}

void add_threads(CLI::App* command, int& threads) {
  command->add_option("--threads", threads, "0: one for each core")->check(CLI::Range(0, 4096))->capture_default_str();
}

void add_run(CLI::App& app, const char* name, const char* text, RunArgs& args, Run<RunArgs> run, int& exit_code) {
  CLI::App* c = add(app, name, text, args, run, exit_code);
  c->add_option("--recipe", args.recipe, "YAML recipe (also as the first argument)");
  c->add_option("args", args.overrides, "RECIPE.yaml and key=value settings, e.g. trainer.total_epochs=2");
  c->add_flag("--help-config", args.help_config,
              "list every option with its type, default and effect, or those that begin with or hold ARGS");
  c->add_flag("--help-markdown", args.help_markdown, "the same as tables of docs/");
  c->add_flag("--list-config", args.list_config, "every key of verl's with its class: honoured, accepted, refused");
  c->add_flag("--print-config", args.print_config, "print the effective options, then stop");
  c->add_option("--cfg", args.cfg, "job: the same, as Hydra spells it")->check(CLI::IsMember({"job"}));
  c->add_flag("--check", args.check_only, "check options, data, model files, memory and disk, then stop");
  c->add_flag("--quiet", args.quiet, "no progress lines");
}

// CLI11 takes a list apart that is written "[a,b]". A text in brackets is one text, so while CLI11 reads the arguments
// such a one ends in a byte that no argument can hold.
constexpr char kBracketMark = '\0';

std::vector<std::string> marked_arguments(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (std::string& argument : arguments) {
    if (!argument.empty() && argument.front() == '[' && argument.back() == ']') argument += kBracketMark;
  }
  std::reverse(arguments.begin(), arguments.end());  // the order in which CLI11 takes a list
  return arguments;
}

void unmark_values(CLI::App& app) {
  const auto unmark = [](std::string& text) {
    if (!text.empty() && text.back() == kBracketMark) text.pop_back();
    return std::string();
  };
  for (CLI::Option* option : app.get_options()) option->transform(CLI::Validator(unmark, ""));
  for (CLI::App* command : app.get_subcommands({})) unmark_values(*command);
}

struct AllArgs {
  RunArgs train, sft;
  EvalArgs eval;
  CompareArgs compare;
  GenerateArgs generate;
  ChatArgs chat;
  serve::ServeOptions serve;
  TokenizeArgs tokenize;
  RenderArgs render;
  ConvertArgs convert;
  DataMakeArgs data;
  DataPrepareArgs prepare;
  ScoreArgs score;
  SelftestArgs selftest;
  BenchArgs bench;
  QuickstartArgs quickstart;
  std::string explained;
};

void add_render(CLI::App& app, RenderArgs& a, int& exit_code) {
  CLI::App* r =
      add(app, "render", "conversations to ids: what a chat template makes of them", a, run_render, exit_code);
  r->add_option("--tokenizer,--model", a.tokenizer, "folder with tokenizer.json and the chat template");
  CLI::Option* files =
      r->add_option("files", a.files, "JSONL rows with messages or a prompt (none: --user, or standard input)");
  r->add_option("--user", a.user, "one conversation: what the user says")->excludes(files);
  r->add_option("--system", a.system, "and the system text before it")->excludes(files);
  r->add_option("--chat-template", a.chat_template, "a built-in format, a file or a template, instead of the model's");
  r->add_option("--tools", a.tools, "JSON file with a list of tools");
  r->add_option("--arg", a.arguments, "NAME=VALUE for the template, e.g. enable_thinking=false");
  CLI::Option* open =
      r->add_flag("--generation-prompt", a.generation_prompt,
                  "open an assistant's turn at the end (default: unless the last message is the assistant's)");
  r->add_flag("--no-generation-prompt", a.no_generation_prompt, "open none")->excludes(open);
  r->add_flag("--continue-final-message", a.continue_final_message, "leave the last message open");
  r->add_option("--loss", a.loss, "assistant turns with loss: all or last")->capture_default_str();
  r->add_option("--date", a.date, "what the template takes for today: YYYY-MM-DD or today (default: 2024-07-26)");
  r->add_option("--max-rows", a.max_rows, "first rows only (-1: all)")->capture_default_str();
  r->add_flag("--json", a.json, "one JSON object a conversation: text, ids, roles, loss_mask");
  r->add_flag("--text", a.text, "the rendered text alone");
  r->add_flag("--list", a.list, "list the built-in formats");
}

void add_scoring(CLI::App* c, ScoringArgs& a) {
  c->add_option("--custom-reward", a.function, "PATH[:NAME] of a Python reward function (compute_score) for all rows");
  c->add_option("--reward-arg", a.arguments, "NAME=VALUE that it is given beside the answer");
  c->add_option("--reward-timeout", a.timeout, "seconds it has for an answer")->capture_default_str();
  c->add_flag("--run-code", a.run_code, "score the sources of prime_code by running the answers, with your rights");
}

void add_sampling(CLI::App* command, SamplingArgs& a, bool with_stops) {
  command->add_option("--top-k", a.top_k, "draw from so many of the likeliest tokens (0: all)")->capture_default_str();
  command->add_option("--top-p", a.top_p, "draw from the likeliest tokens up to this share")->capture_default_str();
  command->add_option("--min-p", a.min_p, "draw from tokens with this share of the likeliest one's probability")
      ->capture_default_str();
  command->add_option("--repetition-penalty", a.repetition_penalty, "weakens tokens of prompt and answer (1: off)")
      ->capture_default_str();
  command->add_option("--presence-penalty", a.presence_penalty, "taken off the logits of tokens of the answer")
      ->capture_default_str();
  command->add_option("--frequency-penalty", a.frequency_penalty, "the same, once for each time")
      ->capture_default_str();
  if (!with_stops) return;
  command->add_option("--min-new-tokens", a.min_new_tokens, "no answer ends before")->capture_default_str();
  command->add_option("--stop", a.stops, "an answer ends before this text (may be given several times)")
      ->allow_extra_args(false);
}

void add_serving(CLI::App& app, AllArgs& a, int& exit_code) {
  CLI::App* s = add(app, "serve", "answer requests over HTTP as OpenAI's API does", a.serve, run_serve, exit_code);
  s->add_option("model,--model", a.serve.model, "Hugging Face folder or GGUF file")->required();
  s->add_option("--served-model-name", a.serve.served_name, "what clients call the model (default: the folder)");
  s->add_option("--host", a.serve.host, "address to listen on; 0.0.0.0 is all of them")->capture_default_str();
  s->add_option("--port", a.serve.port, "0: any that is free")->capture_default_str();
  s->add_option("--api-key", a.serve.api_key, "what clients have to show (none: nothing)")->envname("HONE_API_KEY");
  s->add_option("--max-model-len", a.serve.max_model_len,
                "most tokens of prompt and answer (default: the model's context, or what the cache holds)");
  s->add_option("--max-num-seqs", a.serve.max_num_seqs, "answers that are drawn at once")->capture_default_str();
  s->add_option("--max-waiting", a.serve.max_waiting, "answers that may wait; more get 429")->capture_default_str();
  s->add_option("--kv-cache-gib", a.serve.kv_cache_gib, "most memory of the KV cache")->capture_default_str();
  s->add_option("--max-body-mib", a.serve.max_body_mib, "larger requests get 413")->capture_default_str();
  s->add_option("--max-connections", a.serve.max_connections, "clients served at once, the next ones wait")
      ->capture_default_str();
  s->add_option("--drain-seconds", a.serve.drain_seconds, "how long answers may go on after SIGTERM")
      ->capture_default_str();
  s->add_option("--chat-template", a.serve.chat_template, "in place of the model's template");
  s->add_option("--dtype", a.serve.dtype, "auto, bfloat16, float32")->capture_default_str();
  s->add_option("--seed", a.serve.seed, "of requests that bring none")->capture_default_str();
  add_threads(s, a.serve.threads);

  CLI::App* c = add(app, "chat", "a conversation in the terminal", a.chat, run_chat, exit_code);
  c->add_option("model,--model", a.chat.model, "Hugging Face folder or GGUF file")->required();
  c->add_option("--system", a.chat.system, "system text");
  c->add_option("--temperature", a.chat.temperature, "0 is greedy")->capture_default_str();
  c->add_option("--max-new-tokens", a.chat.max_new_tokens, "limit of an answer (default: what the context leaves)");
  c->add_option("--max-model-len", a.chat.max_model_len, "most tokens of the conversation")->capture_default_str();
  add_sampling(c, a.chat.sampling, true);
  c->add_option("--chat-template", a.chat.chat_template, "in place of the model's template");
  c->add_option("--arg", a.chat.arguments, "NAME=VALUE for the template, e.g. enable_thinking=false");
  c->add_option("--dtype", a.chat.dtype, "auto, bfloat16, float32")->capture_default_str();
  c->add_option("--seed", a.chat.seed, "of the samples")->capture_default_str();
  add_threads(c, a.chat.threads);
}

void add_model_commands(CLI::App& app, AllArgs& a, int& exit_code) {
  CLI::App* e = add(app, "eval", "score a model on data: mean@n and pass@k", a.eval, run_eval, exit_code);
  e->add_option("--model", a.eval.model, "Hugging Face folder or GGUF file")->required();
  e->add_option("--data", a.eval.data, "files of prompts: JSONL, JSON, Parquet")->required();
  e->add_option("--prompt-key", a.eval.prompt_key, "field of a row that holds the prompt")->capture_default_str();
  e->add_option("--answer-key", a.eval.answer_key, "... that holds the ground truth (as data.answer_key)");
  e->add_option("--data-source", a.eval.data_source, "data source of rows without such a field");
  e->add_option("--prompt-suffix", a.eval.prompt_suffix, "put behind prompts that are one text, after a blank");
  e->add_flag("--text-as-message", a.eval.text_as_message, "prompts that are one text become a message of the user");
  e->add_option("--n", a.eval.n, "samples per prompt")->capture_default_str();
  e->add_option("--temperature", a.eval.temperature, "0 is greedy (default: 0 for n = 1, else 1)");
  e->add_option("--max-new-tokens", a.eval.max_new_tokens,
                "limit of an answer (default: 512, or what the context leaves)");
  e->add_option("--max-samples", a.eval.max_samples, "first rows only (-1: all)")->capture_default_str();
  e->add_option("--max-num-seqs", a.eval.max_num_seqs, "answers in flight")->capture_default_str();
  e->add_option("--dtype", a.eval.dtype, "auto, bfloat16, float32")->capture_default_str();
  e->add_option("--speculative-tokens", a.eval.speculative_tokens,
                "most drafts of an answer in a step: faster where text repeats, the same answers (0: none)")
      ->capture_default_str();
  e->add_option("--seed", a.eval.seed, "of the samples")->capture_default_str();
  add_threads(e, a.eval.threads);
  e->add_option("--dump", a.eval.dump,
                "write every answer to this JSONL file; a stopped command goes on from FILE.part");
  e->add_flag("--json", a.eval.json, "one JSON object a data source");
  e->add_option("--chat-template", a.eval.chat_template, "for lists of messages, in place of the model's template");
  e->add_option("--arg", a.eval.arguments, "NAME=VALUE for the template, e.g. enable_thinking=false");

  add_sampling(e, a.eval.sampling, false);
  add_scoring(e, a.eval.custom);

  CLI::App* p = add(app, "compare", "two dumps of eval, sample by sample", a.compare, run_compare, exit_code);
  p->add_option("first", a.compare.first, "JSONL file of eval --dump")->required();
  p->add_option("second", a.compare.second, "that of another model on the same data")->required();
  p->add_option("--show", a.compare.show, "print so many samples whose scores differ")->capture_default_str();
  p->add_flag("--json", a.compare.json, "one JSON object a data source");

  CLI::App* g = add(app, "generate", "answer prompts", a.generate, run_generate, exit_code);
  g->add_option("--model", a.generate.model, "Hugging Face folder or GGUF file")->required();
  CLI::Option* prompts = g->add_option("prompts", a.generate.prompts, "prompts (none: one a line from standard input)");
  g->add_option("--n", a.generate.n, "samples per prompt")->capture_default_str();
  g->add_option("--temperature", a.generate.temperature, "0 is greedy")->capture_default_str();
  g->add_option("--max-new-tokens", a.generate.max_new_tokens,
                "limit of an answer (default: 128, or what the context leaves)");
  g->add_option("--dtype", a.generate.dtype, "auto, bfloat16, float32")->capture_default_str();
  g->add_option("--speculative-tokens", a.generate.speculative_tokens,
                "most drafts of an answer in a step: faster where text repeats, the same answers (0: none)")
      ->capture_default_str();
  g->add_option("--seed", a.generate.seed, "of the samples")->capture_default_str();
  add_threads(g, a.generate.threads);
  CLI::Option* chat =
      g->add_flag("--chat", a.generate.chat,
                  "prompts are what a user says, or conversations as JSON ({\"messages\": [...]} or a list)");
  g->add_option("--system", a.generate.system, "with --chat: the system text of what a user says")->needs(chat);
  g->add_option("--chat-template", a.generate.chat_template,
                "with --chat or --jsonl: in place of the model's template");
  g->add_option("--arg", a.generate.arguments, "with --chat or --jsonl: NAME=VALUE for the template");
  CLI::Option* json = g->add_flag("--json", a.generate.json, "one JSON object an answer, with ids and log-probs");
  add_sampling(g, a.generate.sampling, true);
  CLI::Option* jsonl = g->add_option("--jsonl", a.generate.jsonl,
                                     "rows with \"prompt\" or \"messages\", in place of prompts; fields of sampling "
                                     "(docs/serving.md) go before options")
                           ->excludes(prompts)
                           ->excludes(json)
                           ->excludes(chat);
  g->add_option("--output", a.generate.output, "with --jsonl: a row of answers for each; goes on where it ends")
      ->needs(jsonl);

  CLI::App* t = add(app, "tokenize", "text to ids and back", a.tokenize, run_tokenize, exit_code);
  t->add_option("--tokenizer,--model", a.tokenize.tokenizer, "folder with tokenizer.json, or GGUF file")->required();
  t->add_option("texts", a.tokenize.texts, "texts, or with --decode ids (none: standard input)");
  t->add_flag("--jsonl", a.tokenize.jsonl, "{\"text\"} lines in, {\"ids\"} lines out");
  t->add_flag("--decode", a.tokenize.decode, "ids to text; with --jsonl {\"ids\"} lines in, {\"text\"} lines out");
  t->add_flag("!--no-special", a.tokenize.allow_special,
              "text of special tokens is text like any other; with --decode they give no text");
  add_render(app, a.render, exit_code);

  CLI::App* c = add(app, "convert", "a GGUF file to a Hugging Face folder, or a model to a GGUF file", a.convert,
                    run_convert, exit_code);
  c->add_option("in", a.convert.in, "Hugging Face folder or GGUF file")->required();
  c->add_option("out", a.convert.out, "a folder that is not there yet, or FILE.gguf")->required();
  c->add_option("--outtype", a.convert.outtype, "of the matrices of the GGUF file: f16 (default), bf16, q8_0 or f32");
  c->add_flag("--force", a.convert.force, "write over a GGUF file that is there");
}

void add_score(CLI::App& app, ScoreArgs& a, int& exit_code) {
  CLI::App* s = add(app, "score", "score the answers of JSONL files, audit a scorer", a, run_score, exit_code);
  s->add_option("files", a.files, "verl's dumps of samples, or rows with an answer and a ground truth");
  s->add_option("--scorer", a.scorer, "in place of that of a row's data_source");
  s->add_option("--audit", a.audit, "another scorer, or recorded (the row's own score): show every row that differs");
  s->add_flag("--json", a.json, "one JSON object a row, and one for each data source at the end");
  add_scoring(s, a.custom);
  s->add_flag("--list", a.list, "list the scorers and their data sources");
}

void add_other_commands(CLI::App& app, AllArgs& a, int& exit_code) {
  CLI::App* data = app.add_subcommand("data", "data sets")->require_subcommand(1);
  CLI::App* m = add(*data, "make", "make a task's data: arithmetic, countdown, sorting, word_problems", a.data,
                    run_data_make, exit_code);
  m->add_option("task", a.data.task, "arithmetic, countdown, sorting or word_problems")->required();
  m->add_option("--out", a.data.out, "folder")->required();
  m->add_option("--seed", a.data.seed, "of the data")->capture_default_str();
  m->add_option("--train", a.data.train, "prompts for RL (0: the task's own number)");
  m->add_option("--held-out", a.data.held_out, "held-out prompts (0: the task's own number)");
  m->add_option("--sft", a.data.sft, "worked examples for SFT (0: the task's own number)");
  m->add_option("--digits", a.data.digits, "arithmetic: digits of the operands (3 when not given)");
  m->add_option("--difficulty", a.data.difficulty,
                "word_problems: steps, 1 to 3; countdown, sorting: 1 to 4; arithmetic: digits; one number, or a range "
                "as 1-3");
  CLI::App* p = add(*data, "prepare", "published data as rows in verl's form: gsm8k, math, dapo-math-17k, ...",
                    a.prepare, run_data_prepare, exit_code);
  p->add_option("name", a.prepare.name, "gsm8k, math, dapo-math-17k, deepscaler or aime")->required();
  p->add_option("--input", a.prepare.inputs, "files as published (JSONL, JSON, Parquet), or their folder")->required();
  p->add_option("--output", a.prepare.output, "folder for train.jsonl and test.jsonl")->required();

  add_score(app, a.score, exit_code);

  CLI::App* s = add(app, "selftest", "check this machine: kernels of every target, one policy", a.selftest,
                    run_selftest, exit_code);
  add_threads(s, a.selftest.threads);

  CLI::App* b = add(app, "bench", "benchmarks against this machine's roofs", a.bench, run_bench, exit_code);
  b->add_option("names", a.bench.names, "benchmarks (none: list them)");
  b->add_flag("--json", a.bench.json, "one JSON object a line");
  b->add_option("--dtype", a.bench.dtype, "bfloat16 or float32 (default: bfloat16 where the processor has it)");
  add_threads(b, a.bench.threads);
  b->add_option("--model", a.bench.model, "load: a model folder in place of made ones");
  b->add_option("--families", a.bench.families,
                "load: smollm2-135m, qwen2.5-0.5b, qwen3-0.6b, llama-3.2-1b, with commas (default: all)")
      ->delimiter(',');
  b->add_option("--repetitions", a.bench.repetitions, "of each timing (0: the benchmark's own)");
  b->add_option("--tokenizer", a.bench.tokenizer,
                "tokenize: folder with tokenizer.json (default: a small one made here)");
  b->add_option("--text", a.bench.text, "tokenize: JSONL or text file (default: text made here)");

  CLI::App* x = app.add_subcommand("explain", "what a metric or an option means");
  x->add_option("name", a.explained, "metric or option (none: all metrics)");
  x->callback([&] { exit_code = run_explain(a.explained); });

  CLI::App* q = add(app, "quickstart", "train a small model with SFT, then GRPO, and show what it learnt", a.quickstart,
                    run_quickstart, exit_code);
  q->add_option("--recipes", a.quickstart.recipes, "folder with the recipes")->capture_default_str();
  q->add_option("--out", a.quickstart.out, "folder of the run")->capture_default_str();
  q->add_option("--seed", a.quickstart.seed, "of data, weights and samples")->capture_default_str();
  add_threads(q, a.quickstart.threads);
  q->add_flag("--control", a.quickstart.control, "also: RL with shuffled rewards, and the same time of more SFT");
}

int run(int argc, char** argv) {
  CLI::App app("Hone: reinforcement-learning post-training for language models");
  app.name("hone");
  app.require_subcommand(1);
  app.set_version_flag("--version", "hone " HONE_VERSION);
  AllArgs args;
  int exit_code = 0;
  add_run(app, "train", "reinforcement learning (GRPO) from a recipe", args.train, run_train, exit_code);
  add_run(app, "sft", "supervised fine-tuning from a recipe", args.sft, run_sft, exit_code);
  add_model_commands(app, args, exit_code);
  add_serving(app, args, exit_code);
  add_other_commands(app, args, exit_code);
  unmark_values(app);
  if (argc > 1 && argv[1][0] != '-' &&
      app.get_subcommands([&](CLI::App* command) { return command->check_name(argv[1]); }).empty()) {
    throw Error(fmt::format("'{}' is no command of hone", argv[1]), "hone --help lists the commands");
  }
  try {
    app.parse(marked_arguments(argc, argv));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return exit_code;
}

}  // namespace
}  // namespace hone::cli

int main(int argc, char** argv) {
  hone::cli::prepare_process();
  try {
    const int exit_code = hone::cli::run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      fmt::print(stderr, "error: not everything could be written to standard output\n");
      return exit_code == 0 ? 2 : exit_code;
    }
    return exit_code;
  } catch (const hone::Error& error) {
    fmt::print(stderr, "error: {}\n", hone::io::visible_lines(error.what()));
    if (!error.hint().empty()) fmt::print(stderr, "hint: {}\n", hone::io::visible_lines(error.hint()));
    return error.exit_code();
  } catch (const std::filesystem::filesystem_error& error) {
    fmt::print(stderr, "error: {}\nhint: look at the folder's rights and the space on the disk\n", error.what());
    return 2;
  } catch (const std::system_error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: out of memory\nhint: use a smaller model, batch or token budget\n");
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bug in hone: {}\n", error.what());
    return 1;
  }
}
