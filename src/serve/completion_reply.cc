#include "serve/completion_reply.h"

#include <atomic>
#include <ctime>
#include <utility>

namespace hone::serve {

namespace {

constexpr std::chrono::milliseconds kPatience{50};  // between two looks at whether the client is still there

std::string new_id(bool is_chat) {
  static std::atomic<uint64_t> number{0};  // names are for people and logs alone
  return fmt::format("{}-{:x}{:08x}", is_chat ? "chatcmpl" : "cmpl", std::time(nullptr), number++);
}

}  // namespace

CompletionReply::CompletionReply(CompletionRequest request, std::shared_ptr<EngineJob> job, const Tokenizer& tokenizer,
                                 std::string model)
    : request_(std::move(request)),
      job_(std::move(job)),
      tokenizer_(tokenizer),
      model_(std::move(model)),
      id_(new_id(request_.is_chat)),
      created_(std::time(nullptr)),
      num_open_(static_cast<size_t>(job_->num_answers())) {
  for (size_t c = 0; c < num_open_; ++c) {
    choices_.push_back(std::make_unique<Choice>(Choice{AnswerText(tokenizer, job_->sampling), {}, {}, {}}));
    choices_.back()->chat_logprobs = io::Json::array();
  }
}

CompletionReply::~CompletionReply() {
  if (!ended_) job_->queue->leave();
}

int64_t CompletionReply::num_completion_tokens() const {
  int64_t sum = 0;
  for (const auto& choice : choices_) sum += choice->text.num_ids();
  return sum;
}

io::Json CompletionReply::head() const {
  io::Json json = io::Json::object();
  json.set("id", id_);
  const char* whole = request_.is_chat ? "chat.completion" : "text_completion";
  json.set("object", request_.is_chat && request_.stream ? "chat.completion.chunk" : whole);
  json.set("created", created_);
  json.set("model", model_);
  return json;
}

io::Json CompletionReply::usage() const {
  int64_t prompt = 0;
  for (const Prompt& p : job_->prompts) prompt += static_cast<int64_t>(p.ids.size());
  return io::Json::object({{"prompt_tokens", prompt},
                           {"completion_tokens", num_completion_tokens()},
                           {"total_tokens", prompt + num_completion_tokens()}});
}

std::string CompletionReply::echoed(size_t choice) const {
  return request_.echo ? job_->prompts[choice / static_cast<size_t>(job_->n)].text : std::string();
}

void CompletionReply::send_event(std::string& out, io::Json::Array choices) const {
  io::Json event = head();
  event.set("choices", std::move(choices));
  if (request_.include_usage) event.set("usage", nullptr);
  out += "data: " + event.dump() + "\n\n";
}

CompletionReply::State CompletionReply::next(std::string& out) {
  if (!begun_ && request_.stream) {
    for (size_t c = 0; c < choices_.size(); ++c) {
      io::Json choice = io::Json::object({{"index", static_cast<int64_t>(c)}});
      if (request_.is_chat) {
        choice.set("delta", io::Json::object({{"role", "assistant"}, {"content", ""}}));
      } else if (request_.echo) {
        choice.set("text", echoed(c));
      } else {
        continue;
      }
      choice.set("logprobs", nullptr);
      choice.set("finish_reason", nullptr);
      send_event(out, {std::move(choice)});
    }
  }
  begun_ = true;
  bool closed = false;
  for (const AnswerPiece& piece : job_->queue->take(kPatience, closed)) {
    if (request_.stream) {
      stream_piece(out, piece);
    } else {
      keep_piece(piece);
    }
    if (piece.finish) --num_open_;
  }
  if (num_open_ == 0) {
    end(out);
    ended_ = true;
    return State::done;
  }
  if (!closed) return State::more;
  ended_ = true;
  if (request_.stream) {
    const io::Json error = io::Json::object({{"message", job_->queue->failure()}, {"type", "server_error"}});
    out += "data: " + io::Json::object({{"error", error}}).dump() + "\n\n";
  }
  return State::failed;
}

void CompletionReply::stream_piece(std::string& out, const AnswerPiece& piece) {
  Choice& choice = *choices_[static_cast<size_t>(piece.choice)];
  const std::string text = choice.text.push(piece);
  if (text.empty() && !request_.logprobs && !piece.finish) return;
  io::Json json = io::Json::object({{"index", int64_t{piece.choice}}});
  if (request_.is_chat) {
    io::Json delta = io::Json::object();
    if (!text.empty()) delta.set("content", text);
    json.set("delta", std::move(delta));
    json.set("logprobs", request_.logprobs
                             ? io::Json::object({{"content", io::Json::array({chat_logprob(tokenizer_, piece)})}})
                             : io::Json());
  } else {
    json.set("text", text);
    if (request_.logprobs) choice.logprobs.add(tokenizer_, piece);
    json.set("logprobs", request_.logprobs ? choice.logprobs.take() : io::Json());
  }
  json.set("finish_reason", choice.text.finish_reason());
  send_event(out, {std::move(json)});
}

void CompletionReply::keep_piece(const AnswerPiece& piece) {
  Choice& choice = *choices_[static_cast<size_t>(piece.choice)];
  choice.whole += choice.text.push(piece);
  if (!request_.logprobs) return;
  if (request_.is_chat) {
    choice.chat_logprobs.push_back(chat_logprob(tokenizer_, piece));
  } else {
    choice.logprobs.add(tokenizer_, piece);
  }
}

void CompletionReply::end(std::string& out) {
  if (request_.stream) {
    if (request_.include_usage) {
      io::Json event = head();
      event.set("choices", io::Json::array());
      event.set("usage", usage());
      out += "data: " + event.dump() + "\n\n";
    }
    out += "data: [DONE]\n\n";
    return;
  }
  io::Json choices = io::Json::array();
  for (size_t c = 0; c < choices_.size(); ++c) {
    Choice& choice = *choices_[c];
    io::Json json = io::Json::object({{"index", static_cast<int64_t>(c)}});
    if (request_.is_chat) {
      json.set("message", io::Json::object({{"role", "assistant"}, {"content", choice.whole}}));
      json.set("logprobs",
               request_.logprobs ? io::Json::object({{"content", std::move(choice.chat_logprobs)}}) : io::Json());
    } else {
      json.set("text", echoed(c) + choice.whole);
      json.set("logprobs", request_.logprobs ? choice.logprobs.take() : io::Json());
    }
    json.set("finish_reason", choice.text.finish_reason());
    choices.push_back(std::move(json));
  }
  io::Json reply = head();
  reply.set("choices", std::move(choices));
  reply.set("usage", usage());
  out += reply.dump();
}

}  // namespace hone::serve
