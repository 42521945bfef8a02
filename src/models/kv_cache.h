// KvCache: the memory of the keys and values of all layers in blocks of kKvBlock tokens. Who owns which block is
// decided elsewhere (rollout's block pool; training gives every sequence its own).
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.h"
#include "kernels/attention.h"
#include "models/model_config.h"

namespace hone {

// Every layer has memory of its own, or all share one: what a layer wrote is then gone with the next one's.
enum class KvLayers { own, shared };

class KvCache {
 public:
  KvCache() = default;
  KvCache(const ModelConfig& config, DType dtype, int64_t num_blocks, KvLayers layers = KvLayers::own);

  const kernels::KvLayer& layer(int64_t index) const { return layers_[static_cast<size_t>(index)]; }
  int64_t num_blocks() const { return num_blocks_; }
  int64_t held_bytes() const { return data_.size_bytes(); }
  // Bytes of one block over all layers, keys and values.
  static int64_t block_bytes(const ModelConfig& config, DType dtype, KvLayers layers = KvLayers::own);
  // Bytes of so many blocks, as they are asked from the system; a double for absurd numbers.
  static double memory_bytes(const ModelConfig& config, DType dtype, int64_t num_blocks);
  // Copies the keys and values of a block to another, in every layer (a shared last block that must be written).
  void copy_block(int32_t to, int32_t from);

 private:
  Buffer<char> data_;
  std::vector<kernels::KvLayer> layers_;
  int64_t num_blocks_ = 0;
};

}  // namespace hone
