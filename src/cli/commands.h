// The commands: what main.cc parses for each, and the function that runs it. Every function returns an exit code and
// raises Error for what the user can mend.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "serve/serve.h"

namespace hone::cli {

struct RunArgs {                       // train and sft
  std::string recipe;                  // YAML file; may be empty
  std::vector<std::string> overrides;  // key=value
  bool help_config = false;            // list options; `overrides` then holds what to look for
  bool help_markdown = false;          // the same as a page of docs/
  bool list_config = false;            // "CLASS key", one a line
  bool print_config = false;           // the effective options, then stop
  std::string cfg;                     // Hydra's --cfg job: the same
  bool check_only = false;             // stop after every check, before the model is loaded
  bool quiet = false;
};
int run_train(const RunArgs& args);
int run_sft(const RunArgs& args);

struct SamplingArgs {  // eval, generate and chat
  int64_t top_k = 0;
  double top_p = 1, min_p = 0;
  double repetition_penalty = 1, presence_penalty = 0, frequency_penalty = 0;
  int64_t min_new_tokens = 0;      // generate and chat
  std::vector<std::string> stops;  // generate and chat
};

struct ScoringArgs {                   // eval and score
  std::string function;                // PATH[:NAME]; empty: none
  std::vector<std::string> arguments;  // NAME=VALUE
  double timeout = 60;                 // seconds for an answer
  bool run_code = false;               // answers of prime_code may run as programs
};

struct EvalArgs {
  std::string model, dump;
  std::string chat_template;           // in place of the model's
  std::vector<std::string> arguments;  // name=value for the template
  std::vector<std::string> data;
  std::string prompt_key = "prompt", answer_key, data_source, prompt_suffix;  // of rows, as the recipe's
  bool text_as_message = false;
  int64_t n = 1, max_samples = -1, max_num_seqs = 256;
  std::optional<int64_t> max_new_tokens;  // default: 512, or what the model's context leaves
  std::optional<double> temperature;      // default: 0 (greedy) for n = 1, else 1
  int64_t speculative_tokens = 0;
  std::string dtype = "auto";
  uint64_t seed = 1;
  int threads = 0;
  bool json = false;
  SamplingArgs sampling;
  ScoringArgs custom;
};
int run_eval(const EvalArgs& args);

struct CompareArgs {  // dumps of eval
  std::string first, second;
  int64_t show = 0;  // samples of another score
  bool json = false;
};
int run_compare(const CompareArgs& args);

struct GenerateArgs {
  std::string model;
  bool chat = false;  // prompts are what a user says, or conversations as JSON
  std::string system, chat_template;
  std::vector<std::string> arguments;  // name=value for the template
  std::vector<std::string> prompts;    // none: lines of standard input
  int64_t n = 1;
  std::optional<int64_t> max_new_tokens;  // default: 128, or what the model's context leaves
  double temperature = 1.0;
  int64_t speculative_tokens = 0;
  std::string dtype = "auto";
  uint64_t seed = 1;
  int threads = 0;
  bool json = false;
  SamplingArgs sampling;
  std::string jsonl, output;  // rows in and out
};
int run_generate(const GenerateArgs& args);

struct ChatArgs {
  std::string model, system, chat_template;
  std::vector<std::string> arguments;     // name=value for the template
  std::optional<int64_t> max_new_tokens;  // default: what the context leaves
  double temperature = 1.0;
  int64_t max_model_len = 4096;  // less where the model's context is
  std::string dtype = "auto";
  uint64_t seed = 1;
  int threads = 0;
  SamplingArgs sampling;
};
int run_chat(const ChatArgs& args);

int run_serve(const serve::ServeOptions& options);

struct TokenizeArgs {
  std::string tokenizer;
  std::vector<std::string> texts;  // none: standard input
  bool jsonl = false;              // {"text"} lines in, {"ids"} lines out
  bool decode = false;             // the other way: ids in, text out
  bool allow_special = true;       // decoding: show them
};
int run_tokenize(const TokenizeArgs& args);

struct ConvertArgs {
  std::string in, out;  // one of them ends with .gguf
  std::string outtype;  // of a GGUF file that is written; empty: f16
  bool force = false;   // over a GGUF file that is there
};
int run_convert(const ConvertArgs& args);

struct RenderArgs {
  std::string tokenizer, chat_template;
  std::vector<std::string> files;      // JSONL rows (none: `user`, or standard input)
  std::string system, user;            // a conversation from the command line
  std::string tools;                   // JSON file
  std::vector<std::string> arguments;  // name=value for the template
  // default: open an assistant's turn unless the last message is one
  bool generation_prompt = false, no_generation_prompt = false;
  bool continue_final_message = false;
  std::string loss = "all";  // or "last": the assistant's turns with loss
  std::string date;
  int64_t max_rows = -1;
  bool json = false, text = false, list = false;
};
int run_render(const RenderArgs& args);

struct DataMakeArgs {
  std::string task, out;
  uint64_t seed = 1;
  int64_t train = 0, held_out = 0, sft = 0;  // 0: the task's own
  std::optional<int> digits;                 // of arithmetic: another name of its difficulty
  std::string difficulty;                    // empty: the task's own
};
int run_data_make(const DataMakeArgs& args);

struct DataPrepareArgs {
  std::string name, output;
  std::vector<std::string> inputs;
};
int run_data_prepare(const DataPrepareArgs& args);

struct ScoreArgs {
  std::vector<std::string> files;
  std::string scorer;  // in place of that of the data source
  std::string audit;   // another scorer, or "recorded"
  bool json = false, list = false;
  ScoringArgs custom;  // of all rows
};
int run_score(const ScoreArgs& args);

struct SelftestArgs {
  int threads = 0;
};
int run_selftest(const SelftestArgs& args);

struct BenchArgs {
  std::vector<std::string> names;
  bool json = false;
  std::string dtype, tokenizer, text;
  int threads = 0, repetitions = 0;
  std::string model;                  // load
  std::vector<std::string> families;  // load
};
int run_bench(const BenchArgs& args);

// A metric, or an option of train and sft; empty: all metrics.
int run_explain(const std::string& name);

struct QuickstartArgs {
  std::string recipes = "recipes/quickstart", out = "runs/quickstart";
  uint64_t seed = 1;
  int threads = 0;
  bool control = false;
};
int run_quickstart(const QuickstartArgs& args);

}  // namespace hone::cli
