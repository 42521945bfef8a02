#include "serve/serve.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "core/error.h"
#include "loop/inference.h"
#include "loop/interrupt.h"
#include "serve/service.h"
#include "weights/hf_config.h"

namespace hone::serve {

namespace {

EngineOptions engine_options(const ServeOptions& options, const ModelConfig& config, DType dtype,
                             int64_t& max_model_len) {
  const int64_t block = kernels::kKvBlock;
  const double bytes = options.kv_cache_gib * double(int64_t{1} << 30);
  const int64_t affordable = static_cast<int64_t>(bytes / static_cast<double>(KvCache::block_bytes(config, dtype)));
  const int64_t context = config.max_position_embeddings;
  max_model_len = options.max_model_len.value_or(std::min(context, affordable * block));
  if (max_model_len < 2 || max_model_len > context || max_model_len > affordable * block) {
    throw Error(fmt::format("--max-model-len {}: the model's context is {}, {} GiB of KV cache hold {}", max_model_len,
                            context, options.kv_cache_gib, affordable * block),
                "lower --max-model-len or raise --kv-cache-gib");
  }
  EngineOptions engine;
  engine.max_num_seqs = options.max_num_seqs;
  engine.max_num_batched_tokens = std::max<int64_t>(2048, options.max_num_seqs);
  engine.num_kv_blocks = std::min(affordable, options.max_num_seqs * ((max_model_len + block - 1) / block + 1));
  engine.record_steps = true;
  return engine;
}

// Until a signal comes or the engine fails; then answers in flight get some time.
void watch(const Interrupt& interrupt, HttpServer& http, EngineThread& engine, int64_t drain_seconds) {
  using namespace std::chrono_literals;
  while (!interrupt.requested() && engine.failure().empty()) std::this_thread::sleep_for(50ms);
  http.drain();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(drain_seconds);
  while (http.num_active() > 0 && engine.failure().empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(20ms);
  }
  engine.stop();  // cuts what is left
  for (int k = 0; k < 100 && http.num_active() > 0; ++k) std::this_thread::sleep_for(20ms);
  http.stop();
}

}  // namespace

int serve(const ServeOptions& options) {
  ServiceOptions service_options;
  service_options.model_name = options.served_name.empty() ? options.model : options.served_name;
  service_options.api_key = options.api_key;
  service_options.seed = options.seed;
  Tokenizer loaded = Tokenizer::load(options.model);
  HttpOptions http_options;
  http_options.host = options.host;
  http_options.port = options.port;
  http_options.max_body_bytes = static_cast<int64_t>(options.max_body_mib * (1 << 20));
  http_options.max_connections = options.max_connections;
  Inference inference(options.model, std::move(loaded), options.dtype, options.threads,
                      [&](const ModelConfig& config, DType dtype) {
                        return engine_options(options, config, dtype, service_options.max_model_len);
                      });
  if (!inference.end_note().empty()) fmt::print(stderr, "{}\n", inference.end_note());
  const Tokenizer& tokenizer = inference.tokenizer();
  const ChatTemplate chat(options.model, options.chat_template, tokenizer);
  service_options.vocab_size = tokenizer.vocab_size();
  service_options.end_ids = inference.end_ids();

  const Interrupt interrupt("\nstopping: answers in flight are finished; once more leaves at once\n");
  EngineThread engine(inference.engine(), options.max_num_seqs + options.max_waiting);
  const Service service(service_options, engine, tokenizer, chat);
  HttpServer http(
      http_options, [&](const HttpRequest& request) { return service.handle(request); }, Service::refuse);
  fmt::print("serving {} on http://{}:{} (context {}, {} blocks of KV cache)\n", service_options.model_name,
             options.host, http.port(), service_options.max_model_len, inference.engine().num_kv_blocks());
  std::fflush(stdout);
  std::thread watcher([&] { watch(interrupt, http, engine, options.drain_seconds); });
  http.run();
  watcher.join();
  if (!engine.failure().empty()) throw Error(engine.failure(), "", 4);
  return 0;
}

}  // namespace hone::serve
