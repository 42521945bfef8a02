#include "serve/service.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "serve/request_error.h"

namespace hone::serve {

namespace {

// OpenAI's error object.
HttpReply error_reply(int status, const std::string& message, const std::string& param = "",
                      const std::string& code = "") {
  const char* type = status >= 500 ? "server_error" : status == 429 ? "rate_limit_error" : "invalid_request_error";
  const auto or_null = [](const std::string& text) { return text.empty() ? io::Json() : io::Json(text); };
  const io::Json error =
      io::Json::object({{"message", message}, {"type", type}, {"param", or_null(param)}, {"code", or_null(code)}});
  HttpReply reply;
  reply.status = status;
  reply.body = io::Json::object({{"error", error}}).dump();
  return reply;
}

// In a time that does not tell how much of it is right.
bool same_secret(const std::string& given, const std::string& secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(secret[i % secret.size()]);
  }
  return difference == 0;
}

}  // namespace

HttpReply Service::refuse(int status) {
  switch (status) {
    case 413:
      return error_reply(status, "the body is larger than this server takes");
    case 415:
      return error_reply(status, "the body must be JSON");
    case 404:
      return error_reply(status, "there is nothing here", "", "not_found");
    case 503:
      return error_reply(status, "the server is stopping");
    default:
      return error_reply(status, status >= 500 ? "the server failed" : "this is no request of HTTP");
  }
}

HttpReply Service::handle(const HttpRequest& request) const {
  try {
    return route(request);
  } catch (const RequestError& error) {
    return error_reply(error.status(), error.what(), error.param(), error.code());
  } catch (const Error& error) {  // of templates and tokenizer: the text is the client's
    return error_reply(400, error.what());
  } catch (const std::exception&) {
    return error_reply(500, "the server failed");
  }
}

HttpReply Service::route(const HttpRequest& request) const {
  const bool gets = request.method != "POST";
  if (gets && request.path == "/health") return health();
  if (gets && request.path == "/metrics") return metrics();
  check_key(request);
  const std::string models_path = "/v1/models";
  if (gets && request.path == models_path) return models("");
  if (gets && request.path.starts_with(models_path + "/")) return models(request.path.substr(models_path.size() + 1));
  const bool is_chat = request.path == "/v1/chat/completions";
  if (!is_chat && request.path != "/v1/completions") return refuse(404);
  if (gets) return error_reply(405, "this takes POST");
  return complete(request, is_chat);
}

void Service::check_key(const HttpRequest& request) const {
  if (options_.api_key.empty()) return;
  const std::string scheme = "Bearer ";
  const bool named = request.authorization.starts_with(scheme);
  if (named && same_secret(request.authorization.substr(scheme.size()), options_.api_key)) return;
  throw RequestError(401, "the API key is wrong or missing", "", "invalid_api_key");
}

HttpReply Service::models(const std::string& name) const {
  if (!name.empty() && name != options_.model_name) {
    throw RequestError(404, fmt::format("model: there is no \"{}\" here", name), "model", "model_not_found");
  }
  const io::Json model = io::Json::object({{"id", options_.model_name},
                                           {"object", "model"},
                                           {"created", int64_t{0}},
                                           {"owned_by", "hone"},
                                           {"max_model_len", options_.max_model_len}});
  HttpReply reply;
  reply.body =
      (name.empty() ? io::Json::object({{"object", "list"}, {"data", io::Json::array({model})}}) : model).dump();
  return reply;
}

HttpReply Service::health() const {
  const std::string failure = engine_.failure();
  HttpReply reply;
  reply.status = failure.empty() ? 200 : 503;
  reply.body = io::Json::object({{"status", failure.empty() ? "ok" : failure}}).dump();
  return reply;
}

HttpReply Service::metrics() const {
  const EngineCounts counts = engine_.counts();
  HttpReply reply;
  reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
  const auto add = [&](const char* name, const char* type, const char* help, double value) {
    reply.body += fmt::format("# HELP hone_{0} {1}\n# TYPE hone_{0} {2}\nhone_{0} {3}\n", name, help, type, value);
  };
  const auto number = [](int64_t value) { return static_cast<double>(value); };
  add("answers_running", "gauge", "Answers that are being drawn.", number(counts.answers_running));
  add("answers_waiting", "gauge", "Answers that wait for a place.", number(counts.answers_waiting));
  add("requests_completed_total", "counter", "Requests that got all of their answers.", number(counts.requests_ended));
  add("requests_aborted_total", "counter", "Requests whose client left.", number(counts.requests_aborted));
  add("requests_refused_total", "counter", "Requests for which the queue was full.", number(counts.requests_refused));
  add("generated_tokens_total", "counter", "Tokens drawn.", number(counts.engine.num_generated));
  add("prompt_tokens_total", "counter", "Tokens computed that are not drawn next.",
      number(counts.engine.num_prefilled));
  add("engine_steps_total", "counter", "Forwards of the model.", number(counts.engine.num_steps));
  add("preemptions_total", "counter", "Answers that gave their blocks back to go on later.",
      number(counts.engine.num_preemptions));
  add("kv_blocks", "gauge", "Blocks of the KV cache.", number(counts.num_kv_blocks));
  add("kv_blocks_free", "gauge", "Blocks that nobody holds.", number(counts.num_free_kv_blocks));
  return reply;
}

