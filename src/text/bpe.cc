#include "text/bpe.h"

#include <algorithm>
#include <tuple>

#include "core/error.h"

namespace hone::text {

Bpe::Bpe(const Vocabulary& vocabulary, MergeTable merges, BpeRules rules)
    : merges_(std::move(merges)), rules_(rules), whole_(vocabulary.size()) {
  byte_ids_.fill(-1);
  for (const auto& [bytes, id] : vocabulary) {
    if (bytes.size() == 1) byte_ids_[static_cast<unsigned char>(bytes[0])] = id;
  }
  std::vector<int32_t> ids;
  for (const auto& [bytes, id] : vocabulary) {
    ids.clear();
    if (rules_.ignore_merges || (append_merged(bytes, ids) && ids.size() == 1 && ids[0] == id)) {
      whole_.insert(bytes, id);
    }
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
  bool after_unknown = false;
  for (const char byte : piece) {
    int32_t id = byte_ids_[static_cast<unsigned char>(byte)];
    const bool unknown = id < 0;
    if (unknown) {
      if (!rules_.unknown_id) {
        ids.resize(begin);
        return false;
      }
      id = *rules_.unknown_id;
    }
    if (!(unknown && after_unknown && rules_.fuse_unknown)) ids.push_back(id);
    after_unknown = unknown;
  }
  if (ids.size() - begin <= kMaxScan) {
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

namespace {

// What becomes of two neighbours; `place` is the left one's. The heap gives the lowest rank, then the leftmost.
struct Candidate {
  uint32_t rank, place;
  int32_t id;
  bool operator<(const Candidate& other) const {
    return std::tie(rank, place) > std::tie(other.rank, other.place);  // std heaps have the greatest on top
  }
};

}  // namespace

void merge_by_heap(const MergeTable& merges, std::vector<int32_t>& ids, size_t begin) {
  constexpr int32_t kGone = -1;
  HONE_CHECK(ids.size() - begin < UINT32_MAX, "{} symbols", ids.size() - begin);
  const auto n = static_cast<uint32_t>(ids.size() - begin);
  int32_t* symbol = ids.data() + begin;
  std::vector<uint32_t> left(n), right(n);  // neighbours still there; n is the end
  for (uint32_t i = 0; i < n; ++i) left[i] = i == 0 ? n : i - 1, right[i] = i + 1;
  std::vector<Candidate> heap;
  const auto add = [&](uint32_t i) {
    if (right[i] >= n) return false;
    const Merge merge = merges.find(symbol[i], symbol[right[i]]);
    if (merge.rank == kNoRank) return false;
    heap.push_back({merge.rank, i, merge.id});
    return true;
  };
  const auto push = [&](uint32_t i) {
    if (add(i)) std::push_heap(heap.begin(), heap.end());
  };
  for (uint32_t i = 0; i < n; ++i) add(i);
  std::make_heap(heap.begin(), heap.end());
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const auto [rank, i, id] = heap.back();
    heap.pop_back();
    if (symbol[i] == kGone || right[i] >= n) continue;
    const uint32_t j = right[i];
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
  for (uint32_t i = 0; i < n; ++i) {
    if (symbol[i] != kGone) symbol[kept++] = symbol[i];
  }
  ids.resize(begin + kept);
}

}  // namespace hone::text
