#include "serve/http_server.h"

#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"

namespace hone::serve {

namespace {

constexpr int64_t kMaxHeadBytes = 64 << 10;  // request line and headers
constexpr int kBacklog = 1024;
constexpr int kLingerMilliseconds = 500;

// One thread for each connection, up to a number. enqueue waits for a free one: who comes then waits in the backlog.
class Connections : public httplib::TaskQueue {
 public:
  explicit Connections(int most) : most_(static_cast<size_t>(most)) {}
  ~Connections() override { shutdown(); }

  void enqueue(std::function<void()> serve) override {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [&] { return num_busy_ < most_; });
    ++num_busy_;
    waiting_.push_back(std::move(serve));
    if (num_busy_ > threads_.size()) threads_.emplace_back([this] { work(); });
    changed_.notify_one();
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
      changed_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  void work() {
    for (;;) {
      std::function<void()> serve;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        serve = std::move(waiting_.front());
        waiting_.pop_front();
      }
      serve();
      const std::lock_guard lock(mutex_);
      --num_busy_;
      free_.notify_one();
    }
  }

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_, free_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  size_t num_busy_ = 0;
  bool ends_ = false;
};

// A socket that gives no more bytes than a request may have, so that no head is kept without bound.
class Connection : public httplib::Stream {
 public:
  Connection(int socket, const HttpOptions& options) : socket_(socket), options_(options) {}

  // Waits for the next request's first byte. False: none came.
  bool begin_request(const std::atomic<bool>& leaves) {
    bytes_left_ = kMaxHeadBytes;
    for (int waited = 0; waited < options_.idle_seconds * 1000 && !leaves; waited += 50) {
      if (ready(POLLIN, 50)) return true;
    }
    return false;
  }
  void expect_body() { bytes_left_ += 2 * options_.max_body_bytes + kMaxHeadBytes; }  // chunks have frames
  // A request that was not read to its end cannot be followed by another.
  bool is_usable() const { return !broken_; }
  void give_up() { broken_ = true; }

  bool is_readable() const override { return ready(POLLIN, options_.read_seconds * 1000); }
  bool is_writable() const override { return is_there() && ready(POLLOUT, options_.write_seconds * 1000); }
  ssize_t read(char* data, size_t size) override {
    size = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(size), bytes_left_));
    const ssize_t got = size > 0 && is_readable() ? ::recv(socket_, data, size, 0) : -1;
    if (got <= 0) broken_ = true;
    bytes_left_ -= std::max<ssize_t>(got, 0);
    return got;
  }
  ssize_t write(const char* data, size_t size) override {
    if (!ready(POLLOUT, options_.write_seconds * 1000)) return -1;
    return ::send(socket_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  // What httplib tells handlers of addresses is used by nobody here.
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  socket_t socket() const override { return socket_; }

  // A reset would take a reply away that the client has not read yet, so what it still sends is waited out a little.
  void close() {
    ::shutdown(socket_, SHUT_WR);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kLingerMilliseconds);
    char waste[4096];
    while (broken_ && std::chrono::steady_clock::now() < end && ready(POLLIN, kLingerMilliseconds) &&
           ::recv(socket_, waste, sizeof(waste), 0) > 0) {
    }
    ::close(socket_);
  }

 private:
  bool ready(short events, int milliseconds) const {
    pollfd poll_for{socket_, events, 0};
    int result = 0;
    do result = ::poll(&poll_for, 1, milliseconds);
    while (result < 0 && errno == EINTR);
    return result > 0 && (poll_for.revents & (events | POLLHUP | POLLERR)) != 0;
  }
  // A client that has closed its side has left.
  bool is_there() const {
    char byte;
    const ssize_t got = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
  }

  int socket_;
  const HttpOptions& options_;
  int64_t bytes_left_ = 0;
  bool broken_ = false;
};

thread_local Connection* t_connection = nullptr;  // that this thread serves: httplib hands handlers no way to it

}  // namespace