HttpReply Service::complete(const HttpRequest& request, bool is_chat) const {
  CompletionRequest completion = parse_completion_request(request.body, is_chat);
  if (!completion.model.empty() && completion.model != options_.model_name) {
    throw RequestError(404, fmt::format("model: there is no \"{}\" here", completion.model), "model",
                       "model_not_found");
  }
  const std::shared_ptr<EngineJob> job = job_of(completion);
  const bool streams = completion.stream;
  if (!engine_.submit(job)) {
    const bool failed = !engine_.failure().empty();
    return error_reply(failed ? 503 : 429, failed ? "the engine has stopped" : "too many answers are waiting");
  }
  HttpReply reply;
  reply.content_type = streams ? "text/event-stream; charset=utf-8" : "application/json";
  const auto answer = std::make_shared<CompletionReply>(std::move(completion), job, tokenizer_, options_.model_name);
  reply.next = [answer](std::string& out, bool& whole) {
    const CompletionReply::State state = answer->next(out);
    whole = state != CompletionReply::State::failed;
    return state == CompletionReply::State::more;
  };
  return reply;
}

Prompt Service::prompt_of(const std::variant<std::string, std::vector<int32_t>>& given) const {
  Prompt prompt;
  if (const auto* text = std::get_if<std::string>(&given)) {
    prompt.text = *text;
    prompt.ids = tokenizer_.encode(*text, true);
    tokenizer_.add_prefix(prompt.ids);
  } else {
    prompt.ids = std::get<std::vector<int32_t>>(given);
    for (int32_t id : prompt.ids) {
      if (id < options_.vocab_size) continue;
      throw RequestError(
          400, fmt::format("prompt: {} is no id of the tokenizer, which has {}", id, options_.vocab_size), "prompt");
    }
    prompt.text = tokenizer_.decode(prompt.ids, true);
  }
  return prompt;
}

std::shared_ptr<EngineJob> Service::job_of(CompletionRequest& request) const {
  const auto job = std::make_shared<EngineJob>();
  if (request.is_chat) {
    if (!chat_.exists()) throw RequestError(400, "messages: the model has no chat template; use /v1/completions");
    ChatIds ids = chat_.tokenize(request.messages, request.chat);
    job->prompts.emplace_back();
    job->prompts.back().ids = std::move(ids.ids);
  } else {
    for (const auto& given : request.prompts) job->prompts.push_back(prompt_of(given));
  }
  const char* subject = request.is_chat ? "messages" : "prompt";
  size_t longest = 0;
  for (const Prompt& prompt : job->prompts) {
    longest = std::max(longest, prompt.ids.size());
    if (prompt.ids.empty()) throw RequestError(400, fmt::format("{}: has no tokens", subject), subject);
  }
  const int64_t left = options_.max_model_len - static_cast<int64_t>(longest);
  SamplingRequest& sampling = request.sampling;
  const int64_t wanted = sampling.max_tokens.value_or(request.is_chat ? std::max<int64_t>(left, 1) : 16);
  if (wanted > left) {
    throw RequestError(400,
                       fmt::format("{}: {} tokens, and {} of an answer, are more than the {} of this model's context",
                                   subject, longest, wanted, options_.max_model_len),
                       subject, "context_length_exceeded");
  }
  sampling.max_tokens = wanted;
  check_sampling_fields(sampling, options_.vocab_size);
  SamplingParams& params = sampling.sampling;
  params.num_top_logprobs = static_cast<int>(std::min<int64_t>(params.num_top_logprobs, options_.vocab_size));
  if (sampling.n * static_cast<int64_t>(job->prompts.size()) > kMaxAnswers) {
    throw RequestError(
        400,
        fmt::format("n: {} answers to {} prompts, at most {} together", sampling.n, job->prompts.size(), kMaxAnswers),
        "n");
  }
  if (params.temperature == 0 && sampling.n > 1) {
    throw RequestError(400, "n: answers at temperature 0 are all the same", "n");
  }
  params.max_new_tokens = wanted;
  params.end_ids = options_.end_ids;
  params.valid_vocab = options_.vocab_size;
  params.tokenizer = &tokenizer_;
  params.key = {sampling.seed.value_or(options_.seed), Stream::validation};
  job->sampling = params;
  job->n = sampling.n;
  job->seeded = sampling.seed.has_value();
  job->queue = std::make_shared<AnswerQueue>();
  return job;
}

}  // namespace hone::serve
