#include "rollout/answer_history.h"

#include <cstddef>

namespace hone {

namespace {

uint64_t hash_of(const std::vector<int32_t>& ids) {  // FNV-1a over ids
  uint64_t hash = 14695981039346656037u;
  for (int32_t id : ids) hash = (hash ^ static_cast<uint32_t>(id)) * 1099511628211u;
  return hash;
}

int64_t ids_of(const AnswerHistory::Entry& entry) {
  size_t ids = entry.prompt.size();
  for (const std::vector<int32_t>& answer : entry.answers) ids += answer.size();
  return static_cast<int64_t>(ids);
}

}  // namespace

void AnswerHistory::remember(Entry entry) {
  const uint64_t hash = hash_of(entry.prompt);
  if (const auto older = by_hash_.find(hash); older != by_hash_.end()) forget(older->second);
  num_ids_ += ids_of(entry);
  by_hash_[hash] = entries_.insert(entries_.end(), std::move(entry));
  while (num_ids_ > max_ids_) forget(entries_.begin());
}

const AnswerHistory::Entry* AnswerHistory::find(const std::vector<int32_t>& prompt) const {
  const auto found = by_hash_.find(hash_of(prompt));
  return found != by_hash_.end() && found->second->prompt == prompt ? &*found->second : nullptr;
}

void AnswerHistory::forget(std::list<Entry>::iterator entry) {
  num_ids_ -= ids_of(*entry);
  by_hash_.erase(hash_of(entry->prompt));
  entries_.erase(entry);
}

}  // namespace hone
