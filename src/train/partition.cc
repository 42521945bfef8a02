#include "train/partition.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"

namespace hone {

namespace {

struct Set {
  int64_t sum = 0;
  std::vector<size_t> members;
};

// Sets with the largest sum first.
struct State {
  std::vector<Set> sets;
  size_t number = 0;  // states made before it

  int64_t spread() const { return sets.front().sum - sets.back().sum; }
  bool operator<(const State& other) const {  // the later one of a queue
    return spread() != other.spread() ? spread() < other.spread() : number > other.number;
  }
};

State merged(State a, State b, size_t number) {
  for (size_t i = 0; i < a.sets.size(); ++i) {
    Set& to = a.sets[i];
    Set& from = b.sets[b.sets.size() - 1 - i];
    to.sum += from.sum;
    std::move(from.members.begin(), from.members.end(), std::back_inserter(to.members));
  }
  std::stable_sort(a.sets.begin(), a.sets.end(), [](const Set& x, const Set& y) { return x.sum > y.sum; });
  a.number = number;
  return a;
}

}  // namespace

std::vector<std::vector<size_t>> karmarkar_karp(std::span<const int64_t> numbers, size_t k) {
  HONE_CHECK(k >= 1, "{} sets", k);
  std::vector<State> states;  // a heap
  const auto push = [&](State&& state) {
    states.push_back(std::move(state));
    std::push_heap(states.begin(), states.end());
  };
  const auto pop = [&] {
    std::pop_heap(states.begin(), states.end());
    State state = std::move(states.back());
    states.pop_back();
    return state;
  };
  for (size_t i = 0; i < numbers.size(); ++i) {
    State state{std::vector<Set>(k), i};
    state.sets.front() = {numbers[i], {i}};
    push(std::move(state));
  }
  for (size_t number = numbers.size(); states.size() > 1; ++number) {
    State a = pop(), b = pop();
    push(merged(std::move(a), std::move(b), number));
  }
  std::vector<std::vector<size_t>> sets(k);
  if (states.empty()) return sets;
  for (size_t i = 0; i < k; ++i) {
    sets[i] = std::move(states.front().sets[i].members);
    std::sort(sets[i].begin(), sets[i].end());
  }
  std::sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) {
    return a.empty() || b.empty() ? !a.empty() && b.empty() : a.front() < b.front();
  });
  return sets;
}

}  // namespace hone
