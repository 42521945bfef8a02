#include "text/bpe.h"

#include <gtest/gtest.h>

#include <map>

#include "core/random.h"

namespace hone::text {
namespace {

struct Toy {
  Vocabulary vocabulary;
  std::map<std::pair<int32_t, int32_t>, Merge> merges;
  MergeTable table{1000};
};

// Bytes 'a'..'d', and random merges of any two tokens there are.
Toy random_toy(uint32_t trial) {
  Toy toy;
  std::map<std::string, int32_t> ids;
  for (const char* byte : {"a", "b", "c", "d"}) ids.emplace(byte, static_cast<int32_t>(ids.size()));
  for (const auto& [bytes, id] : ids) toy.vocabulary.emplace_back(bytes, id);
  for (uint32_t rank = 0; rank < 40; ++rank) {
    const auto n = static_cast<uint32_t>(toy.vocabulary.size());
    const auto [left, l] = toy.vocabulary[random_below({1, Stream::test}, trial, 0, rank, n)];
    const auto [right, r] = toy.vocabulary[random_below({1, Stream::test}, trial, 1, rank, n)];
    const auto [it, is_new] = ids.emplace(left + right, static_cast<int32_t>(n));
    if (is_new) toy.vocabulary.emplace_back(left + right, it->second);
    const Merge merge{rank, it->second};
    EXPECT_EQ(toy.merges.emplace(std::pair(l, r), merge).second, toy.table.insert(l, r, merge));
  }
  return toy;
}

// The definition, word for word.
std::vector<int32_t> merge_slowly(const Toy& toy, std::vector<int32_t> ids) {
  while (true) {
    Merge best;
    size_t at = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto found = toy.merges.find({ids[i], ids[i + 1]});
      if (found != toy.merges.end() && found->second.rank < best.rank) best = found->second, at = i;
    }
    if (best.rank == kNoRank) return ids;
    ids[at] = best.id;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

TEST(Bpe, ScanAndHeapGiveWhatTheDefinitionGives) {
  for (uint32_t trial = 0; trial < 300; ++trial) {
    const Toy toy = random_toy(trial);
    std::vector<int32_t> symbols(random_below({2, Stream::test}, trial, 0, 0, kMaxScan + 1));
    for (uint32_t i = 0; i < symbols.size(); ++i) {
      symbols[i] = static_cast<int32_t>(random_below({3, Stream::test}, trial, 0, i, trial % 4 + 1));
    }
    const auto expected = merge_slowly(toy, symbols);
    std::vector<int32_t> by_scan{-7}, by_heap{-7};  // what stands before `begin` is left alone
    by_scan.insert(by_scan.end(), symbols.begin(), symbols.end());
    by_heap = by_scan;
    merge_by_scan(toy.table, by_scan, 1);
    merge_by_heap(toy.table, by_heap, 1);
    EXPECT_EQ(std::vector<int32_t>(by_scan.begin() + 1, by_scan.end()), expected);
    EXPECT_EQ(by_heap, by_scan);
    const Bpe bpe(toy.vocabulary, toy.table, {});
    std::string piece;
    for (const int32_t s : symbols) piece += static_cast<char>('a' + s);
    std::vector<int32_t> ids;
    EXPECT_TRUE(bpe.encode(piece, ids));
    EXPECT_EQ(ids, expected);
  }
}

TEST(Bpe, LeftmostOfEqualsFirst) {
  MergeTable merges(1);
  merges.insert(0, 0, {0, 1});
  std::vector<int32_t> ids;
  ASSERT_TRUE(Bpe({{"a", 0}, {"aa", 1}}, merges, {}).encode("aaaaa", ids));
  EXPECT_EQ(ids, (std::vector<int32_t>{1, 1, 0}));
}

TEST(Bpe, AWholePieceThatIsATokenIsTakenOnlyWhenMergesMakeItOrAreIgnored) {
  const Vocabulary vocabulary = {{"a", 0}, {"b", 1}, {"ab", 2}};
  std::vector<int32_t> ids;
  ASSERT_TRUE(Bpe(vocabulary, MergeTable(0), {}).encode("ab", ids));
  ASSERT_TRUE(Bpe(vocabulary, MergeTable(0), {.ignore_merges = true}).encode("ab", ids));
  EXPECT_EQ(ids, (std::vector<int32_t>{0, 1, 2}));
}

TEST(Bpe, AByteWithoutTokenIsReportedAndNothingIsAppended) {
  std::vector<int32_t> ids = {5};
  EXPECT_FALSE(Bpe({{"a", 0}}, MergeTable(0), {}).encode("ab", ids));
  EXPECT_EQ(ids, std::vector<int32_t>{5});
}

TEST(Bpe, AnUnknownTokenStandsForBytesOrForTheirRuns) {
  const Vocabulary vocabulary = {{"a", 0}, {"b", 1}};
  std::vector<int32_t> each, fused;
  ASSERT_TRUE(Bpe(vocabulary, MergeTable(0), {.unknown_id = 9}).encode("axyb", each));
  ASSERT_TRUE(Bpe(vocabulary, MergeTable(0), {.unknown_id = 9, .fuse_unknown = true}).encode("axybz", fused));
  EXPECT_EQ(each, (std::vector<int32_t>{0, 9, 9, 1}));
  EXPECT_EQ(fused, (std::vector<int32_t>{0, 9, 1, 9}));
}

TEST(Bpe, ALongPieceIsQuick) {
  MergeTable merges(3);
  merges.insert(0, 0, {0, 1});
  merges.insert(1, 1, {1, 2});
  std::vector<int32_t> ids;
  ASSERT_TRUE(Bpe({{"a", 0}, {"aa", 1}, {"aaaa", 2}}, merges, {}).encode(std::string(200'001, 'a'), ids));
  EXPECT_EQ(ids.size(), 50'001u);
}

}  // namespace
}  // namespace hone::text
