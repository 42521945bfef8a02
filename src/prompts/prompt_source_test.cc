#include "prompts/prompt_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"

namespace hone {
namespace {

std::vector<Prompt> make_prompts(int count) {
  std::vector<Prompt> prompts(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) prompts[static_cast<size_t>(i)].ids = {i};
  return prompts;
}

PromptSource make_source(const std::vector<Prompt>& prompts, int64_t batch_size, bool shuffle, uint64_t seed) {
  PromptSourceOptions options;
  options.batch_size = batch_size;
  options.shuffle = shuffle;
  options.seed = seed;
  return PromptSource(prompts, options);
}

std::vector<int32_t> ids_of(const std::vector<DrawnPrompt>& batch) {
  std::vector<int32_t> ids;
  for (const DrawnPrompt& drawn : batch) ids.push_back(drawn.prompt->ids[0]);
  return ids;
}

TEST(PromptSource, AnEpochHasFullBatchesOfDifferentPrompts) {
  const auto prompts = make_prompts(10);
  PromptSource source = make_source(prompts, 4, true, 1);
  EXPECT_EQ(source.batches_per_epoch(), 2);
  uint64_t draw = 0;
  std::vector<std::vector<int32_t>> epochs;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int32_t> seen;
    for (int b = 0; b < 2; ++b) {
      EXPECT_EQ(source.position().epoch, epoch);
      const auto batch = source.next_batch();
      ASSERT_EQ(batch.size(), 4u);
      for (const DrawnPrompt& drawn : batch) EXPECT_EQ(drawn.draw, draw++) << "numbers never repeat";
      for (const int32_t id : ids_of(batch)) seen.push_back(id);
    }
    epochs.push_back(seen);
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
  }
  EXPECT_EQ(source.position(), (DataPosition{3, 0, 24}));
  EXPECT_NE(epochs[0], epochs[1]) << "each epoch has an order of its own";
}

TEST(PromptSource, WithoutShuffleRowsComeAsTheyStand) {
  const auto prompts = make_prompts(3);
  PromptSource source = make_source(prompts, 2, false, 1);
  EXPECT_EQ(ids_of(source.next_batch()), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(ids_of(source.next_batch()), (std::vector<int32_t>{0, 1}));
}

TEST(PromptSource, ContinuesFromAnyPosition) {
  const auto prompts = make_prompts(10);
  for (int stop = 0; stop <= 6; ++stop) {
    PromptSource whole = make_source(prompts, 4, true, 7), second = whole;
    for (int b = 0; b < stop; ++b) whole.next_batch();
    second.restore(whole.position());
    for (int b = 0; b < 5; ++b) {
      const auto expected = whole.next_batch(), got = second.next_batch();
      EXPECT_EQ(ids_of(got), ids_of(expected));
      EXPECT_EQ(got[0].draw, expected[0].draw);
    }
  }
}

TEST(PromptSource, RefusesTooFewRowsAndForeignPositions) {
  const auto prompts = make_prompts(3);
  EXPECT_THROW(make_source(prompts, 4, true, 1), Error);
  PromptSource source = make_source(prompts, 2, true, 1);
  EXPECT_THROW(source.restore({0, 4, 0}), Error);
  EXPECT_THROW(source.restore({-1, 0, 0}), Error);
}

TEST(PromptSource, SeedsGiveDifferentOrdersAndEveryPlaceIsReached) {
  EXPECT_NE(epoch_order(100, true, 1, 0), epoch_order(100, true, 2, 0));
  std::vector<int> first(5);
  for (uint64_t seed = 0; seed < 1000; ++seed) ++first[epoch_order(5, true, seed, 0)[0]];
  for (const int count : first) EXPECT_NEAR(count, 200, 60);  // 60 is 4.7 standard deviations of a fair draw
}

PromptSourceOptions learning() {
  PromptSourceOptions options;
  options.batch_size = 4;
  options.shuffle = false;
  options.seed = 7;
  options.learn_lengths = options.order_by_length = true;
  options.length_order.bucket_size = 4;
  return options;
}

// Answers of a prompt are as long as its number says, and a little longer with each epoch.
void observe(PromptSource& source, const std::vector<DrawnPrompt>& drawn) {
  for (const DrawnPrompt& one : drawn) {
    const std::vector<AnswerLength> answers{{1 + one.prompt->ids[0] * 7 % 23}, {2 + one.prompt->ids[0] % 3, true}};
    source.observe(*one.prompt, answers);
  }
}

TEST(PromptSource, ByLengthEachEpochHasEveryPromptOnceAndKnowsWhatTheLastOneLearnt) {
  const auto prompts = make_prompts(22);
  PromptSource source(prompts, learning()), plain = make_source(prompts, 4, true, 7);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<int32_t> seen;
    std::vector<std::vector<double>> batches;
    for (int b = 0; b < 5; ++b) {
      const auto batch = source.next_batch();
      for (const int32_t id : ids_of(batch)) seen.push_back(id);
      batches.emplace_back();
      for (const DrawnPrompt& drawn : batch) batches.back().push_back(source.expected_length(*drawn.prompt));
      EXPECT_EQ(epoch == 0, ids_of(plain.next_batch()) == ids_of(batch)) << "at first nothing is known";
      observe(source, batch);
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
    if (epoch == 0) continue;
    std::sort(batches.begin(), batches.end());
    for (size_t b = 1; b < batches.size(); ++b) {
      EXPECT_GE(std::floor(batches[b].front() / 4), std::floor(batches[b - 1].back() / 4));
    }
  }
}

TEST(PromptSource, ByLengthItGoesOnFromAnyPositionAsIfItHadNotStopped) {
  const auto prompts = make_prompts(22);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("hone-lengths-" + std::to_string(::getpid()) + ".json")).string();
  for (const int stop : {0, 1, 19, 20, 21, 33, 40, 59, 60}) {  // epochs have 20 rows
    PromptSource whole(prompts, learning()), second(prompts, learning());
    for (int i = 0; i < stop; ++i) observe(whole, whole.next(1));
    whole.write_lengths(path);
    second.restore(whole.position());
    second.read_lengths(path);
    for (int i = 0; i < 12; ++i) {  // over the ends of epochs
      const auto expected = whole.next(3), got = second.next(3);
      ASSERT_EQ(ids_of(got), ids_of(expected)) << stop;
      ASSERT_EQ(got[0].draw, expected[0].draw);
      observe(whole, expected);
      observe(second, got);
    }
  }
  // another data set, a row twice, a number that is none
  const auto fewer = make_prompts(21);
  PromptSource other(fewer, learning()), same(prompts, learning());
  EXPECT_THROW(other.read_lengths(path), Error);
  const std::string text = io::read_file(path);
  for (const auto& [from, to] : {std::pair{"\"order\": [", "\"order\": [0, "},
                                 {"\"format\": 1", "\"format\": 2"},
                                 {"\"num_ids\": ", "\"num_ids\": -"}}) {
    std::string changed = text;
    const size_t place = changed.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    io::write_file(path, changed.replace(place, std::string(from).size(), to));
    EXPECT_THROW(same.read_lengths(path), Error) << from;
  }
  std::filesystem::remove(path);
}

TEST(PromptSource, TheLongestAreBegunFirstAndEqualOnesAsTheyWereDrawn) {
  const auto prompts = make_prompts(6);
  PromptSourceOptions options = learning();
  options.default_length = 10;
  PromptSource source(prompts, options);
  for (const auto& [row, length] : {std::pair{2, 30}, {4, 5}, {5, 10}}) {
    const std::vector<AnswerLength> answers{{length}};
    source.observe(prompts[static_cast<size_t>(row)], answers);
  }
  std::vector<DrawnPrompt> drawn;
  for (uint64_t row = 0; row < 6; ++row) drawn.push_back({&prompts[row], row});
  longest_first(source, drawn);
  EXPECT_EQ(ids_of(drawn), (std::vector<int32_t>{2, 0, 1, 3, 5, 4}));
}

}  // namespace
}  // namespace hone
