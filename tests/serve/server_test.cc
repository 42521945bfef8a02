// The server over sockets, with a tiny random model: what 64 clients of every kind get, and that nothing of theirs
// stays.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <thread>

#include "loop/inference.h"
#include "serve/service.h"
#include "support/tiny_model.h"

namespace hone::serve {
namespace {

using namespace std::chrono_literals;

int64_t num_threads() {
  int64_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) count += task.exists();
  return count;
}

class Client {
 public:
  explicit Client(int port, int receive_bytes = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_bytes > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(const std::string& text) const {
    for (size_t sent = 0; sent < text.size();) {
      const ssize_t n = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;  // the server need not take all of it
      sent += static_cast<size_t>(n);
    }
  }
  void post(const std::string& path, const std::string& body, const std::string& headers = "") const {
    send("POST " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers +
         "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  // Up to `size` bytes of what comes; empty: the end.
  std::string read(size_t size) const {
    std::string text(size, '\0');
    const ssize_t n = ::recv(socket_, text.data(), size, 0);
    text.resize(n > 0 ? static_cast<size_t>(n) : 0);
    return text;
  }
  std::string read_all(size_t step = 4096, std::chrono::milliseconds pause = 0ms) const {
    std::string all;
    for (std::string part; !(part = read(step)).empty(); all += part) {
      if (pause > 0ms) std::this_thread::sleep_for(pause);
    }
    return all;
  }

 private:
  int socket_;
};

int status_of(const std::string& reply) { return reply.size() > 12 ? std::atoi(reply.substr(9, 3).c_str()) : -1; }

// The body of a reply, its chunks joined.
std::string body_of(const std::string& reply) {
  const size_t head = reply.find("\r\n\r\n");
  if (head == std::string::npos) return "";
  if (reply.find("chunked") > head) return reply.substr(head + 4);
  std::string body;
  for (size_t at = head + 4; at < reply.size();) {
    const size_t line = reply.find("\r\n", at);
    const size_t size = std::stoul(reply.substr(at, line - at), nullptr, 16);
    if (size == 0) return body;
    body += reply.substr(line + 2, size);
    at = line + 4 + size;
  }
  return body + "<not whole>";
}

// The text of a stream's first choice; checks its frame.
std::string streamed_text(const std::string& body) {
  std::string text;
  bool finished = false;
  size_t at = 0;
  for (size_t end; (end = body.find("\n\n", at)) != std::string::npos; at = end + 2) {
    const std::string event = body.substr(at, end - at);
    EXPECT_EQ(event.substr(0, 6), "data: ");
    if (event == "data: [DONE]") {
      EXPECT_TRUE(finished);
      EXPECT_EQ(end + 2, body.size());
      return text;
    }
    const io::Json json = io::parse_json(event.substr(6), "event");
    for (const io::Json& choice : json.at("choices").as_array()) {
      text += choice.at("text").as_string();
      finished = finished || !choice.at("finish_reason").is_null();
    }
  }
  return text + "<no end>";
}

class Server : public ::testing::Test {
 protected:
  void start(int64_t max_answers = 1000, int64_t num_kv_blocks = 12, const std::string& key = "") {
    threads_before_ = num_threads();
    test::write_tiny_model(folder_.path(), 3);
    inference_ = std::make_unique<Inference>(folder_.path(), Tokenizer::load(folder_.path()), "float32", 2,
                                             [&](const ModelConfig&, DType) {
                                               EngineOptions options;
                                               options.max_num_seqs = 16;
                                               options.max_num_batched_tokens = 64;
                                               options.num_kv_blocks = num_kv_blocks;
                                               options.record_steps = true;
                                               return options;
                                             });
    chat_ = std::make_unique<ChatTemplate>(folder_.path(), "", inference_->tokenizer());
    ServiceOptions options;
    options.model_name = "tiny";
    options.api_key = key;
    options.max_model_len = 128;
    options.vocab_size = inference_->tokenizer().vocab_size();
    options.end_ids = inference_->end_ids();
    engine_ = std::make_unique<EngineThread>(inference_->engine(), max_answers);
    service_ = std::make_unique<Service>(options, *engine_, inference_->tokenizer(), *chat_);
    HttpOptions http;
    http.port = 0;
    http.max_body_bytes = 20000;
    http.read_seconds = 2;
    http_ = std::make_unique<HttpServer>(
        http, [this](const HttpRequest& request) { return service_->handle(request); }, Service::refuse);
    runner_ = std::thread([this] { http_->run(); });
  }
  void stop() {
    http_->stop();
    runner_.join();
    engine_->stop();
    http_.reset();
    service_.reset();
    engine_.reset();
    chat_.reset();
    inference_.reset();
    EXPECT_EQ(num_threads(), threads_before_);
  }
  std::string get(const std::string& path, const std::string& headers = "") {
    const Client client(http_->port());
    client.send("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers + "\r\n");
    return client.read_all();
  }
  std::string post(const std::string& path, const std::string& body, const std::string& headers = "") {
    const Client client(http_->port());
    client.post(path, body, headers);
    return client.read_all();
  }
  std::string complete(const std::string& fields) {
    return post("/v1/completions", "{\"prompt\": \"12+34=\", " + fields + "}");
  }
  // Waits until the engine holds nothing of anybody.
  void expect_all_free() {
    for (int k = 0; k < 2000 && engine_->counts().answers_in_flight > 0; ++k) std::this_thread::sleep_for(5ms);
    const EngineCounts counts = engine_->counts();
    EXPECT_EQ(counts.answers_in_flight, 0);
    engine_->stop();
    EXPECT_EQ(engine_->counts().num_free_kv_blocks, inference_->engine().num_kv_blocks());
  }

  test::TemporaryFolder folder_{"server"};
  int64_t threads_before_ = 0;
  std::unique_ptr<Inference> inference_;
  std::unique_ptr<ChatTemplate> chat_;
  std::unique_ptr<EngineThread> engine_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<HttpServer> http_;
  std::thread runner_;
};

TEST_F(Server, SixtyFourClientsOfEveryKindLoseAndLeaveNothing) {
  start();
  constexpr int kClients = 64;
  const auto fields = [](int k) {
    return "\"prompt\": \"" + std::to_string(k) +
           "+5=\", \"max_tokens\": 40, \"ignore_eos\": true, \"seed\": " + std::to_string(k);
  };
  std::vector<std::string> texts(kClients);
  std::vector<std::thread> clients;
  for (int k = 0; k < kClients; ++k) {
    clients.emplace_back([&, k] {
      const Client client(http_->port());
      const std::string path = "/v1/completions";
      switch (k % 8) {
        case 0:
        case 1: {
          client.post(path, "{" + fields(k) + "}");
          const std::string reply = client.read_all();
          EXPECT_EQ(status_of(reply), 200) << reply;
          texts[static_cast<size_t>(k)] =
              io::parse_json(body_of(reply), "reply").at("choices").as_array()[0].at("text").as_string();
          break;
        }
        case 2:
          client.post(path, "{\"stream\": true, " + fields(k) + "}");
          texts[static_cast<size_t>(k)] = streamed_text(body_of(client.read_all()));
          break;
        case 3:  // slow
          client.post(path, "{\"stream\": true, " + fields(k) + "}");
          texts[static_cast<size_t>(k)] = streamed_text(body_of(client.read_all(256, 5ms)));
          break;
        case 4:  // leaves at the first byte
          client.post(path, "{\"stream\": true, \"n\": 6, " + fields(k) + "}");
          EXPECT_FALSE(client.read(1).empty());
          break;
        case 5:  // leaves at once
          client.post(path, "{\"n\": 6, " + fields(k) + "}");
          break;
        case 6:
          client.post(path, k % 16 == 6 ? "{\"prompt\": " : "\xff\xfe{{{");
          EXPECT_EQ(status_of(client.read_all()), 400);
          break;
        default:
          if (k % 16 == 7) {
            client.post(path, std::string(60000, 'x'));
          } else {  // no length is told
            client.send("POST " + path + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
            for (int i = 0; i < 30; ++i) client.send("400\r\n" + std::string(1024, 'x') + "\r\n");
          }
          EXPECT_EQ(status_of(client.read_all()), 413);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  for (int k = 0; k < kClients; k += 7) {  // the same alone
    if (k % 8 > 3) continue;
    const std::string alone = body_of(post("/v1/completions", "{" + fields(k) + "}"));
    EXPECT_EQ(io::parse_json(alone, "reply").at("choices").as_array()[0].at("text").as_string(),
              texts[static_cast<size_t>(k)]);
    EXPECT_FALSE(texts[static_cast<size_t>(k)].empty());
  }
  for (int k = 0; k < kClients; ++k) {
    EXPECT_EQ(texts[static_cast<size_t>(k)].find('<'), std::string::npos) << texts[static_cast<size_t>(k)];
  }
  expect_all_free();
  EXPECT_GT(engine_->counts().requests_aborted, 0);
  stop();
}

TEST_F(Server, AReaderThatTakesNothingStopsNobody) {
  start(1000, 200);
  std::vector<std::unique_ptr<Client>> stuck;
  for (int k = 0; k < 4; ++k) {
    stuck.push_back(std::make_unique<Client>(http_->port(), 2048));
    stuck.back()->post("/v1/completions",
                       "{\"prompt\": \"1=\", \"stream\": true, \"n\": 8, \"max_tokens\": 100, \"ignore_eos\": true, "
                       "\"logprobs\": 10}");
  }
  EXPECT_EQ(status_of(complete("\"max_tokens\": 5")), 200);
  expect_all_free();  // though nobody has read a byte
  stuck.clear();
  stop();
}

TEST_F(Server, AnswersAsOpenAIsApiDoes) {
  start();
  const io::Json whole = io::parse_json(
      body_of(complete("\"n\": 2, \"max_tokens\": 9, \"seed\": 4, \"logprobs\": 2, \"ignore_eos\": true")), "reply");
  EXPECT_EQ(whole.at("object").as_string(), "text_completion");
  EXPECT_EQ(whole.at("choices").as_array().size(), 2u);
  EXPECT_EQ(whole.at("usage").at("completion_tokens").as_int(), 18);
  EXPECT_EQ(whole.at("usage").at("prompt_tokens").as_int(), 6);
  for (const io::Json& choice : whole.at("choices").as_array()) {
    EXPECT_EQ(choice.at("finish_reason").as_string(), "length");
    EXPECT_EQ(choice.at("logprobs").at("token_logprobs").as_array().size(), 9u);
    EXPECT_EQ(choice.at("logprobs").at("top_logprobs").as_array()[0].as_object().size(), 2u);
  }
  // A stop text: cut before it, and the reason.
  const std::string text = whole.at("choices").as_array()[0].at("text").as_string();
  const std::string stop_text = text.substr(4, 2);
  const io::Json cut = io::parse_json(
      body_of(complete("\"max_tokens\": 9, \"seed\": 4, \"ignore_eos\": true, \"stop\": \"" + stop_text + "\"")),
      "reply");
  EXPECT_EQ(cut.at("choices").as_array()[0].at("text").as_string(), text.substr(0, text.find(stop_text)));
  EXPECT_EQ(cut.at("choices").as_array()[0].at("finish_reason").as_string(), "stop");
  EXPECT_EQ(streamed_text(body_of(complete("\"max_tokens\": 9, \"seed\": 4, \"ignore_eos\": true, \"stream\": true, "
                                           "\"stop\": \"" +
                                           stop_text + "\""))),
            text.substr(0, text.find(stop_text)));
  const std::string with_usage = body_of(complete(
      "\"max_tokens\": 3, \"ignore_eos\": true, \"stream\": true, \"stream_options\": {\"include_usage\": true}"));
  EXPECT_NE(with_usage.find("\"choices\": [], \"usage\": {\"prompt_tokens\": 6, \"completion_tokens\": 3"),
            std::string::npos)
      << with_usage;
  const io::Json echoed = io::parse_json(body_of(complete("\"max_tokens\": 2, \"echo\": true")), "reply");
  EXPECT_EQ(echoed.at("choices").as_array()[0].at("text").as_string().substr(0, 6), "12+34=");
  EXPECT_EQ(status_of(get("/health")), 200);
  EXPECT_NE(body_of(get("/metrics")).find("\nhone_generated_tokens_total "), std::string::npos);
  EXPECT_NE(body_of(get("/v1/models")).find("\"id\": \"tiny\""), std::string::npos);
  EXPECT_EQ(status_of(get("/v1/models/tiny")), 200);
  stop();
}

TEST_F(Server, RefusesWithTheStatusOfTheFault) {
  start(3);
  EXPECT_EQ(status_of(complete("\"model\": \"other\"")), 404);
  EXPECT_EQ(status_of(complete("\"max_tokens\": 1000")), 400);
  EXPECT_NE(complete("\"max_tokens\": 1000").find("context_length_exceeded"), std::string::npos);
  EXPECT_NE(complete("\"frequency\": 1").find("\"param\": \"frequency\""), std::string::npos);
  EXPECT_EQ(status_of(complete("\"n\": 2, \"temperature\": 0")), 400);
  EXPECT_EQ(status_of(complete("\"stop_token_ids\": [99]")), 400);
  EXPECT_EQ(status_of(post("/v1/completions", "{\"prompt\": [99]}")), 400);
  EXPECT_EQ(status_of(post("/v1/chat/completions", "{\"messages\": [{\"role\": \"user\", \"content\": \"1\"}]}")), 400)
      << "this model has no template";
  EXPECT_EQ(status_of(get("/v1/nothing")), 404);
  EXPECT_EQ(status_of(get("/v1/completions")), 405);
  const Client endless(http_->port());  // a head without an end
  endless.send("GET /" + std::string(200000, 'a'));
  EXPECT_NE(status_of(endless.read_all()), 200);
  {
    const Client first(http_->port());
    first.post("/v1/completions",
               "{\"prompt\": \"1=\", \"n\": 3, \"max_tokens\": 120, \"ignore_eos\": true, \"stream\": true}");
    EXPECT_FALSE(first.read(1).empty());
    const std::string reply = complete("\"max_tokens\": 1");
    EXPECT_TRUE(status_of(reply) == 429 || engine_->counts().answers_in_flight == 0) << reply;
  }
  expect_all_free();
  stop();
}

TEST_F(Server, AsksForTheKey) {
  start(10, 12, "secret");
  EXPECT_EQ(status_of(get("/health")), 200);
  EXPECT_EQ(status_of(get("/v1/models")), 401);
  EXPECT_EQ(status_of(get("/v1/models", "Authorization: Bearer secreT\r\n")), 401);
  EXPECT_EQ(status_of(get("/v1/models", "Authorization: Bearer secret\r\n")), 200);
  EXPECT_EQ(status_of(complete("\"max_tokens\": 1")), 401);
  stop();
}

TEST(HttpServer, AStopThatComesBeforeItRunsIsNoLessAStop) {
  HttpOptions options;
  options.port = 0;
  HttpServer server(
      options, [](const HttpRequest&) { return HttpReply{}; }, Service::refuse);
  server.stop();
  server.run();
}

}  // namespace
}  // namespace hone::serve
