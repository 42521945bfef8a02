// Service: the routes of `hone serve`. A request is checked, turned into ids and handed to the engine's thread; its
// reply is made by the thread that sends it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "serve/completion_reply.h"
#include "serve/completion_request.h"
#include "serve/engine_thread.h"
#include "serve/http_server.h"
#include "text/chat_template.h"

namespace hone::serve {

struct ServiceOptions {
  std::string model_name;
  std::string api_key;  // empty: none is asked for
  int64_t max_model_len = 0;
  int64_t vocab_size = 0;  // of the tokenizer
  std::vector<int32_t> end_ids;
  uint64_t seed = 1;  // of requests that bring none
};

class Service {
 public:
  // Engine thread, tokenizer and template outlive this.
  Service(const ServiceOptions& options, EngineThread& engine, const Tokenizer& tokenizer, const ChatTemplate& chat)
      : options_(options), engine_(engine), tokenizer_(tokenizer), chat_(chat) {}

  HttpReply handle(const HttpRequest& request) const;
  static HttpReply refuse(int status);

 private:
  HttpReply route(const HttpRequest& request) const;
  void check_key(const HttpRequest& request) const;
  HttpReply models(const std::string& name) const;
  HttpReply health() const;
  HttpReply metrics() const;
  HttpReply complete(const HttpRequest& request, bool is_chat) const;
  std::shared_ptr<EngineJob> job_of(CompletionRequest& request) const;
  Prompt prompt_of(const std::variant<std::string, std::vector<int32_t>>& given) const;

  const ServiceOptions options_;
  EngineThread& engine_;
  const Tokenizer& tokenizer_;
  const ChatTemplate& chat_;
};

}  // namespace hone::serve
