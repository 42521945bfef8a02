#include "serve/answer_text.h"

#include <algorithm>
#include <utility>

#include "text/utf8.h"

namespace hone::serve {

namespace {

std::string shown(const Tokenizer& tokenizer, int32_t id) {
  return text::replace_invalid_utf8(tokenizer.token_bytes(id));
}

io::Json token_json(const Tokenizer& tokenizer, int32_t id, float logprob) {
  io::Json bytes = io::Json::array();
  for (const char byte : tokenizer.token_bytes(id)) bytes.push_back(static_cast<int64_t>(static_cast<uint8_t>(byte)));
  io::Json json = io::Json::object();
  json.set("token", shown(tokenizer, id));
  json.set("logprob", logprob);
  json.set("bytes", std::move(bytes));
  return json;
}

}  // namespace

// The id that ends an answer is none, unless it completes a stop text.
bool AnswerText::is_text(const AnswerPiece& piece) const {
  if (!piece.finish) return true;
  if (*piece.finish == FinishReason::end) return false;
  const std::vector<int32_t>& stops = sampling_.stop_ids;
  return *piece.finish != FinishReason::stop || std::find(stops.begin(), stops.end(), piece.id) == stops.end();
}

std::string AnswerText::push(const AnswerPiece& piece) {
  std::string text;
  ++num_ids_;
  bool found = false;
  if (is_text(piece)) found = search_.push(piece.id, &text);
  if (!piece.finish) return text;
  if (!found) search_.finish(&text);
  finish_reason_ = *piece.finish == FinishReason::length ? "length" : "stop";
  return text;
}

io::Json chat_logprob(const Tokenizer& tokenizer, const AnswerPiece& piece) {
  io::Json json = token_json(tokenizer, piece.id, piece.logprob);
  io::Json top = io::Json::array();
  for (const TokenLogprob& token : piece.top) top.push_back(token_json(tokenizer, token.id, token.logprob));
  json.set("top_logprobs", std::move(top));
  return json;
}

void CompletionLogprobs::add(const Tokenizer& tokenizer, const AnswerPiece& piece) {
  const std::string token = shown(tokenizer, piece.id);
  tokens_.push_back(token);
  logprobs_.push_back(piece.logprob);
  offsets_.push_back(offset_);
  offset_ += std::count_if(token.begin(), token.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; });
  io::Json top = io::Json::object();
  for (const TokenLogprob& other : piece.top) {
    const std::string name = shown(tokenizer, other.id);
    if (top.find(name) == nullptr) top.set(name, other.logprob);  // of several broken ones the likeliest
  }
  top_.push_back(std::move(top));
}

io::Json CompletionLogprobs::take() {
  io::Json json = io::Json::object();
  json.set("tokens", std::exchange(tokens_, io::Json::array()));
  json.set("token_logprobs", std::exchange(logprobs_, io::Json::array()));
  json.set("top_logprobs", std::exchange(top_, io::Json::array()));
  json.set("text_offset", std::exchange(offsets_, io::Json::array()));
  return json;
}

}  // namespace hone::serve
