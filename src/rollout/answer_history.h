// AnswerHistory: the latest answers to each prompt, by the prompt's ids, in bounded memory: newer answers to a prompt
// take the place of its older ones, and the prompts answered longest ago go first. Holds no tensors.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <vector>

namespace hone {

class AnswerHistory {
 public:
  struct Entry {
    std::vector<int32_t> prompt;
    std::vector<std::vector<int32_t>> answers;
    bool operator==(const Entry&) const = default;
  };

  // Keeps at most so many ids, prompts included.
  explicit AnswerHistory(int64_t max_ids) : max_ids_(max_ids) {}

  void remember(Entry entry);
  const Entry* find(const std::vector<int32_t>& prompt) const;
  int64_t num_ids() const { return num_ids_; }
  const std::list<Entry>& entries() const { return entries_; }  // answered longest ago first

 private:
  void forget(std::list<Entry>::iterator entry);

  int64_t max_ids_, num_ids_ = 0;
  std::list<Entry> entries_;
  std::map<uint64_t, std::list<Entry>::iterator> by_hash_;  // of the prompt; of two prompts with one hash the later
};

}  // namespace hone
