// CompletionReply: what one completion request answers, piece by piece: server-sent events, or one JSON object at the
// end. It belongs to the thread that sends it; when it goes before its end, the engine is told that the client left.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "serve/answer_text.h"
#include "serve/completion_request.h"
#include "serve/engine_thread.h"

namespace hone::serve {

class CompletionReply {
 public:
  // `job` has been submitted. The tokenizer outlives this. `model` is the name that the client knows.
  CompletionReply(CompletionRequest request, std::shared_ptr<EngineJob> job, const Tokenizer& tokenizer,
                  std::string model);
  ~CompletionReply();
  CompletionReply(const CompletionReply&) = delete;
  CompletionReply& operator=(const CompletionReply&) = delete;

  enum class State { more, done, failed };
  // Appends what can be sent now, after waiting a little when there is nothing. `failed`: the engine has stopped; what
  // was sent so far is not a whole reply.
  State next(std::string& out);
  int64_t num_completion_tokens() const;

 private:
  struct Choice {
    AnswerText text;
    std::string whole;  // of replies that are no stream
    io::Json chat_logprobs = io::Json::array();
    CompletionLogprobs logprobs;
  };
  io::Json head() const;
  io::Json usage() const;
  void send_event(std::string& out, io::Json::Array choices) const;
  void stream_piece(std::string& out, const AnswerPiece& piece);
  void keep_piece(const AnswerPiece& piece);
  void end(std::string& out);
  std::string echoed(size_t choice) const;

  CompletionRequest request_;
  std::shared_ptr<EngineJob> job_;
  const Tokenizer& tokenizer_;
  std::string model_, id_;
  int64_t created_;
  std::vector<std::unique_ptr<Choice>> choices_;
  size_t num_open_;
  bool begun_ = false, ended_ = false;
};

}  // namespace hone::serve
