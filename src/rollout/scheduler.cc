#include "rollout/scheduler.h"

#include <algorithm>

namespace hone {

namespace {
// The memory of the longest answer, so that a step which draws one more id allocates nothing.
void reserve_memory(Sequence& sequence, int64_t block_size) {
  const auto max_new = static_cast<size_t>(sequence.group->sampling.max_new_tokens);
  const size_t num_ids = static_cast<size_t>(sequence.num_prompt) + max_new;
  sequence.ids.reserve(num_ids);
  sequence.logprobs.reserve(max_new);
  sequence.versions.reserve(max_new);
  sequence.block_table.reserve(num_ids / static_cast<size_t>(block_size) + 1);
}
}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options, int64_t num_blocks, int64_t block_size, int32_t version)
    : options_(options),
      max_running_(std::min(options.max_num_seqs, options.max_num_batched_tokens)),
      pool_(num_blocks, block_size),
      cache_(options.enable_prefix_caching ? num_blocks : 0, block_size),
      version_(version) {
  HONE_CHECK(max_running_ > 0, "max_num_seqs {}, max_num_batched_tokens {}", options.max_num_seqs,
             options.max_num_batched_tokens);
  const auto most = static_cast<size_t>(std::min(max_running_, num_blocks));  // nearly always: each writes to a block
  running_.reserve(most);
  schedule_.items.reserve(most);
  schedule_.draws.reserve(most);
  schedule_.copies.reserve(most);
}

int64_t Scheduler::max_ids() const {
  const int64_t held = pool_.num_blocks() * pool_.block_size();
  return options_.enable_chunked_prefill ? held : std::min(held, options_.max_num_batched_tokens);
}

void Scheduler::add(Sequence& sequence) {
  HONE_CHECK(sequence.num_ids() > 0 && sequence.num_ids() <= max_ids(), "a sequence of {} ids, at most {}",
             sequence.num_ids(), max_ids());
  sequence.state = SequenceState::waiting;
  waiting_.push_back(&sequence);
}

const Schedule& Scheduler::schedule() {
  schedule_.items.clear();
  schedule_.draws.clear();
  schedule_.copies.clear();
  schedule_.num_tokens = 0;
  const int64_t preemptions_before = num_preemptions_;
  schedule_running();
  if (num_preemptions_ == preemptions_before) admit_waiting();
  HONE_CHECK(!schedule_.items.empty() || (waiting_.empty() && running_.empty()), "{} waiting, {} running, no step",
             num_waiting(), num_running());
  return schedule_;
}

void Scheduler::schedule_running() {
  for (size_t i = 0; i < running_.size(); ++i) {
    Sequence& sequence = *running_[i];
    const int64_t num_tokens = std::min(sequence.num_uncached(), budget_left());
    while (i < running_.size() && !reserve(sequence, num_tokens)) {
      send_back_youngest();  // in the end this sequence itself
      ++num_preemptions_;
    }
    if (i < running_.size()) compute(sequence, num_tokens);
  }
}

void Scheduler::admit_waiting() {
  join_siblings();
  while (!waiting_.empty() && seat_left() && budget_left() > 0) {
    Sequence& sequence = *waiting_.front();
    if (!find_beginning(sequence)) return;
    const int64_t num_uncached = sequence.num_ids() - beginning_.num_ids;
    if (!options_.enable_chunked_prefill && num_uncached > budget_left()) return;
    // what it takes of the free blocks: new ones, and those of its beginning that have no owner
    const int64_t num_new = pool_.blocks_for(sequence.num_ids()) - beginning_.num_ids / pool_.block_size();
    const int64_t num_idle =
        std::ranges::count_if(beginning_.blocks, [&](int32_t b) { return pool_.num_owners(b) == 0; });
    if (!running_.empty() && num_new + num_idle + num_running() > pool_.num_free()) return;

    waiting_.pop_front();
    start(sequence, beginning_.blocks);
    sequence.num_cached = beginning_.num_ids;
    if (beginning_.from_cache) num_reused_ += beginning_.num_ids;
    const int64_t num_tokens = std::min(num_uncached, budget_left());
    const bool reserved = reserve(sequence, num_tokens);
    HONE_CHECK(reserved, "{} ids do not fit {} free blocks", num_tokens, pool_.num_free());
    compute(sequence, num_tokens);
    join_siblings();
  }
}

