#include "train/packing.h"

#include <algorithm>

#include "core/error.h"

namespace hone {

namespace {

constexpr int64_t kBlock = kernels::kKvBlock;

int64_t blocks_for(int64_t tokens) { return (tokens + kBlock - 1) / kBlock; }

// Packs one sequence after the other.
class Packer {
 public:
  Packer(PackedBatch& packed, std::span<const TrainSequence> sequences) : packed_(packed), sequences_(sequences) {
    ForwardBatch& b = packed_.batch;
    for (const TrainSequence& s : sequences_) b.max_blocks = std::max(b.max_blocks, blocks_for(s.num_rows()));
    b.cu_seqlens.push_back(0);
  }

  // All of the sequence.
  void add_whole(size_t index) {
    owner_ = num_entries();
    owner_row_ = num_rows();
    owner_block_ = packed_.num_blocks;
    add_entry(sequences_[index], 0, -1);
    want_logits(sequences_[index], index, owner_row_, 0);
  }
  // What comes after the prompt of the last whole sequence.
  void add_answer(size_t index) {
    const TrainSequence& s = sequences_[index];
    const int64_t row = num_rows();
    want_logits(s, index, owner_row_, s.num_prompt - 1, s.num_prompt);
    if (s.num_rows() == s.num_prompt) return;  // its one id follows the prompt
    add_entry(s, s.num_prompt, static_cast<int32_t>(owner_));
    want_logits(s, index, row - s.num_prompt, s.num_prompt);
  }

 private:
  int64_t num_rows() const { return packed_.batch.num_tokens(); }
  int64_t num_entries() const { return static_cast<int64_t>(packed_.batch.context_lens.size()); }

  // Rows of the positions from `begin` on; the blocks before them are the owner's, but for a part of one.
  void add_entry(const TrainSequence& s, int64_t begin, int32_t prefix_of) {
    ForwardBatch& b = packed_.batch;
    const int64_t num_shared = begin / kBlock, own = packed_.num_blocks - num_shared;  // block k of it is own + k
    for (int64_t p = num_shared * kBlock; p < begin; ++p) {
      b.copied_rows.push_back(static_cast<int32_t>(owner_row_ + p));
      b.copied_slots.push_back(static_cast<int32_t>(own * kBlock + p));
    }
    for (int64_t p = begin; p < s.num_rows(); ++p) {
      b.ids.push_back(s.ids[static_cast<size_t>(p)]);
      b.positions.push_back(static_cast<int32_t>(p));
      b.slots.push_back(static_cast<int32_t>(own * kBlock + p));
    }
    packed_.num_blocks = own + blocks_for(s.num_rows());
    b.cu_seqlens.push_back(static_cast<int32_t>(num_rows()));
    b.context_lens.push_back(static_cast<int32_t>(s.num_rows()));
    b.prefix_of.push_back(prefix_of);
    for (int64_t k = 0; k < b.max_blocks; ++k) {
      const int64_t block = k < num_shared ? owner_block_ + k : std::min(own + k, packed_.num_blocks - 1);
      b.block_table.push_back(static_cast<int32_t>(block));
    }
  }

  // Logits of positions [begin, end) where what follows has loss; position p stands in row first_row + p.
  void want_logits(const TrainSequence& s, size_t index, int64_t first_row, int64_t begin, int64_t end = INT64_MAX) {
    for (int64_t p = std::max(begin, s.num_prompt - 1); p < std::min(end, s.num_rows()); ++p) {
      const int64_t offset = p + 1 - s.num_prompt;
      if (!s.has_loss(offset)) continue;
      packed_.batch.logit_rows.push_back(static_cast<int32_t>(first_row + p));
      packed_.targets.push_back(s.ids[static_cast<size_t>(p + 1)]);
      packed_.sequences.push_back(static_cast<int32_t>(index));
      packed_.offsets.push_back(static_cast<int32_t>(offset));
    }
  }

  PackedBatch& packed_;
  std::span<const TrainSequence> sequences_;
  int64_t owner_ = 0, owner_row_ = 0, owner_block_ = 0;  // of the last whole sequence
};

}  // namespace

bool same_prompt(const TrainSequence& a, const TrainSequence& b) {
  return a.num_prompt == b.num_prompt && std::equal(a.ids.begin(), a.ids.begin() + a.num_prompt, b.ids.begin());
}

void pack_sequences(PackedBatch& packed, std::span<const TrainSequence> sequences, bool share_prompts) {
  packed = {};
  Packer packer(packed, sequences);
  for (size_t i = 0; i < sequences.size(); ++i) {
    HONE_CHECK(sequences[i].num_prompt >= 1 && sequences[i].num_response() >= 1,
               "sequence of {} prompt and {} response ids", sequences[i].num_prompt, sequences[i].num_response());
    if (i > 0 && share_prompts && same_prompt(sequences[i - 1], sequences[i])) {
      packer.add_answer(i);
    } else {
      packer.add_whole(i);
    }
  }
}

}  // namespace hone
