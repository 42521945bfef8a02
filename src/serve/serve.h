// serve(): loads a model and answers requests until SIGINT or SIGTERM.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hone::serve {

struct ServeOptions {
  std::string model;        // folder
  std::string served_name;  // what clients call it; empty: the folder as given
  std::string chat_template, dtype = "auto", host = "127.0.0.1", api_key;
  int port = 8000, threads = 0;
  int64_t max_num_seqs = 64;             // answers that run at once
  int64_t max_waiting = 256;             // and that wait
  std::optional<int64_t> max_model_len;  // prompt and answer; default: the model's context, or what the cache holds
  double kv_cache_gib = 1;
  double max_body_mib = 4;
  int max_connections = 256;
  uint64_t seed = 1;
  int64_t drain_seconds = 30;  // for answers in flight when the server is told to stop
};

// Exit code: 0 when told to stop. Raises Error as loading does, and when the engine fails (exit code 4).
int serve(const ServeOptions& options);

}  // namespace hone::serve