// Looks for the longest beginning of a waiting sequence that is in the cache already, but for the last id, which is
// left to draw from. False: a running sibling is computing it, so it pays to wait.
bool Scheduler::find_beginning(const Sequence& sequence) {
  beginning_.blocks.clear();
  beginning_.num_ids = 0;
  beginning_.from_cache = options_.enable_prefix_caching;
  if (options_.enable_prefix_caching) {
    cache_.find(root_of(sequence), sequence.ids, (sequence.num_ids() - 1) / pool_.block_size(), beginning_.blocks);
    beginning_.num_ids = static_cast<int64_t>(beginning_.blocks.size()) * pool_.block_size();
  }
  const int64_t num_prompt = std::min(sequence.num_prompt, sequence.num_ids() - 1);
  if (num_prompt <= beginning_.num_ids) return true;
  bool on_its_way = false;
  const Sequence* sibling = sibling_with_prompt(sequence, num_prompt, on_its_way);
  if (sibling == nullptr) return !on_its_way;
  const auto first = sibling->block_table.begin();
  beginning_.blocks.assign(first, first + pool_.blocks_for(num_prompt));
  beginning_.num_ids = num_prompt;
  beginning_.from_cache = false;
  return true;
}

// The last draw of the step, if it is the first of its sample, serves the waiting siblings too.
void Scheduler::join_siblings() {
  if (!options_.enable_prefix_sharing || schedule_.draws.empty()) return;
  const auto [leader, row, num_drafts] = schedule_.draws.back();
  if (leader->num_response() > 0) return;
  while (!waiting_.empty() && seat_left() && pool_.num_free() > num_running()) {
    Sequence& sequence = *waiting_.front();
    if (sequence.group != leader->group || sequence.num_response() > 0) return;
    waiting_.pop_front();
    start(sequence, std::span(leader->block_table).first(static_cast<size_t>(pool_.blocks_for(sequence.num_prompt))));
    schedule_.draws.push_back({&sequence, row});
  }
}

// A running sibling whose first num_shared ids, all of the prompt, are in the cache. While one is still computing them,
// on_its_way is set: it pays to wait.
const Sequence* Scheduler::sibling_with_prompt(const Sequence& sequence, int64_t num_shared, bool& on_its_way) const {
  if (!options_.enable_prefix_sharing || num_shared == 0) return nullptr;
  for (const Sequence* sibling : running_) {  // not the group, which may be of a million
    if (sibling->group != sequence.group) continue;
    if (sibling->num_cached >= num_shared) return sibling;
    on_its_way = true;
  }
  return nullptr;
}

// Makes a waiting sequence a running one that owns the blocks of its beginning together with others.
void Scheduler::start(Sequence& sequence, std::span<const int32_t> shared_blocks) {
  sequence.state = SequenceState::running;
  running_.push_back(&sequence);
  reserve_memory(sequence, pool_.block_size());
  for (const int32_t block : shared_blocks) {
    pool_.share(block);
    sequence.block_table.push_back(block);
  }
}

// A free block; what the prefix cache knew in it is forgotten.
int32_t Scheduler::allocate() {
  const int32_t block = pool_.allocate();
  if (options_.enable_prefix_caching) cache_.erase(block);
  return block;
}

// Makes the blocks of the next num_tokens ids the sequence's own to write, or changes nothing and says false.
bool Scheduler::reserve(Sequence& sequence, int64_t num_tokens) {
  std::vector<int32_t>& table = sequence.block_table;
  const int64_t num_blocks = pool_.blocks_for(sequence.num_cached + num_tokens);
  const size_t first = static_cast<size_t>(sequence.num_cached / pool_.block_size());
  const bool copy = first < table.size() && pool_.num_owners(table[first]) > 1;
  HONE_CHECK(copy || first >= table.size() || !pool_.is_kept(table[first]), "block {} is known", table[first]);
  const int64_t num_new = std::max<int64_t>(0, num_blocks - static_cast<int64_t>(table.size()));
  if (num_new + (copy ? 1 : 0) > pool_.num_free()) return false;
  if (copy) {
    const int32_t shared = table[first];
    table[first] = allocate();
    schedule_.copies.push_back({table[first], shared});
    pool_.release(shared);
  }
  for (int64_t i = 0; i < num_new; ++i) table.push_back(allocate());
  return true;
}

void Scheduler::compute(Sequence& sequence, int64_t num_tokens) {
  schedule_.items.push_back({&sequence, num_tokens});
  schedule_.num_tokens += num_tokens;
  if (num_tokens == sequence.num_uncached()) schedule_.draws.push_back({&sequence, schedule_.num_tokens - 1});
}