class HttpServer::Server : public httplib::Server {
 public:
  Server(const HttpOptions& options, HttpServer::Handler handler, std::function<HttpReply(int)> refuse)
      : options_(options), handler_(std::move(handler)), refuse_(std::move(refuse)) {
    new_task_queue = [this] { return new Connections(options_.max_connections); };
    set_tcp_nodelay(true);
    set_payload_max_length(static_cast<size_t>(options_.max_body_bytes));
    set_error_handler(HandlerWithResponse([this](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty()) send(refuse_(response.status), response);
      return HandlerResponse::Handled;
    }));
    set_exception_handler([this](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
      send(refuse_(500), response);
    });
    Get(".*", [this](const httplib::Request& request, httplib::Response& response) { answer(request, "", response); });
    Post(".*", [this](const httplib::Request& request, httplib::Response& response,
                      const httplib::ContentReader& reader) { post(request, response, reader); });
    port_ = options.port == 0 ? bind_to_any_port(options.host) : options.port;
    if (options.port != 0 && !bind_to_port(options.host, options.port)) port_ = -1;
    if (port_ < 0) {
      throw Error(fmt::format("cannot listen on {}:{}", options.host, options.port),
                  "name another --port, and with --host an address of this machine");
    }
    ::listen(svr_sock_, kBacklog);  // httplib's own is 5: clients that come together would wait for seconds
  }

  int port() const { return port_; }
  void drain() { leaves_ = true; }
  int num_active() const { return num_active_; }
  // Ends httplib's loop, also before it begins, where its own stop() would be forgotten.
  void close_port() {
    const socket_t socket = svr_sock_.exchange(INVALID_SOCKET);
    if (socket == INVALID_SOCKET) return;
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
  }

 private:
  struct Active {
    explicit Active(std::atomic<int>& number) : number_(number) { ++number_; }
    ~Active() { --number_; }
    std::atomic<int>& number_;
  };

  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket, options_);
    t_connection = &connection;
    bool closed = false;
    while (!closed && connection.begin_request(leaves_)) {
      if (!process_request(connection, leaves_, closed, nullptr) || !connection.is_usable()) break;
    }
    t_connection = nullptr;
    connection.close();
    return true;
  }

  void post(const httplib::Request& request, httplib::Response& response, const httplib::ContentReader& reader) {
    if (request.is_multipart_form_data()) {
      t_connection->give_up();
      return send(refuse_(415), response);
    }
    t_connection->expect_body();
    std::string body;
    bool too_large = false;
    const bool read = reader([&](const char* data, size_t size) {
      too_large = static_cast<int64_t>(body.size() + size) > options_.max_body_bytes;
      if (!too_large) body.append(data, size);
      return !too_large;
    });
    if (read && !too_large) return answer(request, std::move(body), response);
    t_connection->give_up();
    too_large = too_large || response.status == 413;
    send(refuse_(too_large ? 413 : 400), response);
  }

  void answer(const httplib::Request& request, std::string body, httplib::Response& response) {
    if (leaves_) return send(refuse_(503), response);
    const auto active = std::make_shared<Active>(num_active_);
    HttpReply reply =
        handler_({request.method, request.path, request.get_header_value("Authorization"), std::move(body)});
    if (!reply.next) return send(reply, response);
    response.status = reply.status;
    response.set_chunked_content_provider(reply.content_type,
                                          [active, next = std::move(reply.next)](size_t, httplib::DataSink& sink) {
                                            if (!sink.is_writable()) return false;
                                            std::string out;
                                            bool whole = true;
                                            const bool more = next(out, whole);
                                            if (!out.empty() && !sink.write(out.data(), out.size())) return false;
                                            if (!more && whole) sink.done();
                                            return more || whole;
                                          });
  }

  static void send(const HttpReply& reply, httplib::Response& response) {
    response.status = reply.status;
    if (reply.status == 401) response.set_header("WWW-Authenticate", "Bearer");
    if (reply.status == 429 || reply.status == 503) response.set_header("Retry-After", "1");
    response.set_content(reply.body, reply.content_type);
  }

  const HttpOptions options_;
  const HttpServer::Handler handler_;
  const std::function<HttpReply(int)> refuse_;
  int port_ = -1;
  std::atomic<bool> leaves_{false};
  std::atomic<int> num_active_{0};
};

HttpServer::HttpServer(const HttpOptions& options, HttpServer::Handler handler, std::function<HttpReply(int)> refuse)
    : server_(std::make_unique<Server>(options, std::move(handler), std::move(refuse))) {}
HttpServer::~HttpServer() = default;
int HttpServer::port() const { return server_->port(); }
void HttpServer::run() { server_->listen_after_bind(); }
void HttpServer::drain() { server_->drain(); }
int HttpServer::num_active() const { return server_->num_active(); }
void HttpServer::stop() {
  server_->drain();
  server_->close_port();
}

}  // namespace hone::serve
