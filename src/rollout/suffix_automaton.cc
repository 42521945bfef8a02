#include "rollout/suffix_automaton.h"

#include <algorithm>

#include "core/error.h"

namespace hone {

namespace {

constexpr int32_t kRoot = 0, kNone = -1;
constexpr size_t kFirstSlots = 16;

}  // namespace

SuffixAutomaton::SuffixAutomaton() : slots_(kFirstSlots, kNone) { add_state(0); }

int32_t SuffixAutomaton::add_text() {
  texts_.push_back({{}, kRoot});
  return static_cast<int32_t>(texts_.size()) - 1;
}

int32_t SuffixAutomaton::add_text(int32_t after) {
  texts_.push_back({{}, texts_[static_cast<size_t>(after)].state});
  return static_cast<int32_t>(texts_.size()) - 1;
}

void SuffixAutomaton::append(int32_t text, int32_t id) {
  Text& t = texts_[static_cast<size_t>(text)];
  const auto next = static_cast<int32_t>(t.ids.size());
  t.ids.push_back(id);
  int32_t state = t.state;
  for (int i = 0, s = state; i < kNoted && s != kNone; ++i, s = states_[static_cast<size_t>(s)].link) {
    states_[static_cast<size_t>(s)].text = text;
    states_[static_cast<size_t>(s)].next = next;
  }
  const int32_t length = states_[static_cast<size_t>(state)].length + 1;
  if (const int32_t* found = find(state, id)) {  // the text is a substring so far
    const int32_t target = *found;
    t.state = states_[static_cast<size_t>(target)].length == length ? target : clone(state, id, target);
    return;
  }
  const int32_t added = add_state(length);
  const int32_t* found = nullptr;
  while (state != kNone && (found = find(state, id)) == nullptr) {
    add_edge(state, id, added);
    State& s = states_[static_cast<size_t>(state)];
    s.text = text;
    s.next = next;
    state = s.link;
  }
  int32_t link = kRoot;
  if (state != kNone) {
    link = *found;
    const bool whole = states_[static_cast<size_t>(link)].length == states_[static_cast<size_t>(state)].length + 1;
    if (!whole) link = clone(state, id, link);
  }
  states_[static_cast<size_t>(added)].link = link;
  t.state = added;
}

// The substrings of `target` that are not longer than one id after `state` get a class of their own: they end in a
// place where the longer ones do not.
int32_t SuffixAutomaton::clone(int32_t state, int32_t id, int32_t target) {
  const int32_t copy = add_state(states_[static_cast<size_t>(state)].length + 1);
  const State& from = states_[static_cast<size_t>(target)];
  State& to = states_[static_cast<size_t>(copy)];
  to.link = from.link;
  to.text = from.text;
  to.next = from.next;
  to.id = from.id;
  to.target = from.target;
  for (int32_t e = from.more; e != kNone; e = edges_[static_cast<size_t>(e)].more) {
    const auto [unused, edge_id, edge_target, more] = edges_[static_cast<size_t>(e)];
    add_edge(copy, edge_id, edge_target);
  }
  states_[static_cast<size_t>(target)].link = copy;
  for (int32_t* edge; state != kNone && (edge = find(state, id)) != nullptr && *edge == target;) {
    *edge = copy;
    state = states_[static_cast<size_t>(state)].link;
  }
  return copy;
}

SuffixAutomaton::Match SuffixAutomaton::match(int32_t text) const {
  int32_t state = texts_[static_cast<size_t>(text)].state;
  while (state != kRoot && states_[static_cast<size_t>(state)].text == kNone) {
    state = states_[static_cast<size_t>(state)].link;
  }
  if (state == kRoot) return {};
  const State& s = states_[static_cast<size_t>(state)];
  return {s.length, s.text, s.next};
}

void SuffixAutomaton::draft(int32_t text, const Match& match, int64_t most, std::vector<int32_t>& draft) const {
  if (match.length == 0) return;
  const std::vector<int32_t>& source = texts_[static_cast<size_t>(match.text)].ids;
  const size_t begin = draft.size(), left = source.size() - static_cast<size_t>(match.next);
  const auto wanted = static_cast<size_t>(std::max<int64_t>(most, 0));
  const auto first = source.begin() + match.next;
  draft.insert(draft.end(), first, first + static_cast<std::ptrdiff_t>(std::min(wanted, left)));
  if (match.text != text) return;
  for (size_t i = left; i < wanted; ++i) draft.push_back(draft[begin + i - left]);
}

int64_t SuffixAutomaton::size_bytes() const {
  size_t bytes = states_.capacity() * sizeof(State) + edges_.capacity() * sizeof(Edge) +
                 slots_.capacity() * sizeof(int32_t) + texts_.capacity() * sizeof(Text);
  for (const Text& text : texts_) bytes += text.ids.capacity() * sizeof(int32_t);
  return static_cast<int64_t>(bytes);
}

int32_t SuffixAutomaton::add_state(int32_t length) {
  HONE_CHECK(states_.size() < size_t{1} << 30, "{} states", states_.size());
  states_.push_back({kNone, length, kNone, 0, 0, kNone, kNone});
  return static_cast<int32_t>(states_.size()) - 1;
}

int32_t* SuffixAutomaton::find(int32_t state, int32_t id) {
  State& s = states_[static_cast<size_t>(state)];
  if (s.target == kNone) return nullptr;
  if (s.id == id) return &s.target;
  if (s.more == kNone) return nullptr;
  const int32_t edge = slots_[slot_of(state, id)];
  return edge == kNone ? nullptr : &edges_[static_cast<size_t>(edge)].target;
}

void SuffixAutomaton::add_edge(int32_t state, int32_t id, int32_t target) {
  State& s = states_[static_cast<size_t>(state)];
  if (s.target == kNone) {
    s.id = id;
    s.target = target;
    return;
  }
  if (2 * (edges_.size() + 1) > slots_.size()) grow();
  const auto edge = static_cast<int32_t>(edges_.size());
  edges_.push_back({state, id, target, s.more});
  s.more = edge;
  slots_[slot_of(state, id)] = edge;
}

// The slot of that edge, or the free one where it belongs.
size_t SuffixAutomaton::slot_of(int32_t state, int32_t id) const {
  uint64_t key = static_cast<uint64_t>(static_cast<uint32_t>(state)) << 32 | static_cast<uint32_t>(id);
  key *= 0x9e3779b97f4a7c15u;
  const size_t mask = slots_.size() - 1;
  for (size_t slot = (key ^ (key >> 32)) & mask;; slot = (slot + 1) & mask) {
    const int32_t edge = slots_[slot];
    if (edge == kNone) return slot;
    const Edge& e = edges_[static_cast<size_t>(edge)];
    if (e.state == state && e.id == id) return slot;
  }
}

void SuffixAutomaton::grow() {
  slots_.assign(2 * slots_.size(), kNone);
  for (size_t e = 0; e < edges_.size(); ++e) {
    slots_[slot_of(edges_[e].state, edges_[e].id)] = static_cast<int32_t>(e);
  }
}

}  // namespace hone
