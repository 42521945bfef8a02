#include "bench/recorded_texts.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace hone::bench {

namespace {

constexpr std::string_view kDigits = "0123456789+-=.";  // ids of the quickstart's tokenizer; . is its end id

// From step 107 of 212 of a quickstart run: its first two prompts with all answers to them.
struct Sums {
  const char* prompt;
  const char* answers[16];
};
constexpr Sums kSums[] = {
    {"996-807=",
     {"670919018098010=0189.", "670919018098010=0189.", "670919018098010=0189.", "670919018098010=0189.",
      "670919017098010=0179.", "670919018098000=0089.", "670819018098010=0188.", "670919018098000=0089.",
      "670819018098010=0188.", "670919018098010=0189.", "670919018098010=0189.", "670919018098010=0189.",
      "670919018098010=0189.", "670819018098010=0188.", "670919018098010=0189.", "670919018098010=0189."}},
    {"184+119=",
     {"490318110111130=0303.", "490318110111130=0303.", "490318110111130=0303.", "490318110111130=0303.",
      "490318110111130=0303.", "490318111111130=0313.", "490318110111130=0303.", "490318110111140=0403.",
      "490318110111130=0303.", "490318110111130=0303.", "490318110111130=0303.", "490318110111130=0303.",
      "490318110111130=0303.", "490318110111130=0303.", "490318119011030=0393.", "490318110111130=0303."}},
};

// Repetitive code: four answers to one request, of which the first kMaxCode pieces are given.
constexpr size_t kMaxCode = 128;
constexpr const char* kCodePrompt =
    "Write unit tests with GoogleTest for a class Stack that has push(int), int pop(), int top(), int size() and bool "
    "empty(); pop and top of an empty stack throw std::out_of_range.\n";
constexpr const char* kCode[] = {
    R"code(TEST(Stack, IsEmptyAtFirst) {
  Stack stack;
  EXPECT_TRUE(stack.empty());
  EXPECT_EQ(stack.size(), 0);
}

TEST(Stack, HoldsWhatIsPushed) {
  Stack stack;
  stack.push(1);
  stack.push(2);
  EXPECT_FALSE(stack.empty());
  EXPECT_EQ(stack.size(), 2);
  EXPECT_EQ(stack.top(), 2);
}

TEST(Stack, PopsInReverseOrder) {
  Stack stack;
  stack.push(1);
  stack.push(2);
  EXPECT_EQ(stack.pop(), 2);
  EXPECT_EQ(stack.pop(), 1);
  EXPECT_TRUE(stack.empty());
}

TEST(Stack, ThrowsWhenEmpty) {
  Stack stack;
  EXPECT_THROW(stack.pop(), std::out_of_range);
  EXPECT_THROW(stack.top(), std::out_of_range);
}
)code",
    R"code(class StackTest : public testing::Test {
 protected:
  Stack stack_;
};

TEST_F(StackTest, NewStackIsEmpty) {
  EXPECT_TRUE(stack_.empty());
  EXPECT_EQ(stack_.size(), 0);
}

TEST_F(StackTest, PushAddsAnElement) {
  stack_.push(42);
  EXPECT_FALSE(stack_.empty());
  EXPECT_EQ(stack_.size(), 1);
  EXPECT_EQ(stack_.top(), 42);
}

TEST_F(StackTest, PopRemovesTheLastElement) {
  stack_.push(42);
  stack_.push(7);
  EXPECT_EQ(stack_.pop(), 7);
  EXPECT_EQ(stack_.size(), 1);
  EXPECT_EQ(stack_.top(), 42);
}

TEST_F(StackTest, PopOfAnEmptyStackThrows) {
  EXPECT_THROW(stack_.pop(), std::out_of_range);
}
)code",
    R"code(TEST(StackTest, Empty) {
  Stack s;
  EXPECT_TRUE(s.empty());
}

TEST(StackTest, Push) {
  Stack s;
  s.push(10);
  EXPECT_EQ(s.size(), 1);
  EXPECT_EQ(s.top(), 10);
  s.push(20);
  EXPECT_EQ(s.size(), 2);
  EXPECT_EQ(s.top(), 20);
  s.push(30);
  EXPECT_EQ(s.size(), 3);
  EXPECT_EQ(s.top(), 30);
}

TEST(StackTest, Pop) {
  Stack s;
  s.push(10);
  s.push(20);
  s.push(30);
  EXPECT_EQ(s.pop(), 30);
  EXPECT_EQ(s.size(), 2);
  EXPECT_EQ(s.pop(), 20);
  EXPECT_EQ(s.size(), 1);
  EXPECT_EQ(s.pop(), 10);
  EXPECT_TRUE(s.empty());
}
)code",
    R"code(namespace {

Stack filled(int count) {
  Stack stack;
  for (int i = 0; i < count; ++i) stack.push(i);
  return stack;
}

TEST(Stack, SizeCountsElements) {
  for (int count = 0; count < 5; ++count) {
    EXPECT_EQ(filled(count).size(), count);
  }
}

TEST(Stack, TopIsTheLastElement) {
  for (int count = 1; count < 5; ++count) {
    EXPECT_EQ(filled(count).top(), count - 1);
  }
}

TEST(Stack, PopGivesElementsInReverseOrder) {
  Stack stack = filled(5);
  for (int i = 4; i >= 0; --i) EXPECT_EQ(stack.pop(), i);
  EXPECT_TRUE(stack.empty());
}

TEST(Stack, PopThrowsWhenEmpty) {
  Stack stack;
  EXPECT_THROW(stack.pop(), std::out_of_range);
}

}  // namespace
)code",
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// One piece: letters with the space before them, one digit, a run of spaces and line ends, one of anything else.
std::string_view next_piece(std::string_view text) {
  size_t end = text[0] == ' ' && text.size() > 1 && is_letter(text[1]) ? 1 : 0;
  if (is_letter(text[end])) {
    while (end < text.size() && is_letter(text[end])) ++end;
    return text.substr(0, end);
  }
  while (end < text.size() && (text[end] == ' ' || text[end] == '\n')) ++end;
  return text.substr(0, std::max<size_t>(end, 1));
}

// Pieces as ids, in the order in which they first come: about what a tokenizer trained on code makes of it.
class Pieces {
 public:
  std::vector<int32_t> ids_of(std::string_view text) {
    std::vector<int32_t> ids;
    while (!text.empty()) {
      const std::string_view piece = next_piece(text);
      ids.push_back(known_.try_emplace(std::string(piece), static_cast<int32_t>(known_.size())).first->second);
      text.remove_prefix(piece.size());
    }
    return ids;
  }

 private:
  std::map<std::string, int32_t> known_;
};

std::vector<int32_t> digits_of(std::string_view text) {
  std::vector<int32_t> ids;
  for (char c : text) ids.push_back(static_cast<int32_t>(kDigits.find(c)));
  return ids;
}

}  // namespace

std::vector<RecordedGroup> recorded_sums() {
  std::vector<RecordedGroup> groups;
  for (const Sums& sums : kSums) {
    RecordedGroup& group = groups.emplace_back();
    group.prompt = digits_of(sums.prompt);
    for (const char* answer : sums.answers) group.answers.push_back(digits_of(answer));
  }
  return groups;
}

std::vector<RecordedGroup> recorded_code() {
  Pieces pieces;
  RecordedGroup group;
  group.prompt = pieces.ids_of(kCodePrompt);
  for (const char* answer : kCode) {
    std::vector<int32_t>& ids = group.answers.emplace_back(pieces.ids_of(answer));
    ids.resize(std::min(ids.size(), kMaxCode));
  }
  return {group};
}

}  // namespace hone::bench
