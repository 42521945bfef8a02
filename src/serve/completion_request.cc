#include "serve/completion_request.h"

#include <algorithm>
#include <array>
#include <limits>

#include "serve/request_error.h"

namespace hone::serve {

namespace {

constexpr int64_t kMaxPrompts = 256;

// OpenAI's fields that change no result here.
constexpr std::array kWithoutMeaning = {"user",
                                        "store",
                                        "metadata",
                                        "service_tier",
                                        "prediction",
                                        "safety_identifier",
                                        "prompt_cache_key",
                                        "prompt_cache_retention",
                                        "parallel_tool_calls"};

std::vector<int32_t> prompt_ids(const io::Json& value) {
  std::vector<int32_t> ids;
  for (const io::Json& id : value.as_array()) {
    ids.push_back(static_cast<int32_t>(int_field("prompt", id, 0, std::numeric_limits<int32_t>::max())));
  }
  return ids;
}

// A text, a list of texts, a list of ids, a list of lists of ids.
void take_prompt(const io::Json& value, CompletionRequest& r) {
  const std::string expected = fmt::format("a text, ids, or a list of 1 to {} of these", kMaxPrompts);
  if (value.is_string()) {
    r.prompts.emplace_back(value.as_string());
    return;
  }
  if (!value.is_array() || value.as_array().empty()) refuse_field("prompt", expected, value);
  if (value.as_array().front().is_number()) {
    r.prompts.emplace_back(prompt_ids(value));
    return;
  }
  if (std::ssize(value.as_array()) > kMaxPrompts) refuse_field("prompt", expected, value);
  for (const io::Json& item : value.as_array()) {
    if (item.is_string()) {
      r.prompts.emplace_back(item.as_string());
    } else if (item.is_array()) {
      r.prompts.emplace_back(prompt_ids(item));
    } else {
      refuse_field("prompt", expected, item);
    }
  }
}

void take_stream_options(const io::Json& value, CompletionRequest& r) {
  if (!value.is_object()) refuse_field("stream_options", "an object", value);
  for (const auto& [key, option] : value.as_object()) {
    if (key == "include_usage") {
      r.include_usage = bool_field("stream_options.include_usage", option);
    } else if (key != "include_obfuscation" && key != "continuous_usage_stats") {
      throw RequestError(400, "stream_options." + key + ": unknown field", "stream_options");
    } else if (option.is_bool() && option.as_bool()) {
      refuse_field("stream_options." + key, "false", option);
    }
  }
}

bool take_chat_field(const std::string& name, const io::Json& value, CompletionRequest& r) {
  if (name == "messages") {
    if (!value.is_array() || value.as_array().empty()) refuse_field(name, "a list of messages", value);
    r.messages = value;
  } else if (name == "logprobs") {
    r.logprobs = bool_field(name, value);
  } else if (name == "top_logprobs") {
    r.sampling.sampling.num_top_logprobs = static_cast<int>(int_field(name, value, 0, kMaxTopLogprobs));
  } else if (name == "chat_template_kwargs") {
    if (!value.is_object()) refuse_field(name, "an object", value);
    r.chat.arguments = value;
  } else if (name == "add_generation_prompt") {
    r.chat.add_generation_prompt = bool_field(name, value);
  } else if (name == "continue_final_message") {
    r.chat.continue_final_message = bool_field(name, value);
  } else if (name == "response_format") {
    const io::Json* type = value.find("type");
    if (type == nullptr || *type != io::Json("text")) refuse_field(name, "{\"type\": \"text\"}", value);
  } else if (name == "modalities") {
    if (value != io::Json::array({"text"})) refuse_field(name, "[\"text\"]", value);
  } else if (name == "tool_choice" || name == "function_call") {
    if (value != io::Json("none") && value != io::Json("auto")) refuse_field(name, "none", value);
  } else if (name == "tools" || name == "functions") {
    if (!value.is_array() || !value.as_array().empty()) {
      throw RequestError(400, name + ": calls of tools are not supported", name);
    }
  } else {
    return false;
  }
  return true;
}

bool take_text_field(const std::string& name, const io::Json& value, CompletionRequest& r) {
  if (name == "prompt") {
    take_prompt(value, r);
  } else if (name == "logprobs") {
    r.logprobs = true;
    r.sampling.sampling.num_top_logprobs = static_cast<int>(int_field(name, value, 0, kMaxTopLogprobs));
  } else if (name == "echo") {
    r.echo = bool_field(name, value);
  } else if (name == "best_of") {
    if (value != io::Json(int64_t{1})) refuse_field(name, "1", value);
  } else if (name == "suffix") {
    if (!text_field(name, value).empty()) refuse_field(name, "none", value);
  } else {
    return false;
  }
  return true;
}

void take_field(const std::string& name, const io::Json& value, CompletionRequest& r) {
  if (take_sampling_field(name, value, r.sampling)) return;
  if (std::find(kWithoutMeaning.begin(), kWithoutMeaning.end(), name) != kWithoutMeaning.end()) return;
  if (value.is_null() && name != "prompt" && name != "messages") return;
  if (name == "model") {
    r.model = text_field(name, value);
  } else if (name == "stream") {
    r.stream = bool_field(name, value);
  } else if (name == "stream_options") {
    take_stream_options(value, r);
  } else if (name == "logit_bias") {
    if (!value.is_object() || !value.as_object().empty()) {
      throw RequestError(400, "logit_bias: is not supported", name);
    }
  } else if (!(r.is_chat ? take_chat_field(name, value, r) : take_text_field(name, value, r))) {
    throw RequestError(400, fmt::format("{}: is not a field that this server knows", name), name);
  }
}

}  // namespace

CompletionRequest parse_completion_request(std::string_view json, bool is_chat) {
  io::Json body;
  try {
    body = io::parse_json(json, "body");
  } catch (const Error& error) {
    throw RequestError(400, error.what());
  }
  if (!body.is_object()) throw RequestError(400, "body: expected a JSON object");
  CompletionRequest r;
  r.is_chat = is_chat;
  r.chat.add_generation_prompt = true;
  if (body.find("continue_final_message") != nullptr) r.chat.add_generation_prompt = false;
  for (const auto& [name, value] : body.as_object()) take_field(name, value, r);
  const char* subject = is_chat ? "messages" : "prompt";
  if (is_chat ? r.messages.is_null() : r.prompts.empty()) {
    throw RequestError(400, fmt::format("{}: is missing", subject), subject);
  }
  if (r.include_usage && !r.stream) {
    throw RequestError(400, "stream_options: is for streams, and stream is not true", "stream_options");
  }
  if (is_chat && r.sampling.sampling.num_top_logprobs > 0 && !r.logprobs) {
    throw RequestError(400, "top_logprobs: needs logprobs = true", "top_logprobs");
  }
  if (r.chat.continue_final_message && r.chat.add_generation_prompt) {
    throw RequestError(400, "continue_final_message: excludes add_generation_prompt", "continue_final_message");
  }
  if (r.echo && r.logprobs) throw RequestError(400, "echo: log-probs of the prompt are not supported", "echo");
  return r;
}

}  // namespace hone::serve
