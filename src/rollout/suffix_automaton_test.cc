#include "rollout/suffix_automaton.h"

#include <gtest/gtest.h>

#include "core/random.h"

namespace hone {
namespace {

using Ids = std::vector<int32_t>;

// Texts side by side as the automaton has them, and what it is asked by looking at every place.
struct NaiveTexts {
  struct Text {
    Ids ids;
    Ids before;             // what it goes on after
    std::vector<int> time;  // [ids] when each was appended
  };
  std::vector<Text> texts;
  int clock = 0;

  Ids whole(const Text& text) const {
    Ids all = text.before;
    all.insert(all.end(), text.ids.begin(), text.ids.end());
    return all;
  }
  // How many ids before place `at` of a text are the last ones of `end`.
  static int32_t common(const Ids& end, const Ids& whole, size_t at) {
    int32_t n = 0;
    while (static_cast<size_t>(n) < std::min(at, end.size()) &&
           whole[at - 1 - static_cast<size_t>(n)] == end[end.size() - 1 - static_cast<size_t>(n)]) {
      ++n;
    }
    return n;
  }
  // The longest repeated end of a text that an id follows; of the places where it stands the latest.
  SuffixAutomaton::Match match(size_t of) const {
    const Ids end = whole(texts[of]);
    SuffixAutomaton::Match best;
    int best_time = -1;
    for (size_t t = 0; t < texts.size(); ++t) {
      const Ids all = whole(texts[t]);
      for (size_t i = 0; i < texts[t].ids.size(); ++i) {
        const int32_t length = common(end, all, texts[t].before.size() + i);
        if (length == 0 || length < best.length || (length == best.length && texts[t].time[i] < best_time)) continue;
        best = {length, static_cast<int32_t>(t), static_cast<int32_t>(i)};
        best_time = texts[t].time[i];
      }
    }
    return best;
  }
};

uint32_t below(uint32_t bound, uint64_t draw, int place) {
  return random_below({3, Stream::test}, draw, 0, static_cast<uint32_t>(place), bound);
}

// A prompt, then answers that grow by turns; every match is that of the search.
void compare(uint64_t draw, uint32_t alphabet, int num_answers, int num_ids, bool exact_place) {
  SuffixAutomaton automaton;
  NaiveTexts naive;
  const auto append = [&](int32_t text, int32_t id) {
    automaton.append(text, id);
    naive.texts[static_cast<size_t>(text)].ids.push_back(id);
    naive.texts[static_cast<size_t>(text)].time.push_back(naive.clock++);
  };
  const int32_t prompt = automaton.add_text();
  naive.texts.emplace_back();
  for (int i = 0; i < 7; ++i) append(prompt, static_cast<int32_t>(below(alphabet, draw, i)));
  for (int i = 0; i < num_ids; ++i) {
    const auto started = static_cast<uint32_t>(naive.texts.size()) - 1;
    auto answer = static_cast<int32_t>(below(std::min(started + 1, static_cast<uint32_t>(num_answers)), draw, 100 + i));
    if (answer == static_cast<int32_t>(started)) {
      automaton.add_text(prompt);
      naive.texts.push_back({{}, naive.texts[0].ids, {}});
    }
    append(++answer, static_cast<int32_t>(below(alphabet, draw, 10000 + i)));
    const SuffixAutomaton::Match found = automaton.match(answer);
    const SuffixAutomaton::Match expected = naive.match(static_cast<size_t>(answer));
    ASSERT_EQ(found.length, expected.length) << "draw " << draw << " id " << i;
    if (found.length == 0) continue;
    const NaiveTexts::Text& text = naive.texts[static_cast<size_t>(found.text)];
    ASSERT_LT(found.next, static_cast<int32_t>(text.ids.size()));
    const Ids end = naive.whole(naive.texts[static_cast<size_t>(answer)]);
    ASSERT_GE(NaiveTexts::common(end, naive.whole(text), text.before.size() + static_cast<size_t>(found.next)),
              found.length);
    if (!exact_place) continue;
    ASSERT_EQ(found.text, expected.text) << "draw " << draw << " id " << i;
    ASSERT_EQ(found.next, expected.next);
  }
}

TEST(SuffixAutomaton, AMatchIsTheLongestRepeatedEndAndItsLatestPlace) {
  for (uint64_t draw = 0; draw < 40; ++draw) {
    for (uint32_t alphabet : {2u, 3u, 7u}) compare(draw, alphabet, 1 + static_cast<int>(draw % 4), 60, true);
  }
  compare(99, 40, 3, 400, true);
}

TEST(SuffixAutomaton, AMatchIsTrueWhereEveryEndIsRepeated) {
  for (int answers : {1, 3}) compare(1, 1, answers, 80, false);
}

TEST(SuffixAutomaton, ADraftIsWhatFollowedAndRepeatsThePeriodOfItsOwnText) {
  SuffixAutomaton automaton;
  const int32_t text = automaton.add_text();
  for (int32_t id : {9, 1, 2, 3, 1, 2, 3, 1}) automaton.append(text, id);
  const SuffixAutomaton::Match match = automaton.match(text);
  EXPECT_EQ(match.length, 4);
  EXPECT_EQ(automaton.next_id(match), 2);
  Ids draft{77};
  automaton.draft(text, match, 7, draft);
  EXPECT_EQ(draft, (Ids{77, 2, 3, 1, 2, 3, 1, 2}));
  draft.clear();
  automaton.draft(text, match, 0, draft);
  EXPECT_TRUE(draft.empty());
}

TEST(SuffixAutomaton, ADraftFromAnotherTextEndsWithIt) {
  SuffixAutomaton automaton;
  const int32_t prompt = automaton.add_text();
  for (int32_t id : {5, 6, 7}) automaton.append(prompt, id);
  const int32_t first = automaton.add_text(prompt), second = automaton.add_text(prompt);
  EXPECT_EQ(automaton.match(first).length, 0);  // nothing has followed the prompt yet
  for (int32_t id : {1, 2, 3}) automaton.append(first, id);
  const SuffixAutomaton::Match match = automaton.match(second);
  EXPECT_EQ(match.length, 3);
  EXPECT_EQ(match.text, first);
  Ids draft;
  automaton.draft(second, match, 8, draft);
  EXPECT_EQ(draft, (Ids{1, 2, 3}));
}

TEST(SuffixAutomaton, MemoryGrowsWithTheText) {
  SuffixAutomaton automaton;
  const int32_t text = automaton.add_text();
  constexpr int kIds = 20000;
  for (int i = 0; i < kIds; ++i) automaton.append(text, static_cast<int32_t>(below(50, 1, i)));
  EXPECT_LE(automaton.num_states(), 2 * kIds);
  EXPECT_LT(automaton.size_bytes(), 200 * kIds);  // capacities included
}

}  // namespace
}  // namespace hone
