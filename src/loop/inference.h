// What `hone eval`, `generate` and the quickstart share: a model folder ready to draw from.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "loop/evaluate.h"
#include "models/decoder.h"
#include "rollout/engine.h"
#include "text/end_ids.h"
#include "text/tokenizer.h"

namespace hone {

// The limit of an answer: what is wanted, or `fallback` where nothing is, cut to what the context of the model in the
// folder leaves beside the longest prompt. Raises Error when more is wanted than it leaves.
int64_t answer_limit(int64_t context, std::optional<int64_t> wanted, int64_t fallback, int64_t longest_prompt);
int64_t answer_limit(const std::string& folder, std::optional<int64_t> wanted, int64_t fallback,
                     std::span<const Prompt> prompts);

// Raises Error unless the temperature is 0 (greedy) or between 1e-4 and 1e4.
void check_temperature(double temperature);

class Inference {
 public:
  // `tokenizer`: of the folder, which the prompts were encoded with. threads 0: one for each core. Room for the longest
  // of the prompts and its answer. Up to num_speculative_tokens drafts of an answer in a step (0: no speculation).
  // Raises Error as loading does, and when the memory does not suffice.
  Inference(const std::string& folder, Tokenizer tokenizer, const std::string& dtype, int threads, int64_t max_num_seqs,
            std::span<const Prompt> prompts, int64_t max_new_tokens, int64_t num_speculative_tokens = 0);
  // The same with an engine as the model and the compute dtype allow.
  using ChooseEngine = std::function<EngineOptions(const ModelConfig&, DType)>;
  Inference(const std::string& folder, Tokenizer tokenizer, const std::string& dtype, int threads,
            const ChooseEngine& choose);

  const Tokenizer& tokenizer() const { return tokenizer_; }
  const std::vector<int32_t>& end_ids() const { return end_ids_.ids; }
  const std::string& end_note() const {
    return end_ids_.note;
  }  // for the user, where end ids are not as they should be
  Engine& engine() { return *engine_; }

 private:
  kernels::Context ctx_;
  Tokenizer tokenizer_;
  EndIds end_ids_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace hone
