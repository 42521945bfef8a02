#include "train/packing.h"

#include <algorithm>

#include "core/error.h"

namespace hone {

void pack_sequences(PackedBatch& packed, std::span<const TrainSequence> sequences) {
  packed = {};
  ForwardBatch& b = packed.batch;
  constexpr int64_t block = kernels::kKvBlock;
  for (const TrainSequence& s : sequences) b.max_blocks = std::max(b.max_blocks, (s.num_rows() + block - 1) / block);
  b.cu_seqlens.push_back(0);
  for (size_t i = 0; i < sequences.size(); ++i) {
    const TrainSequence& s = sequences[i];
    HONE_CHECK(s.num_prompt >= 1 && s.num_response() >= 1, "sequence of {} prompt and {} response ids", s.num_prompt,
               s.num_response());
    const int64_t first_block = packed.num_blocks;
    for (int64_t p = 0; p < s.num_rows(); ++p) {
      if (p + 1 >= s.num_prompt && s.has_loss(p + 1 - s.num_prompt)) {
        b.logit_rows.push_back(static_cast<int32_t>(b.ids.size()));
        packed.targets.push_back(s.ids[static_cast<size_t>(p + 1)]);
        packed.sequences.push_back(static_cast<int32_t>(i));
        packed.offsets.push_back(static_cast<int32_t>(p + 1 - s.num_prompt));
      }
      b.ids.push_back(s.ids[static_cast<size_t>(p)]);
      b.positions.push_back(static_cast<int32_t>(p));
      b.slots.push_back(static_cast<int32_t>(first_block * block + p));
    }
    packed.num_blocks += (s.num_rows() + block - 1) / block;
    b.cu_seqlens.push_back(static_cast<int32_t>(b.ids.size()));
    b.context_lens.push_back(static_cast<int32_t>(s.num_rows()));
    for (int64_t k = 0; k < b.max_blocks; ++k) {
      b.block_table.push_back(static_cast<int32_t>(std::min(first_block + k, packed.num_blocks - 1)));
    }
  }
}

}  // namespace hone