void Scheduler::add_drafts() {
  draws_without_drafts_.swap(schedule_.draws);
  schedule_.draws.clear();
  auto draw = draws_without_drafts_.begin();
  int64_t row = 0, row_before = 0;  // the first of the item, with drafts and without
  for (Schedule::Item& item : schedule_.items) {
    const int64_t last = row_before + item.num_tokens - 1;
    row_before += item.num_tokens;
    const int64_t num_drafts = reserve_drafts(item);
    for (; draw != draws_without_drafts_.end() && draw->row == last; ++draw) {
      HONE_CHECK(num_drafts == 0 || draw->sequence == item.sequence, "drafts beside siblings at row {}", last);
      for (int64_t d = 0; d <= num_drafts; ++d) {
        schedule_.draws.push_back({draw->sequence, row + item.num_tokens - num_drafts - 1 + d, d});
      }
    }
    row += item.num_tokens;
  }
  schedule_.num_tokens = row;
}

// Makes room for the item's draft, or drops it.
int64_t Scheduler::reserve_drafts(Schedule::Item& item) {
  std::vector<int32_t>& draft = item.sequence->draft;
  const auto num_drafts = static_cast<int64_t>(draft.size());
  if (num_drafts > 0) {
    HONE_CHECK(item.num_tokens == item.sequence->num_uncached(), "{} drafts after {} of {} ids", num_drafts,
               item.num_tokens, item.sequence->num_uncached());
    if (reserve(*item.sequence, item.num_tokens + num_drafts)) {
      item.num_tokens += num_drafts;
    } else {
      draft.clear();
    }
  }
  return static_cast<int64_t>(draft.size());
}

void Scheduler::computed() {
  const auto count = [&](Sequence& sequence, int64_t num_cached) {
    sequence.num_cached = num_cached;
    enter_in_cache(sequence);
  };
  for (const auto& [sequence, num_tokens] : schedule_.items) {
    count(*sequence, std::min(sequence->num_cached + num_tokens, sequence->num_ids()));  // drafts are not ids yet
  }
  for (const Schedule::Draw& draw : schedule_.draws) count(*draw.sequence, draw.sequence->num_ids());
}

// Enters the full blocks that are not known yet. Where another sequence has entered the same ids meanwhile, its block
// takes the place of the sequence's own: the bits in it are the same (law 1).
void Scheduler::enter_in_cache(Sequence& sequence) {
  if (!options_.enable_prefix_caching) return;
  const auto size = static_cast<size_t>(pool_.block_size());
  const auto first = static_cast<size_t>(sequence.num_known_blocks),
             last = static_cast<size_t>(sequence.num_cached) / size;
  for (size_t i = first; i < last; ++i) {
    int32_t& block = sequence.block_table[i];
    if (cache_.contains(block)) continue;
    const int32_t before = i == 0 ? -1 : sequence.block_table[i - 1];
    const int32_t known =
        cache_.insert(root_of(sequence), before, std::span(sequence.ids).subspan(i * size, size), block);
    if (known == block) {
      pool_.keep(block);
    } else {
      pool_.share(known);
      pool_.release(block);
      block = known;
    }
  }
  sequence.num_known_blocks = static_cast<int64_t>(std::max(first, last));
}

// From the last block to the first, so that of a beginning in the prefix cache the end is forgotten first.
void Scheduler::release_blocks(Sequence& sequence) {
  enter_in_cache(sequence);  // the last drafts may have filled a block
  for (size_t i = sequence.block_table.size(); i-- > 0;) pool_.release(sequence.block_table[i]);
  sequence.block_table.clear();
  sequence.num_cached = sequence.num_known_blocks = 0;
}

void Scheduler::send_back_youngest() {
  Sequence& sequence = *running_.back();
  running_.pop_back();
  release_blocks(sequence);
  sequence.state = SequenceState::waiting;
  waiting_.push_front(&sequence);
}

void Scheduler::recompute_all(int32_t version) {
  while (!running_.empty()) send_back_youngest();
  pool_.keep_none();
  cache_.clear();
  version_ = version;
}

void Scheduler::finish(Sequence& sequence) {
  if (sequence.state == SequenceState::running) {
    running_.erase(std::find(running_.begin(), running_.end(), &sequence));
  } else if (sequence.state == SequenceState::waiting) {
    const auto place = std::find(waiting_.begin(), waiting_.end(), &sequence);
    if (place != waiting_.end()) waiting_.erase(place);
  }
  release_blocks(sequence);
  sequence.state = SequenceState::finished;
}

}  // namespace hone
