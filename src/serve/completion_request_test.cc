#include "serve/completion_request.h"

#include <gtest/gtest.h>

#include "serve/request_error.h"

namespace hone::serve {
namespace {

std::string field_at_fault(const std::string& body, bool is_chat) {
  try {
    parse_completion_request(body, is_chat);
  } catch (const RequestError& error) {
    EXPECT_EQ(error.status(), 400);
    return error.param().empty() ? "body" : error.param();
  }
  return "";
}

TEST(CompletionRequest, TakesWhatClientsSend) {
  const CompletionRequest r = parse_completion_request(
      R"({"model": "m", "messages": [{"role": "user", "content": "hi"}], "n": 2, "max_completion_tokens": 5,
          "temperature": 0.5, "top_p": 0.9, "top_k": 7, "stop": ["a", "b"], "seed": -1, "stream": true,
          "stream_options": {"include_usage": true}, "logprobs": true, "top_logprobs": 3, "user": "me",
          "presence_penalty": 1, "frequency_penalty": null, "tools": [], "logit_bias": {},
          "response_format": {"type": "text"}})",
      true);
  EXPECT_EQ(r.model, "m");
  EXPECT_EQ(r.sampling.n, 2);
  EXPECT_EQ(r.sampling.max_tokens, 5);
  EXPECT_EQ(r.sampling.seed, ~uint64_t{0});
  EXPECT_EQ(r.sampling.sampling.temperature, 0.5f);
  EXPECT_EQ(r.sampling.sampling.filter.top_k, 7);
  EXPECT_EQ(r.sampling.sampling.filter.presence_penalty, 1.0f);
  EXPECT_EQ(r.sampling.sampling.stops, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(r.sampling.sampling.num_top_logprobs, 3);
  EXPECT_TRUE(r.stream && r.include_usage && r.logprobs && r.chat.add_generation_prompt);
  const auto num_prompts = [](const std::string& prompt) {
    return parse_completion_request("{\"prompt\": " + prompt + "}", false).prompts.size();
  };
  EXPECT_EQ(num_prompts("\"a\""), 1u);
  EXPECT_EQ(num_prompts("[\"a\", \"b\"]"), 2u);
  EXPECT_EQ(num_prompts("[1, 2, 3]"), 1u);
  EXPECT_EQ(num_prompts("[[1, 2], [3]]"), 2u);
}

TEST(CompletionRequest, RefusesByNameWhatWouldChangeTheResult) {
  const std::pair<const char*, const char*> chat[] = {
      {R"("tools": [{"type": "function"}])", "tools"},
      {R"("logit_bias": {"5": 1})", "logit_bias"},
      {R"("response_format": {"type": "json_object"})", "response_format"},
      {R"("reasoning_effort": "high")", "reasoning_effort"},
      {R"("temprature": 1)", "temprature"},
      {R"("temperature": "1")", "temperature"},
      {R"("temperature": 0.00001)", "temperature"},
      {R"("top_p": 0)", "top_p"},
      {R"("top_p": 1.5)", "top_p"},
      {R"("n": 0)", "n"},
      {R"("n": 1000)", "n"},
      {R"("max_tokens": 0)", "max_tokens"},
      {R"("max_tokens": 1.5)", "max_tokens"},
      {R"("presence_penalty": 3)", "presence_penalty"},
      {R"("stop": "")", "stop"},
      {R"("stop": [1])", "stop"},
      {R"("top_logprobs": 5)", "top_logprobs"},
      {R"("logprobs": true, "top_logprobs": 21)", "top_logprobs"},
      {R"("stream_options": {"include_usage": true})", "stream_options"},
      {R"("stream": 1)", "stream"},
      {R"("prompt": "x")", "prompt"},
  };
  for (const auto& [field, name] : chat) {
    EXPECT_EQ(field_at_fault(std::string(R"({"messages": [{"role": "user", "content": "x"}], )") + field + "}", true),
              name);
  }
  const std::pair<const char*, const char*> text[] = {{R"("best_of": 2)", "best_of"},
                                                      {R"("suffix": "x")", "suffix"},
                                                      {R"("messages": [])", "messages"},
                                                      {R"("logprobs": true)", "logprobs"},
                                                      {R"("echo": true, "logprobs": 1)", "echo"}};
  for (const auto& [field, name] : text) {
    EXPECT_EQ(field_at_fault(std::string(R"({"prompt": "x", )") + field + "}", false), name);
  }
  EXPECT_EQ(field_at_fault("{}", true), "messages");
  EXPECT_EQ(field_at_fault("{}", false), "prompt");
  EXPECT_EQ(field_at_fault(R"({"prompt": []})", false), "prompt");
  EXPECT_EQ(field_at_fault(R"({"prompt": [1, -2]})", false), "prompt");
  for (const char* body : {"", "nonsense", "[]", "{\"prompt\": \"x\"", "{\"prompt\": \"x\", \"prompt\": \"y\"}"}) {
    EXPECT_EQ(field_at_fault(body, false), "body");
  }
}

}  // namespace
}  // namespace hone::serve
