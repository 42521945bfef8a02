#include "rollout/batch.h"

#include <algorithm>

namespace hone {

namespace {

void append_tokens(ForwardBatch& batch, const Sequence& sequence, int64_t num_tokens) {
  const int64_t begin = sequence.num_cached, end = begin + num_tokens;
  const int64_t num_own = std::min(num_tokens, sequence.num_uncached());
  batch.ids.insert(batch.ids.end(), sequence.ids.begin() + begin, sequence.ids.begin() + begin + num_own);
  if (num_own < num_tokens) batch.ids.insert(batch.ids.end(), sequence.draft.begin(), sequence.draft.end());
  for (int64_t position = begin; position < end; ++position) {
    const int64_t block = sequence.block_table[static_cast<size_t>(position / kernels::kKvBlock)];
    batch.positions.push_back(static_cast<int32_t>(position));
    batch.slots.push_back(static_cast<int32_t>(block * kernels::kKvBlock + position % kernels::kKvBlock));
  }
  batch.cu_seqlens.push_back(static_cast<int32_t>(batch.ids.size()));
  batch.context_lens.push_back(static_cast<int32_t>(end));
}

}  // namespace

void reserve_batch(ForwardBatch& batch, int64_t max_tokens, int64_t max_sequences, int64_t max_blocks) {
  for (std::vector<int32_t>* of_token : {&batch.ids, &batch.positions, &batch.slots}) {
    of_token->reserve(static_cast<size_t>(max_tokens));
  }
  for (std::vector<int32_t>* of_sequence : {&batch.cu_seqlens, &batch.context_lens, &batch.logit_rows}) {
    of_sequence->reserve(static_cast<size_t>(max_sequences) + 1);
  }
  const auto cells = static_cast<size_t>(max_sequences * max_blocks);
  if (cells > batch.block_table.capacity()) {  // doubled: prompts may come in the order of their lengths
    batch.block_table.reserve(std::max(cells, 2 * batch.block_table.capacity()));
  }
}

void fill_batch(ForwardBatch& batch, const Schedule& schedule) {
  batch.ids.clear();
  batch.positions.clear();
  batch.slots.clear();
  batch.cu_seqlens.assign(1, 0);
  batch.context_lens.clear();
  batch.logit_rows.clear();
  size_t max_blocks = 0;
  for (const Schedule::Item& item : schedule.items) {
    append_tokens(batch, *item.sequence, item.num_tokens);
    max_blocks = std::max(max_blocks, item.sequence->block_table.size());
  }
  batch.max_blocks = static_cast<int64_t>(max_blocks);
  batch.block_table.assign(schedule.items.size() * max_blocks, 0);
  for (size_t i = 0; i < schedule.items.size(); ++i) {
    const std::vector<int32_t>& table = schedule.items[i].sequence->block_table;
    std::copy(table.begin(), table.end(), batch.block_table.begin() + static_cast<std::ptrdiff_t>(i * max_blocks));
  }
  for (const Schedule::Draw& draw : schedule.draws) batch.logit_rows.push_back(static_cast<int32_t>(draw.row));
}

}  // namespace hone
