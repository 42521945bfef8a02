// Scheduler: what the next forward computes. It holds no tensors; the same calls give the same schedules (law 2).
//
// - Every id of a sequence but those in the cache has to be computed; the row of the last id gives the next draw. So a
//   decode is a sequence with one id to compute, a prefill one with several, and a preempted sequence a long prefill.
// - A step computes at most max_num_batched_tokens ids: running sequences in the order of their arrival, then waiting
//   ones. A prefill that does not fit is cut (chunked). Only the youngest running sequence can be part-way through a
//   prefill, so decodes come first.
// - Blocks are taken when they are needed. When none is left, the youngest running sequence gives its blocks back, goes
//   to the front of the waiting ones and recomputes later; it keeps its ids, and as every random number is keyed by
//   its place, nothing of the result changes.
// - A sequence is admitted when its ids fit and one block stays free for each running one, so that none of them is
//   preempted within a block's worth of steps.
// - Samples of a group share the blocks of their prompt. Those that are waiting when the prompt is complete join at
//   once and draw from the same row; later ones share the prompt of a running sibling. A shared block is copied by
//   whoever has to write to it while it has other owners.
// - Full blocks are entered in the prefix cache as soon as they are computed. Whoever computed the same beginning at
//   the same time goes on with the block that was entered first and gives its own back. A waiting sequence takes its
//   longest known beginning, but for the last id, which it needs to draw from. Blocks without an owner stay known until
//   another sequence needs the memory: the one unused for longest goes first, of one sequence the last block first.
//
// Invariants, asserted over random calls in scheduler_random_test.cc:
// 1. The running sequences, then the waiting ones, stand in the order of their arrival.
// 2. A step has at most max_num_batched_tokens ids, at most max_num_seqs sequences run, a part of a prefill is the last
//    item, and no decode follows a prefill.
// 3. A block has as many owners as there are block tables it stands in (twice in none), and is free otherwise.
// 4. Nobody writes to a block that another owner reads or that the prefix cache knows.
// 5. A block that the prefix cache gives holds the keys and values of the ids it was asked for.
// 6. When nothing waits or runs, every block is free.
//
// Why every sequence ends: preemption takes the youngest, and sequences run in the order of their arrival (1). So the
// oldest of all runs, is first in every step, and gets at least one id of its budget; in the worst case it has the
// whole pool, which holds it (max_ids). It ends after finitely many steps, and the next one is the oldest. Nobody can
// overtake or starve it, and two sequences cannot send each other back for ever.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "rollout/block_pool.h"
#include "rollout/prefix_cache.h"
#include "rollout/sequence.h"

namespace hone {

struct SchedulerOptions {
  int64_t max_num_seqs = 64;              // running sequences
  int64_t max_num_batched_tokens = 2048;  // ids of one forward; also bounds the running sequences
  bool enable_chunked_prefill = true;
  bool enable_prefix_sharing = true;  // within a group
  bool enable_prefix_caching = true;  // between requests
};

struct Schedule {
  struct Item {  // ids [num_cached, num_cached + num_tokens) of a sequence, where those after its last are its draft
    Sequence* sequence;
    int64_t num_tokens;
  };
  struct Draw {  // the next id of a sequence comes from this row of the packed tokens
    Sequence* sequence;
    int64_t row;
    int64_t num_drafts = 0;  // drafts before it: it counts when all of them are drawn
  };
  struct Copy {
    int32_t to, from;
  };
  std::vector<Item> items;   // in the order of the packed tokens
  std::vector<Draw> draws;   // rows ascend; siblings may share a row; draws after drafts follow that of the last id
  std::vector<Copy> copies;  // of blocks, to be done in this order before the forward
  int64_t num_tokens = 0;
};

class Scheduler {
 public:
  // `version` is that of the weights that keys and values will be computed with.
  Scheduler(const SchedulerOptions& options, int64_t num_blocks, int64_t block_size, int32_t version = 0);

  // Most ids a sequence may ever have: the pool holds it alone, and a step computes it when prefills are not cut.
  int64_t max_ids() const;
  // Puts a sequence behind the waiting ones. Its ids, prompt and response, will be at most max_ids().
  void add(Sequence& sequence);
  // The next step. Not empty as long as a sequence is waiting or running; valid until the next call.
  const Schedule& schedule();
  // Adds the drafts of the schedule's sequences to it. They take what is left: a draft that no free block holds is
  // dropped, nobody is preempted for it.
  void add_drafts();
  // The step has been computed: its keys and values are in the cache. Drawn ids are then appended by the caller, who
  // counts a draft that was drawn as cached; the keys and values of others are overwritten.
  void computed();
  // Takes a sequence out for good and gives its blocks back.
  void finish(Sequence& sequence);
  // All keys and values are lost: every running sequence recomputes its own, with weights of this version from now on.
  void recompute_all(int32_t version);

  int64_t num_waiting() const { return static_cast<int64_t>(waiting_.size()); }
  int64_t num_running() const { return static_cast<int64_t>(running_.size()); }
  int64_t num_preemptions() const { return num_preemptions_; }
  int64_t num_reused() const { return num_reused_; }  // ids whose keys and values came from the prefix cache
  const BlockPool& pool() const { return pool_; }
  const PrefixCache& prefix_cache() const { return cache_; }
  const std::vector<Sequence*>& running() const { return running_; }  // oldest first
  const std::deque<Sequence*>& waiting() const { return waiting_; }

 private:
  void schedule_running();
  void admit_waiting();
  void join_siblings();
  bool find_beginning(const Sequence& sequence);
  const Sequence* sibling_with_prompt(const Sequence& sequence, int64_t num_shared, bool& on_its_way) const;
  bool reserve(Sequence& sequence, int64_t num_tokens);
  void compute(Sequence& sequence, int64_t num_tokens);
  void start(Sequence& sequence, std::span<const int32_t> shared_blocks);
  int32_t allocate();
  void enter_in_cache(Sequence& sequence);
  PrefixCache::Root root_of(const Sequence& sequence) const { return {version_, sequence.group->adapter}; }
  void release_blocks(Sequence& sequence);
  void send_back_youngest();
  int64_t reserve_drafts(Schedule::Item& item);
  int64_t budget_left() const { return options_.max_num_batched_tokens - schedule_.num_tokens; }
  bool seat_left() const { return num_running() < max_running_; }

  SchedulerOptions options_;
  int64_t max_running_;
  BlockPool pool_;
  PrefixCache cache_;
  int32_t version_;
  std::deque<Sequence*> waiting_;
  std::vector<Sequence*> running_;
  Schedule schedule_;
  std::vector<Schedule::Draw> draws_without_drafts_;
  struct {
    std::vector<int32_t> blocks;
    int64_t num_ids = 0;
    bool from_cache = false;
  } beginning_;  // of the sequence that is about to be admitted
  int64_t num_preemptions_ = 0, num_reused_ = 0;
};

}  // namespace hone
