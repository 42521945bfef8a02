// Sequence: the state of one sample while it is drawn; SequenceGroup: the samples of one draw, which share a prompt.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/random.h"
#include "kernels/filter.h"
#include "records/prompt.h"
#include "records/unfinished.h"
#include "rollout/stop_text.h"

namespace hone {

constexpr int kMaxTopLogprobs = 20;

// How the samples of one draw are drawn. Training needs temperature > 0.
struct SamplingParams {
  float temperature = 1.0f;      // 0: greedy, for evaluation; log-probs are then those at temperature 1
  int64_t max_new_tokens = 256;  // 0: the answer is empty
  std::vector<int32_t> end_ids;  // any of them ends an answer and is its last id
  bool ignore_eos = false;       // every answer gets max_new_tokens ids
  RandomKey key;                 // random number: (key, draw, sample, index in the response)
  int64_t valid_vocab = 0;       // ids the tokenizer knows, others are never drawn; 0: every row of the head

  // For serving and evaluation: these change the distribution. Log-probs stay those of the plain one
  // (kernels/filter.h).
  kernels::Filter filter;
  int64_t min_new_tokens = 0;            // no end id, stop id or stop text before so many ids
  std::vector<int32_t> stop_ids;         // as end_ids, but with FinishReason::stop, and whatever ignore_eos says
  std::vector<std::string> stops;        // texts that end an answer; the ids through the one that completes it are kept
  const Tokenizer* tokenizer = nullptr;  // of `stops`; outlives the answer
  int num_top_logprobs = 0;              // so many likeliest ids beside each id drawn
  std::optional<uint64_t> key_draw;      // in place of the draw in random numbers: the same answers under another draw

  bool bans(int64_t num_response) const { return num_response < min_new_tokens; }
  bool is_filtered(int64_t num_response) const { return filter.penalises() || filter.cuts() || bans(num_response); }
};

struct GroupDrafts;  // the speculator's
struct SequenceGroup;
enum class SequenceState { waiting, running, finished };

struct Sequence {
  SequenceGroup* group = nullptr;
  uint32_t sample = 0;  // index in the group
  SequenceState state = SequenceState::waiting;
  std::vector<int32_t> ids;  // the prompt, then what has been drawn
  int64_t num_prompt = 0;
  int64_t num_cached = 0;            // leading ids whose keys and values are in the blocks
  std::vector<int32_t> block_table;  // blocks in the order of positions
  int64_t num_known_blocks = 0;      // leading ones that are in the prefix cache
  std::vector<int32_t> draft;        // ids that this step computes after the last one, kept as far as they are drawn
  std::vector<float> logprobs;       // [response]
  std::vector<int32_t> versions;     // [response]
  std::vector<TokenLogprob> top_logprobs;  // [response, num_top_logprobs]
  std::optional<StopText> stop_text;       // where there are stop texts
  FinishReason finish = FinishReason::aborted;

  int64_t num_ids() const { return static_cast<int64_t>(ids.size()); }
  int64_t num_response() const { return num_ids() - num_prompt; }
  int64_t num_uncached() const { return num_ids() - num_cached; }
};

struct SequenceGroup {
  DrawnPrompt drawn;
  SamplingParams sampling;
  int32_t adapter = 0;              // part of the key of the prefix cache; there is none but 0 yet
  std::vector<Sequence> sequences;  // never resized: others point into it
  int64_t num_unfinished = 0;
  std::shared_ptr<GroupDrafts> drafts;  // once one of them has drawn with speculation
};

// What a sequence has become; its numbers move out.
Trajectory take_trajectory(Sequence& sequence);
UnfinishedSample take_unfinished(Sequence& sequence);
// A sequence that has nothing but its prompt gets what the sample had when it was taken back.
void restore(Sequence& sequence, const UnfinishedSample& sample);

}  // namespace hone
