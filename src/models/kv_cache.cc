#include "models/kv_cache.h"

#include <cstring>

namespace hone {

KvCache::KvCache(const ModelConfig& config, DType dtype, int64_t num_blocks, KvLayers layers)
    : data_(num_blocks * block_bytes(config, dtype, layers)), num_blocks_(num_blocks) {
  char* next = data_.data();
  for (int64_t l = 0; l < config.num_layers; ++l) {
    kernels::KvLayer layer{.keys = nullptr,
                           .values = nullptr,
                           .dtype = dtype,
                           .num_blocks = num_blocks,
                           .num_kv_heads = config.num_kv_heads,
                           .head_dim = config.head_dim};
    const int64_t half = num_blocks * layer.block_elements() * size_bytes(dtype);
    layer.keys = next;
    layer.values = next + half;
    if (layers == KvLayers::own) next += 2 * half;
    layers_.push_back(layer);
  }
}

int64_t KvCache::block_bytes(const ModelConfig& config, DType dtype, KvLayers layers) {
  return (layers == KvLayers::own ? config.num_layers : 1) * 2 * config.kv_size() * kernels::kKvBlock *
         size_bytes(dtype);
}

double KvCache::memory_bytes(const ModelConfig& config, DType dtype, int64_t num_blocks) {
  return static_cast<double>(num_blocks) * static_cast<double>(block_bytes(config, dtype));
}

void KvCache::copy_block(int32_t to, int32_t from) {
  for (const kernels::KvLayer& layer : layers_) {
    const int64_t bytes = layer.block_elements() * size_bytes(layer.dtype);
    for (void* half : {layer.keys, layer.values}) {
      char* data = static_cast<char*>(half);
      std::memcpy(data + to * bytes, data + from * bytes, static_cast<size_t>(bytes));
    }
  }
}

}  // namespace hone
