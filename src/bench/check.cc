#include "bench/check.h"

#include <unistd.h>

#include <filesystem>

#include "bench/timing.h"
#include "bench/word_problems.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/json.h"
#include "io/system_calls.h"
#include "loop/grpo_inputs.h"

namespace hone::bench {

namespace {

constexpr int64_t kCheckedRows = 10'000;

// A folder of this process with a model of random weights and the rows; removed with the object.
class Inputs {
 public:
  explicit Inputs(const std::string& tokenizer_folder)
      : folder_((std::filesystem::temp_directory_path() / fmt::format("hone-bench-check-{}", ::getpid())).string()) {
    io::make_folders(folder_);
    if (tokenizer_folder.empty()) {
      io::write_json(path("tokenizer.json"), train_word_problem_tokenizer());
    } else {
      io::write_file(path("tokenizer.json"), io::read_file(io::join_path(tokenizer_folder, "tokenizer.json")));
    }
    io::write_file(path("generation_config.json"), "{\"eos_token_id\": 0}\n");
    io::Json config = io::Json::object({{"architectures", io::Json::array({"Qwen3ForCausalLM"})}});
    config.set("vocab_size", int64_t{Tokenizer::load(folder_).vocab_size()});
    for (const char* key : {"hidden_size", "intermediate_size", "head_dim"}) config.set(key, 64);
    for (const char* key : {"num_hidden_layers", "num_attention_heads", "num_key_value_heads"}) config.set(key, 1);
    io::write_json(path("config.json"), config);
    const std::vector<std::string> problems = make_word_problems(kCheckedRows * 300);
    std::string rows;
    for (int64_t i = 0; i < kCheckedRows; ++i) {
      io::Json row = io::Json::object({{"data_source", "openai/gsm8k"}});
      row.set("prompt", problems[static_cast<size_t>(i) % problems.size()]);
      row.set("ability", "math");
      row.set("reward_model", io::Json::object({{"style", "rule"}, {"ground_truth", "72"}}));
      row.set("extra_info", io::Json::object({{"split", "train"}, {"index", i}}));
      rows += row.dump() + "\n";
    }
    row_bytes_ = static_cast<int64_t>(rows.size());
    io::write_file(path("train.jsonl"), rows);
  }
  ~Inputs() { io::remove_tree(folder_); }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  std::string path(const std::string& name) const { return io::join_path(folder_, name); }
  int64_t row_bytes() const { return row_bytes_; }
  Recipe recipe() const {
    Recipe recipe;
    recipe.model.path = folder_;
    recipe.model.load_format = "dummy";
    recipe.data.train_files = {path("train.jsonl")};
    recipe.data.max_prompt_length = 1024;
    recipe.data.max_response_length = 64;
    recipe.rollout.max_num_seqs = 8;
    recipe.trainer.default_local_dir = path("run");
    return recipe;
  }

 private:
  std::string folder_;
  int64_t row_bytes_ = 0;
};

}  // namespace

int run_check(const Options& options) {
  const Inputs inputs(options.tokenizer);
  const Recipe recipe = inputs.recipe();
  std::vector<double> whole, tokenizer;
  int64_t ids = 0;
  for (int i = 0; i < std::max(1, options.repetitions); ++i) {
    tokenizer.push_back(seconds_of([&] { Tokenizer::load(recipe.model.path); }));
    whole.push_back(seconds_of([&] {
      const GrpoInputs loaded = load_grpo_inputs(recipe, DType::f32, {.check_only = true, .quiet = true});
      ids = 0;
      for (const Prompt& prompt : loaded.train) ids += static_cast<int64_t>(prompt.ids.size());
    }));
  }
  const double seconds = median(whole), load_seconds = median(tokenizer);
  if (options.json) {
    io::Json line = io::Json::object({{"name", "check"}});
    line.set("rows", kCheckedRows);
    line.set("row_bytes", inputs.row_bytes());
    line.set("ids", ids);
    line.set("tokenizer", options.tokenizer.empty() ? "made" : options.tokenizer);
    line.set("seconds", seconds);
    line.set("tokenizer_seconds", load_seconds);
    options.print(line.dump());
  } else {
    options.print(fmt::format("check        {} rows, {:.1f} MB, {} ids: {:.3f} s, of which {:.3f} s for tokenizer.json",
                              kCheckedRows, static_cast<double>(inputs.row_bytes()) * 1e-6, ids, seconds,
                              load_seconds));
  }
  return 0;
}

}  // namespace hone::bench
