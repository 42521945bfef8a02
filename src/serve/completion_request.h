// CompletionRequest: the body of /v1/completions and /v1/chat/completions, checked. OpenAI's fields that mean nothing
// here are accepted; those that would change the result are refused by name, and so are unknown ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/json.h"
#include "serve/sampling_fields.h"
#include "text/chat_request.h"

namespace hone::serve {

struct CompletionRequest {
  bool is_chat = false;
  std::string model;                                                     // empty: not named
  std::vector<std::variant<std::string, std::vector<int32_t>>> prompts;  // completions: texts or ids
  io::Json messages;                                                     // chat
  ChatOptions chat;
  SamplingRequest sampling;  // num_top_logprobs is set too
  bool logprobs = false;
  bool stream = false, include_usage = false;
  bool echo = false;  // completions: the prompt's text before the answer's
};

// `json`: the body. Raises RequestError (400).
CompletionRequest parse_completion_request(std::string_view json, bool is_chat);

}  // namespace hone::serve
