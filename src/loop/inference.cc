#include "loop/inference.h"

#include <algorithm>
#include <thread>

#include "loop/numeric_mode.h"
#include "loop/process_memory.h"
#include "text/end_ids.h"
#include "weights/hf_config.h"
#include "weights/hf_folder.h"

namespace hone {

Inference::Inference(const std::string& folder, const std::string& dtype_name, int threads, int64_t max_num_seqs,
                     int64_t longest)
    : ctx_(threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))),
      tokenizer_(Tokenizer::load(folder)),
      end_ids_(read_end_ids(folder)) {
  const DType dtype = resolve_dtype(dtype_name, ctx_.target);
  const ModelConfig config = weights::load_config(folder);
  if (longest > config.max_position_embeddings) {
    throw Error(fmt::format("the longest prompt and answer are {} ids, the model's context is {}", longest,
                            config.max_position_embeddings),
                "lower --max-new-tokens");
  }
  EngineOptions options;
  options.max_num_seqs = max_num_seqs;
  options.max_num_batched_tokens = std::max<int64_t>(2048, max_num_seqs);
  const int64_t block = kernels::kKvBlock;
  options.num_kv_blocks = max_num_seqs * ((longest + block - 1) / block + 1);
  check_memory({{"weights (float32) and their packed form", config.num_parameters() * (4 + size_bytes(dtype))},
                {"KV cache", options.num_kv_blocks * KvCache::block_bytes(config, dtype)}});
  decoder_ = std::make_unique<Decoder>(config, dtype);
  weights::load_weights(*decoder_, folder);
  decoder_->publish(ctx_, 0);
  engine_ = std::make_unique<Engine>(ctx_, *decoder_, options);
}

}  // namespace hone
