#include "reward/http_scorer.h"

#include <httplib.h>

#include <chrono>
#include <thread>

#include "core/error.h"
#include "io/json.h"
#include "io/utf8.h"
#include "reward/judgement.h"
#include "reward/outside_reply.h"
#include "workers/no_sigpipe.h"

namespace hone {

namespace {

constexpr size_t kMaxReplyBytes = 1 << 20;

void set_time(httplib::Client& client, double seconds) {
  const auto time = std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
  client.set_connection_timeout(time);
  client.set_read_timeout(time);
  client.set_write_timeout(time);
}

struct Reply {
  int status = 0;  // 0: there is none, but a failure
  std::string body, failure;
  bool may_change = true;  // the failure, with another try
};

Reply post(const HttpScorerOptions& options, const std::string& server, const std::string& path,
           const std::string& question) {
  const workers::NoSigpipe no_sigpipe;
  httplib::Client client(server);
  set_time(client, options.seconds);
  httplib::Request request;
  request.method = "POST";
  request.path = path;
  for (const auto& [name, value] : options.headers) request.headers.emplace(name, value);
  request.headers.emplace("Content-Type", "application/json");
  request.body = question;
  Reply reply;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds);
  request.content_receiver = [&](const char* bytes, size_t size, uint64_t, uint64_t) {
    reply.body.append(bytes, size);
    if (reply.body.size() > kMaxReplyBytes) {
      reply.failure = fmt::format("a reply above {} bytes", kMaxReplyBytes);
      reply.may_change = false;
    } else if (std::chrono::steady_clock::now() > end) {
      reply.failure = fmt::format("no whole reply within {:g} s", options.seconds);
    }
    return reply.failure.empty();  // false ends the connection
  };
  const auto result = client.send(request);
  if (result) {
    reply.status = result->status;
  } else if (reply.failure.empty()) {
    reply.failure = httplib::to_string(result.error());
  }
  return reply;
}

io::Json question_of(const Prompt& prompt, const Answer& answer) {
  const io::Json row = prompt.row.empty() ? io::Json::object() : io::parse_json(prompt.row, prompt.file);
  const io::Json* info = row.find("extra_info");
  io::Json extra_info = info != nullptr && info->is_object() ? *info : io::Json::object();
  if (extra_info.find("finish_reason") == nullptr) extra_info.set("finish_reason", name(answer.finish));
  if (answer.num_ids && extra_info.find("response_length") == nullptr) {
    extra_info.set("response_length", *answer.num_ids);
  }
  io::Json question = io::Json::object();
  question.set("data_source", prompt.data_source);
  question.set("solution_str", answer.text);
  question.set("ground_truth", json_truth(prompt));
  question.set("extra_info", std::move(extra_info));
  return question;
}

bool is_worth_another_try(int status) { return status == 408 || status == 429 || status >= 500; }

}  // namespace

std::vector<std::pair<std::string, std::string>> read_headers(std::string_view text, const std::string& variable) {
  std::vector<std::pair<std::string, std::string>> headers;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (line.empty()) continue;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      throw Error(fmt::format("the environment variable {}: expected lines of \"Name: value\"", variable));
    }
    headers.emplace_back(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  }
  return headers;
}

Score score_of_reply(const std::string& body) {
  try {
    const io::Json reply = io::parse_json(body, "the reply");
    io::Json form = io::Json::object();
    const io::Json* score = reply.is_object() ? reply.find("score") : &reply;
    if (score == nullptr) throw Error("the reply has no \"score\": " + reply.describe());
    score->is_null() ? form.set("none", true) : form.set("score", *score);
    io::Json extras = io::Json::array();
    if (reply.is_object()) {
      for (const auto& [key, value] : reply.as_object()) {
        if (key == "score" || value.is_null()) continue;
        const bool plain = value.is_number() || value.is_string();
        const io::Json shown = value.is_bool() ? io::Json(value.as_bool() ? 1.0 : 0.0) : io::Json(value.dump());
        extras.push_back(io::Json::array({key, plain ? value : shown}));
      }
    }
    form.set("extras", std::move(extras));
    return outside_score(form);
  } catch (const Error& error) {
    return {std::nullopt, io::visible(error.what())};
  }
}

HttpScorer::HttpScorer(HttpScorerOptions options) : options_(std::move(options)) {
  const size_t scheme = options_.url.find("://");
  const size_t slash = scheme == std::string::npos ? scheme : options_.url.find('/', scheme + 3);
  server_ = options_.url.substr(0, slash);
  path_ = slash == std::string::npos ? "/" : options_.url.substr(slash);
  if (!server_.starts_with("http://") && !server_.starts_with("https://")) {
    throw Error(fmt::format("the scorer's URL is '{}'", options_.url), "write http://HOST:PORT/PATH");
  }
  const workers::NoSigpipe no_sigpipe;
  httplib::Client client(server_);
  set_time(client, options_.seconds);
  if (!client.is_valid())
    throw Error(fmt::format("the scorer's URL is '{}'", options_.url), "write http://HOST:PORT/PATH");
  if (const auto reply = client.Head(path_); !reply) {  // whatever it says to this, it is there
    throw Error(fmt::format("the scorer at {} does not answer: {}", options_.url, httplib::to_string(reply.error())),
                "start the service, or name another in reward.http.url");
  }
}

Score HttpScorer::score_one(const Prompt& prompt, const Answer& answer) const {
  const std::string question = question_of(prompt, answer).dump();
  std::string failure;
  double wait = options_.wait_seconds;
  for (int64_t attempt = 0; attempt <= options_.retries; ++attempt, wait *= 2) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::duration<double>(wait));
    const Reply reply = post(options_, server_, path_, question);
    if (reply.status == 200) return score_of_reply(reply.body);
    failure = reply.failure;
    if (!reply.may_change) break;
    if (reply.status == 0) continue;
    failure = fmt::format("status {}: {}", reply.status, io::visible(reply.body.substr(0, 200)));
    if (!is_worth_another_try(reply.status)) break;
  }
  return {std::nullopt, fmt::format("the scorer at {} fails: {}", options_.url, failure)};
}

std::vector<Score> HttpScorer::score(const Prompt& prompt, uint64_t, std::span<const Answer> answers) {
  std::vector<Score> scores;
  for (const Answer& answer : answers) scores.push_back(score_one(prompt, answer));
  return scores;
}

}  // namespace hone
