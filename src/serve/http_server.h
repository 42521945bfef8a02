// HttpServer: requests over HTTP/1.1 to a handler, replies in one piece or as they are made. A connection has a thread
// of its own up to max_connections; those beyond wait in the system's backlog. A client that leaves, or takes nothing
// for write_seconds, ends its reply.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace hone::serve {

struct HttpRequest {
  std::string method, path, authorization;
  std::string body;
};

struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  // Set: the body is what this appends, until it says false. It may wait a little; between calls the server looks
  // whether the client is still there, and when it is not, drops this. A false in `whole` ends the connection, so that
  // the client sees that something is missing.
  std::function<bool(std::string& out, bool& whole)> next;
};

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 8000;  // 0: any that is free
  int64_t max_body_bytes = 4 << 20;
  int max_connections = 256;
  int read_seconds = 10, write_seconds = 20, idle_seconds = 5;
};

class HttpServer {
 public:
  using Handler = std::function<HttpReply(const HttpRequest&)>;  // called by any thread, several at once
  // Binds. `refuse`: the reply of a request that never reaches the handler (413 a body too large, 400 no HTTP, 503 the
  // server is leaving). Raises Error when the address cannot be had.
  HttpServer(const HttpOptions& options, Handler handler, std::function<HttpReply(int status)> refuse);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  // Serves until stop(), on the calling thread and those of connections.
  void run();
  // From any thread: new requests get 503 from now on.
  void drain();
  // Replies that are being made.
  int num_active() const;
  // From any thread: run() returns when the replies of the moment have been cut or ended.
  void stop();

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace hone::serve
