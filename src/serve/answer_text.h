// AnswerText: one choice of a completion as its ids come: text, usage, and what log-probs say of each id.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/json.h"
#include "rollout/sequence.h"
#include "serve/answer_queue.h"

namespace hone::serve {

class AnswerText {
 public:
  // The sampling and the tokenizer outlive this.
  AnswerText(const Tokenizer& tokenizer, const SamplingParams& sampling)
      : tokenizer_(tokenizer), sampling_(sampling), search_(tokenizer, sampling.stops, sampling.min_new_tokens) {}

  // The text that has become certain with this id: valid UTF-8, without stop texts and end ids.
  std::string push(const AnswerPiece& piece);
  int64_t num_ids() const { return num_ids_; }
  // "stop", "length", or null while it goes on.
  const io::Json& finish_reason() const { return finish_reason_; }

 private:
  bool is_text(const AnswerPiece& piece) const;

  const Tokenizer& tokenizer_;
  const SamplingParams& sampling_;
  StopText search_;
  int64_t num_ids_ = 0;
  io::Json finish_reason_;
};

// An entry of choices[].logprobs.content of a chat.
io::Json chat_logprob(const Tokenizer& tokenizer, const AnswerPiece& piece);

// choices[].logprobs of a completion. `text_offset`: code points before the first id.
class CompletionLogprobs {
 public:
  void add(const Tokenizer& tokenizer, const AnswerPiece& piece);
  // What has been added since the last call.
  io::Json take();

 private:
  io::Json tokens_ = io::Json::array(), logprobs_ = io::Json::array(), top_ = io::Json::array(),
           offsets_ = io::Json::array();
  int64_t offset_ = 0;
};

}  // namespace hone::serve
