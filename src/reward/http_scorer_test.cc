// Services that score, and what they do wrong, played by a server of a few lines.
#include "reward/http_scorer.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "core/error.h"
#include "io/json.h"

namespace hone {
namespace {

// Answers connections one after the other: HEAD with 200, POST number i with replies[i], the last one again and again.
// An empty reply closes the connection without a word. The others in place of a reply go on until the client is gone.
constexpr const char *kSilence = "silence", *kDrip = "a byte of the body now and then", *kFlood = "a body without end";

class Service {
 public:
  explicit Service(std::vector<std::string> replies) : replies_(std::move(replies)) {
    listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listening_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listening_, 16);
    ::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size);
    url = fmt::format("http://127.0.0.1:{}/score", ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~Service() {
    ::shutdown(listening_, SHUT_RDWR);
    thread_.join();
    ::close(listening_);
  }
  std::vector<std::string> requests() {  // of POST, whole
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::string url;

 private:
  static size_t length_of(const std::string& head) {
    const size_t at = head.find("Content-Length: ");
    return at == std::string::npos ? 0 : std::strtoul(head.c_str() + at + 16, nullptr, 10);
  }
  void serve() {
    for (int client; (client = ::accept(listening_, nullptr, nullptr)) >= 0; ::close(client)) {
      std::string request;
      char bytes[4096];
      for (ssize_t got; (got = ::recv(client, bytes, sizeof bytes, 0)) > 0;) {
        request.append(bytes, static_cast<size_t>(got));
        const size_t end = request.find("\r\n\r\n");
        if (end != std::string::npos && request.size() >= end + 4 + length_of(request)) break;
      }
      std::string reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
      if (request.starts_with("POST")) {
        const std::lock_guard lock(mutex_);
        reply = replies_[std::min(requests_.size(), replies_.size() - 1)];
        requests_.push_back(request);
      }
      if (reply == kSilence) {
        while (::recv(client, bytes, sizeof bytes, 0) > 0) continue;
      } else if (reply == kDrip) {
        send_on(client, "1", std::chrono::milliseconds(10));
      } else if (reply == kFlood) {
        send_on(client, std::string(1 << 16, '1'), {});
      } else {
        ::send(client, reply.data(), reply.size(), MSG_NOSIGNAL);
      }
    }
  }
  // Or for 20 s, so that a test that fails ends.
  void send_on(int client, const std::string& part, std::chrono::milliseconds pause) {
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n";
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    ::send(client, head.data(), head.size(), MSG_NOSIGNAL);
    while (std::chrono::steady_clock::now() < end && ::send(client, part.data(), part.size(), MSG_NOSIGNAL) > 0) {
      std::this_thread::sleep_for(pause);
    }
  }

  std::vector<std::string> replies_, requests_;
  std::mutex mutex_;
  int listening_ = -1;
  std::thread thread_;
};

std::string reply(const std::string& body, const std::string& status = "200 OK") {
  return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", status, body.size(), body);
}

HttpScorerOptions options_of(const std::string& url) {
  HttpScorerOptions options;
  options.url = url;
  options.seconds = 20;
  options.wait_seconds = 0.001;
  return options;
}

Score scored(HttpScorer& scorer, const std::string& row = R"({"extra_info":{"index":5}})") {
  Prompt prompt;
  prompt.data_source = "mine";
  prompt.ground_truth = "7";
  prompt.file = "rows.jsonl";
  prompt.ground_truth_json = "[7]";
  prompt.row = row;
  const Answer answer{"mine", "it is \"7\"", "7", FinishReason::length, 3};
  return scorer.score(prompt, 0, {&answer, 1}).front();
}

TEST(HttpScorer, PostsVerlsWordsAndTakesNumbersObjectsAndNull) {
  Service service({reply("0.5"), reply(R"({"score": 1, "acc": true, "why": "good", "parts": [1]})"), reply("null")});
  HttpScorerOptions options = options_of(service.url);
  options.headers = read_headers("Authorization: Bearer secret\n X-More : 1 \n", "V");
  HttpScorer scorer(options);
  EXPECT_EQ(scored(scorer).value, 0.5f);
  const Score object = scored(scorer);
  EXPECT_EQ(object.value, 1.0f);
  ASSERT_EQ(object.extras.size(), 3u);
  EXPECT_EQ(std::get<double>(object.extras[0].value), 1.0);
  EXPECT_EQ(std::get<std::string>(object.extras[1].value), "good");
  EXPECT_EQ(std::get<std::string>(object.extras[2].value), "[1]");
  const Score none = scored(scorer);
  EXPECT_FALSE(none.value);
  EXPECT_EQ(none.reason, kWithheld);
  const std::string request = service.requests().front();
  EXPECT_TRUE(request.starts_with("POST /score HTTP/1.1\r\n")) << request;
  EXPECT_NE(request.find("Authorization: Bearer secret\r\n"), std::string::npos) << request;
  EXPECT_NE(request.find("X-More: 1\r\n"), std::string::npos) << request;
  const io::Json body = io::parse_json(request.substr(request.find("\r\n\r\n") + 4), "body");
  EXPECT_EQ(body.dump(), R"({"data_source": "mine", "solution_str": "it is \"7\"", "ground_truth": [7], )"
                         R"("extra_info": {"index": 5, "finish_reason": "length", "response_length": 3}})");
}

TEST(HttpScorer, ItsMarkIsTheUrl) {
  Service service({reply("1")});
  EXPECT_EQ(HttpScorer(options_of(service.url)).mark(), service.url);
}

TEST(HttpScorer, TriesAgainWhereThatMayHelpAndElseTheScoreIsAbsentWithTheReason) {
  Service recovers({"", reply("busy", "503 Service Unavailable"), reply("2")});
  HttpScorer patient(options_of(recovers.url));
  EXPECT_EQ(scored(patient).value, 2.0f);
  EXPECT_EQ(recovers.requests().size(), 3u);

  Service refuses({reply("no such field", "400 Bad Request")});
  HttpScorer refused(options_of(refuses.url));
  EXPECT_EQ(scored(refused).reason, "the scorer at " + refuses.url + " fails: status 400: no such field");
  EXPECT_EQ(refuses.requests().size(), 1u);

  Service fails({reply("broken", "500 Internal Server Error")});
  HttpScorer failed(options_of(fails.url));
  EXPECT_EQ(scored(failed).reason, "the scorer at " + fails.url + " fails: status 500: broken");
  EXPECT_EQ(fails.requests().size(), 4u) << "3 further tries";
}

TEST(HttpScorer, RepliesThatAreNoScoreAreAbsent) {
  for (const auto& [body, reason] :
       std::initializer_list<std::pair<const char*, const char*>>{{"", "the reply:1:1"},
                                                                  {"{\"score\": NaN}", "the reply:1:"},
                                                                  {"{\"acc\": 1}", "the reply has no \"score\""},
                                                                  {"\"0.5\"", "expected a number"},
                                                                  {"[1]", "expected a number"},
                                                                  {"1e300", "too large"},
                                                                  {"{\"score\": 1} trailing", "the reply:1:"}}) {
    const Score score = score_of_reply(body);
    EXPECT_FALSE(score.value) << body;
    EXPECT_NE(score.reason.find(reason), std::string::npos) << body << ": " << score.reason;
  }
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(HttpScorer, AReplyThatIsTooLongIsReadNoFurtherAndNotAskedForAgain) {
  Service floods({kFlood});
  HttpScorer scorer(options_of(floods.url));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(scored(scorer).reason, "the scorer at " + floods.url + " fails: a reply above 1048576 bytes");
  EXPECT_LT(seconds_since(start), 10);
  EXPECT_EQ(floods.requests().size(), 1u);
}

TEST(HttpScorer, AServiceThatSleepsOrDripsIsAskedAgainAfterTheTimeLimit) {
  for (const auto& [what, reason] : std::initializer_list<std::pair<const char*, const char*>>{
           {kSilence, " fails: "}, {kDrip, " fails: no whole reply within 2 s"}}) {
    Service service({what, what, reply("1")});
    HttpScorerOptions options = options_of(service.url);
    options.seconds = 2;
    options.retries = 1;
    HttpScorer scorer(options);
    const auto start = std::chrono::steady_clock::now();
    const Score score = scored(scorer);
    EXPECT_FALSE(score.value) << what;
    EXPECT_NE(score.reason.find(service.url + reason), std::string::npos) << what << ": " << score.reason;
    EXPECT_EQ(service.requests().size(), 2u) << what;
    EXPECT_LT(seconds_since(start), 20) << what;
  }
}

TEST(HttpScorer, WhatTheRowSaysOfTheAnswerIsKept) {
  Service service({reply("1")});
  HttpScorer scorer(options_of(service.url));
  scored(scorer, R"({"extra_info": {"finish_reason": "mine", "response_length": 9}})");
  const std::string request = service.requests().front();
  EXPECT_NE(request.find(R"("extra_info": {"finish_reason": "mine", "response_length": 9})"), std::string::npos)
      << request;
}

TEST(HttpScorer, AServiceThatIsNotThereIsToldAtTheStart) {
  std::string url;
  {
    const Service gone({""});
    url = gone.url;
  }
  try {
    HttpScorer scorer(options_of(url));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the scorer at " + url + " does not answer"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(HttpScorer(options_of("localhost:80/score")), Error);
  EXPECT_THROW(read_headers("no colon", "V"), Error);
}

}  // namespace
}  // namespace hone
