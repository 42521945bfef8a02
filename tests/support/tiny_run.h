// Tiny runs of `hone train` and `hone sft`, and all of a run that law 3 promises to be the same.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "io/json.h"
#include "loop/checkpoint.h"
#include "loop/metrics.h"
#include "support/command.h"
#include "support/tiny_model.h"
#include "text/character_tokenizer.h"

namespace hone::test {

using Arguments = std::vector<std::string>;

inline Arguments operator+(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// FOLDER/model, FOLDER/train.jsonl, FOLDER/val.jsonl, FOLDER/sft.jsonl: sums of numbers of one digit.
inline void write_tiny_inputs(const std::string& folder, int64_t train = 10, int64_t val = 4, int64_t sft = 10,
                              uint64_t seed = 1) {
  write_tiny_model(folder + "/model", 5);
  ArithmeticOptions task;
  task.digits = 1;
  task.sizes = {train, val, sft};
  task.seed = seed;
  write_task(folder, make_arithmetic(task));
}

// A model that can learn the sums: wide enough, and not sure of anything at the start.
inline ModelConfig learning_config() {
  ModelConfig config = tiny_config();
  config.hidden_size = 32;
  config.intermediate_size = 64;
  config.num_kv_heads = 4;
  config.initializer_range = 0.08f;
  return config;
}

// FOLDER: a model whose characters are enough for ChatML, which its tokenizer has as special tokens.
inline void write_chat_model(const std::string& folder, int64_t max_position_embeddings = 128) {
  ModelConfig config = tiny_config();
  config.vocab_size = 64;
  config.max_position_embeddings = max_position_embeddings;
  write_tiny_model(folder, 5, config);
  write_character_tokenizer(folder, "abcdefghijklmnopqrstuvwxyz0123456789+-= \n<|>_/", {"<|im_start|>", "<|im_end|>"},
                            "<|im_end|>");
  io::write_file(folder + "/generation_config.json", "{\"eos_token_id\": 47}\n");
}

// The prompts of one file with their results as right answers, as rows for SFT.
inline void write_answers(const std::string& prompts_file, const std::string& file) {
  std::string rows;
  std::istringstream prompts(io::read_file(prompts_file));
  for (std::string line; std::getline(prompts, line);) {
    const io::Json row = io::parse_json(line, prompts_file);
    rows += io::Json::object({{"prompt", row.at("prompt")},
                              {"response", "=" + row.at("reward_model").at("ground_truth").as_string()}})
                .dump() +
            "\n";
  }
  io::write_file(file, rows);
}

// `hone train` on them, four prompts of three answers a step in two updates.
inline Arguments tiny_train(const std::string& inputs, const std::string& run) {
  return {"train",
          "--quiet",
          "data.train_files=" + inputs + "/train.jsonl",
          "data.max_prompt_length=8",
          "data.max_response_length=12",
          "data.train_batch_size=4",
          "actor_rollout_ref.model.path=" + inputs + "/model",
          "actor_rollout_ref.actor.ppo_mini_batch_size=2",
          "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=40",
          "actor_rollout_ref.actor.entropy_coeff=0.01",
          "actor_rollout_ref.actor.optim.lr=1e-2",
          "actor_rollout_ref.rollout.n=3",
          "actor_rollout_ref.rollout.dtype=float32",
          "actor_rollout_ref.rollout.max_num_batched_tokens=48",
          "trainer.num_threads=1",
          "trainer.default_local_dir=" + run};
}

inline Arguments tiny_sft(const std::string& inputs, const std::string& run) {
  return {"sft",
          "--quiet",
          "data.train_files=" + inputs + "/sft.jsonl",
          "data.prompt_key=prompt",
          "data.response_key=response",
          "data.train_batch_size=4",
          "data.max_length=24",
          "data.max_token_len_per_gpu=40",
          "model.partial_pretrain=" + inputs + "/model",
          "model.dtype=float32",
          "optim.lr=1e-2",
          "trainer.num_threads=1",
          "trainer.default_local_dir=" + run};
}

// Whole lines of a file that may be in the making; -1: there is none.
inline int64_t num_lines(const std::string& path) {
  if (!io::exists(path)) return -1;
  const std::string text = io::read_file(path);
  return std::count(text.begin(), text.end(), '\n');
}

// Metrics lines without the clock fields.
inline std::vector<std::string> metrics_of(const std::string& run) {
  std::vector<std::string> lines;
  std::istringstream text(io::read_file(run + "/metrics.jsonl"));
  for (std::string line; std::getline(text, line);) {
    io::Json kept = io::Json::object();
    const io::Json all = io::parse_json(line, "metrics.jsonl");
    for (const auto& [key, value] : all.as_object()) {
      if (!is_clock_metric(key)) kept.set(key, value);
    }
    lines.push_back(kept.dump());
  }
  return lines;
}

// One metric of every line that has it.
inline std::vector<double> metric(const std::string& run, const std::string& name) {
  std::vector<double> values;
  for (const std::string& line : metrics_of(run)) {
    const io::Json json = io::parse_json(line, "metrics.jsonl");
    if (const io::Json* value = json.find(name); value != nullptr) values.push_back(value->as_double());
  }
  return values;
}

// The samples of a step, in the order of draws.
inline std::vector<io::Json> rollouts_of(const std::string& run, int64_t step) {
  const std::string path = fmt::format("{}/rollouts/{}.jsonl", run, step);
  std::vector<io::Json> rows;
  std::istringstream text(io::read_file(path));
  for (std::string line; std::getline(text, line);) rows.push_back(io::parse_json(line, path));
  return rows;
}

inline std::string last_checkpoint(const std::string& run) {
  const std::vector<int64_t> steps = list_checkpoints(run + "/checkpoints");
  return steps.empty() ? "" : checkpoint_path(run + "/checkpoints", steps.back());
}

// What must be the same for any threads, and after any kills: name -> bytes.
inline std::map<std::string, std::string> bits_of(const std::string& run) {
  std::map<std::string, std::string> bits;
  const std::string checkpoint = last_checkpoint(run);
  bits["checkpoint"] = std::filesystem::path(checkpoint).filename().string();
  for (const char* name : {"training_state/optimizer.safetensors", "training_state/state.json"}) {
    bits[name] = io::read_file(checkpoint + "/" + name);
  }
  // the weights, or the adapters that are trained in their place
  const char* weights =
      io::exists(checkpoint + "/adapter_config.json") ? "adapter_model.safetensors" : "model.safetensors";
  bits[weights] = io::read_file(checkpoint + "/" + weights);
  for (const char* name :
       {"training_state/answer_lengths.json", "training_state/unfinished.json", "training_state/early_stopping.json",
        "training_state/kl_controller.json", "training_state/critic/model.safetensors",
        "training_state/critic/optimizer.safetensors", "training_state/critic/state.json"}) {
    if (io::exists(checkpoint + "/" + name)) bits[name] = io::read_file(checkpoint + "/" + name);
  }
  int64_t number = 0;
  for (const std::string& line : metrics_of(run)) bits["metrics line " + std::to_string(number++)] = line;
  for (const std::string folder : {"/rollouts", "/validation"}) {
    if (!io::is_folder(run + folder)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(run + folder)) {
      bits[folder + "/" + entry.path().filename().string()] = io::read_file(entry.path().string());
    }
  }
  return bits;
}

// Names of what differs, for a short message.
inline std::string difference(const std::map<std::string, std::string>& a,
                              const std::map<std::string, std::string>& b) {
  std::string names;
  for (const auto& [name, bytes] : a) {
    const auto other = b.find(name);
    if (other == b.end()) names += name + " is missing; ";
    if (other != b.end() && other->second != bytes) names += name + " differs; ";
  }
  for (const auto& [name, bytes] : b) {
    if (!a.contains(name)) names += name + " is new; ";
  }
  return names;
}

}  // namespace hone::test
