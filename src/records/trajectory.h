// Trajectory: one sampled answer with everything later stages need, so that nothing is recomputed from text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "records/prompt.h"

namespace hone {

// end = an end id was drawn (it is the last id), stop = a stop text was completed, length = a limit was reached,
// aborted = taken back before it ended.
enum class FinishReason { end, stop, length, aborted };
const char* name(FinishReason reason);
std::optional<FinishReason> find_finish_reason(std::string_view name);

// What a scorer reports beside its number (verl's reward extra info). Two names have a meaning: `acc` is what
// validation calls the core variable, `pred` the answer that maj@N votes on.
struct ScoreExtra {
  std::string name;
  std::variant<double, std::string> value;
};

// What a scorer finds. undecided = the answer and the ground truth could not be compared within the limits.
enum class Verdict { right, wrong, no_answer, undecided };
const char* name(Verdict verdict);

// A number or *absent* (never 0 in its place), with the reason, and where a scorer judges an answer its verdict.
struct Score {
  std::optional<float> value;
  std::string reason;
  std::vector<ScoreExtra> extras = {};
  std::optional<Verdict> verdict = {};
};

// Where it stands beside the reward: one that is called "reward" is "extra_reward" there.
std::string shown_name(const ScoreExtra& extra);
const ScoreExtra* find_extra(const Score& score, std::string_view name);  // nullptr: the scorer does not report it

struct TokenLogprob {
  int32_t id = 0;
  float logprob = 0;
};

struct Trajectory {
  uint64_t draw = 0;
  uint32_t sample = 0;  // index in its group
  std::vector<int32_t> prompt_ids;
  std::vector<int32_t> response_ids;       // exactly the sampled ids, the end id included
  std::vector<float> logprobs;             // one for each response id, of the distribution drawn from
  std::vector<int32_t> versions;           // policy version that drew each response id
  std::vector<TokenLogprob> top_logprobs;  // [response, as many as were asked for], likeliest first
  float temperature = 1.0f;
  FinishReason finish = FinishReason::aborted;
  bool capped = false;  // by early stop: the limit reached (FinishReason::length) is not that of every answer
  std::string response_text;
  Score score;
  std::optional<float> reward;  // what advantages are made from: the score as shaped; absent where that is
  // What training makes of it; all are [response ids], or empty.
  std::vector<float> token_rewards;  // beside the reward, as of KL in the reward
  std::vector<float> values;         // a critic's, of the states that the ids were drawn in
  float advantage = 0;               // of every id
  std::vector<float> advantages;     // where they differ
  std::vector<float> returns;        // where they are not the advantages
  std::vector<float> ref_logprobs;   // of the reference policy, if there is one
  std::vector<float>
      old_logprobs;                // of the policy at the step's beginning, where that is not the one that drew all ids
  std::vector<uint8_t> loss_mask;  // 1: with loss; empty: all
  std::vector<float> weights;      // importance weights of a rollout correction; empty: 1

  bool has_loss(size_t id) const { return loss_mask.empty() || loss_mask[id] != 0; }
  // Response ids with loss.
  int64_t num_loss() const;
  // What ratios are measured against: old_logprobs, else those drawn with.
  const std::vector<float>& effective_old_logprobs() const { return old_logprobs.empty() ? logprobs : old_logprobs; }
};

// All samples of one draw, in the order of `sample`.
struct Group {
  DrawnPrompt drawn;
  std::vector<Trajectory> trajectories;
  std::optional<float> baseline = {};  // reward of the greedy answer to the prompt (ReMax)
};

}  // namespace hone
