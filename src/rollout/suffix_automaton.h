// SuffixAutomaton: where the last ids of a text have stood before, in it or in other texts, and so what may come next.
// Built online over several texts that grow side by side: a prompt, and answers that go on after it. An automaton of
// all their substrings (Blumer et al., "The smallest automaton recognizing the subwords of a text", 1985): a state is a
// class of substrings with the same continuations, its link the longest of their suffixes with more of them. Appending
// costs amortised constant time, about 60 bytes and 0.3 us an id. Holds no tensors; ids are any int32.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hone {

class SuffixAutomaton {
 public:
  SuffixAutomaton();

  // An empty text from the start, or one that goes on after what `after` holds now (its suffixes reach back into that).
  // Texts are numbered from 0.
  int32_t add_text();
  int32_t add_text(int32_t after);
  void append(int32_t text, int32_t id);
  int64_t num_ids(int32_t text) const { return static_cast<int64_t>(texts_[static_cast<size_t>(text)].ids.size()); }

  // The longest end of a text, back into what it goes on after, that has stood somewhere else with an id after it:
  // its ids, and where the id after it stands. Of several such places the latest that was appended to; when the end has
  // more than kNoted shorter ends that were repeated, it may be an older one. length 0: there is none.
  struct Match {
    int32_t length = 0, text = -1, next = 0;
  };
  Match match(int32_t text) const;
  // The id at the match.
  int32_t next_id(const Match& match) const {
    return texts_[static_cast<size_t>(match.text)].ids[static_cast<size_t>(match.next)];
  }
  // Appends to `draft` up to `most` ids that followed the match. Where they run into the end of the text itself they go
  // on as they began, so a period is repeated as often as it takes; at the end of another text they stop.
  void draft(int32_t text, const Match& match, int64_t most, std::vector<int32_t>& draft) const;

  int64_t num_states() const { return static_cast<int64_t>(states_.size()); }
  int64_t size_bytes() const;

  static constexpr int kNoted = 16;

 private:
  struct State {
    int32_t link, length;  // of the longest substring of the class
    int32_t text, next;    // where an id stands that followed it; text -1: none did
    int32_t id, target;    // the first edge; most states have no other. target -1: none
    int32_t more;          // further edges, -1: none
  };
  struct Edge {
    int32_t state, id, target, more;
  };
  struct Text {
    std::vector<int32_t> ids;
    int32_t state;  // of everything up to its end
  };

  int32_t* find(int32_t state, int32_t id);  // the edge's target
  void add_edge(int32_t state, int32_t id, int32_t target);
  int32_t add_state(int32_t length);
  int32_t clone(int32_t state, int32_t id, int32_t target);
  size_t slot_of(int32_t state, int32_t id) const;
  void grow();

  std::vector<State> states_;   // the first is the root, the empty substring
  std::vector<Edge> edges_;     // beyond the first of each state
  std::vector<int32_t> slots_;  // open addressing by (state, id): numbers of edges, -1 is free
  std::vector<Text> texts_;
};

}  // namespace hone
