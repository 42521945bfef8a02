#include "text/bpe.h"

#include <queue>
#include <tuple>

#include "core/error.h"

namespace hone::text {

Bpe::Bpe(const Vocabulary& vocabulary, MergeTable merges, bool whole_first)
    : merges_(std::move(merges)), whole_(vocabulary.size()) {
  byte_ids_.fill(-1);
  for (const auto& [bytes, id] : vocabulary) {
    if (bytes.size() == 1) byte_ids_[static_cast<unsigned char>(bytes[0])] = id;
  }
  std::vector<int32_t> ids;
  for (const auto& [bytes, id] : vocabulary) {
    ids.clear();
    if (whole_first || (append_merged(bytes, ids) && ids.size() == 1 && ids[0] == id)) whole_.insert(bytes, id);
  }
}

bool Bpe::encode(std::string_view piece, std::vector<int32_t>& ids) const {
  const int32_t whole = whole_.find(piece);
  if (whole < 0) return append_merged(piece, ids);
  ids.push_back(whole);
  return true;
}

bool Bpe::append_merged(std::string_view piece, std::vector<int32_t>& ids) const {
  const size_t begin = ids.size();
  for (const char byte : piece) {
    const int32_t id = byte_ids_[static_cast<unsigned char>(byte)];
    if (id < 0) {
      ids.resize(begin);
      return false;
    }
    ids.push_back(id);
  }
  if (piece.size() <= kMaxScan) {
    merge_by_scan(merges_, ids, begin);
  } else {
    merge_by_heap(merges_, ids, begin);
  }
  return true;
}

void merge_by_scan(const MergeTable& merges, std::vector<int32_t>& ids, size_t begin) {
  int32_t* symbol = ids.data() + begin;
  size_t n = ids.size() - begin;
  HONE_CHECK(n <= kMaxScan, "{} symbols", n);
  std::array<Merge, kMaxScan> pairs;  // pairs[i]: what becomes of symbols i and i + 1
  for (size_t i = 0; i + 1 < n; ++i) pairs[i] = merges.find(symbol[i], symbol[i + 1]);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; ++i) {
      if (pairs[i].rank < pairs[best].rank) best = i;
    }
    if (pairs[best].rank == kNoRank) break;
    symbol[best] = pairs[best].id;
    for (size_t i = best + 1; i + 1 < n; ++i) {
      symbol[i] = symbol[i + 1];
      pairs[i] = pairs[i + 1];
    }
    --n;
    if (best > 0) pairs[best - 1] = merges.find(symbol[best - 1], symbol[best]);
    if (best + 1 < n) pairs[best] = merges.find(symbol[best], symbol[best + 1]);
  }
  ids.resize(begin + n);
}

void merge_by_heap(const MergeTable& merges, std::vector<int32_t>& ids, size_t begin) {
  constexpr int32_t kGone = -1;
  const size_t n = ids.size() - begin;
  int32_t* symbol = ids.data() + begin;
  std::vector<size_t> left(n), right(n);                // neighbours still there; n is the end
  using Entry = std::tuple<uint32_t, size_t, int32_t>;  // rank, place, id made
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
  const auto push = [&](size_t i) {
    if (right[i] >= n) return;
    const Merge merge = merges.find(symbol[i], symbol[right[i]]);
    if (merge.rank != kNoRank) heap.emplace(merge.rank, i, merge.id);
  };
  for (size_t i = 0; i < n; ++i) left[i] = i == 0 ? n : i - 1, right[i] = i + 1;
  for (size_t i = 0; i < n; ++i) push(i);
  while (!heap.empty()) {
    const auto [rank, i, id] = heap.top();
    heap.pop();
    if (symbol[i] == kGone || right[i] >= n) continue;
    const size_t j = right[i];
    const Merge merge = merges.find(symbol[i], symbol[j]);
    if (merge.rank != rank || merge.id != id) continue;  // the pair has changed since
    symbol[i] = id;
    symbol[j] = kGone;
    right[i] = right[j];
    if (right[j] < n) left[right[j]] = i;
    push(i);
    if (left[i] < n) push(left[i]);
  }
  size_t kept = 0;
  for (size_t i = 0; i < n; ++i) {
    if (symbol[i] != kGone) symbol[kept++] = symbol[i];
  }
  ids.resize(begin + kept);
}

}  // namespace hone::text
