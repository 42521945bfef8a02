#include "rollout/engine.h"

#include <algorithm>
#include <cmath>

#include "rollout/batch.h"
#include "rollout/request_checks.h"
#include "rollout/step_cost.h"

namespace hone {

namespace {

const EngineOptions& checked(const EngineOptions& options) {
  if (options.max_num_seqs < 1 || options.max_num_batched_tokens < 1 || options.num_kv_blocks < 1) {
    throw Error(fmt::format("max_num_seqs is {}, max_num_batched_tokens {}, num_kv_blocks {}; each must be at least 1",
                            options.max_num_seqs, options.max_num_batched_tokens, options.num_kv_blocks));
  }
  return options;
}

bool holds(const std::vector<int32_t>& ids, int32_t id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

// How the answer ends with this id, its last; nothing: it goes on.
std::optional<FinishReason> finish_of(Sequence& sequence, int32_t id) {
  const SamplingParams& sampling = sequence.group->sampling;
  const bool stops = sequence.stop_text && sequence.stop_text->push(id, nullptr);
  if (!sampling.bans(sequence.num_response() - 1)) {
    if (!sampling.ignore_eos && holds(sampling.end_ids, id)) return FinishReason::end;
    if (stops || holds(sampling.stop_ids, id)) return FinishReason::stop;
  }
  if (sequence.num_response() == sampling.max_new_tokens) return FinishReason::length;
  return std::nullopt;
}

// How the next id of a sequence is drawn where its sampling asks for more than a temperature.
// Penalties know no drafts: where there are penalties, none are made.
kernels::FilterRow filter_row(const Sequence& sequence, int64_t num_drafts, const kernels::DrawRow& draw) {
  const SamplingParams& sampling = sequence.group->sampling;
  kernels::FilterRow row{draw, sampling.filter, {}, {}, {}};
  const std::span<const int32_t> ids = sequence.ids;
  row.prompt_ids = ids.first(static_cast<size_t>(sequence.num_prompt));
  row.response_ids = ids.subspan(static_cast<size_t>(sequence.num_prompt));
  if (sampling.bans(sequence.num_response() + num_drafts)) {
    if (!sampling.ignore_eos) row.banned_ids[0] = sampling.end_ids;
    row.banned_ids[1] = sampling.stop_ids;
  }
  return row;
}

}  // namespace

Engine::Engine(kernels::Context& ctx, const Decoder& decoder, const EngineOptions& options)
    : ctx_(ctx),
      decoder_(decoder),
      options_(checked(options)),
      kv_(decoder.config(), decoder.dtype(), options.num_kv_blocks),
      kv_version_(decoder.version()),
      scheduler_(options_, options.num_kv_blocks, kernels::kKvBlock, decoder.version()) {
  if (options_.speculation) speculator_.emplace(*options_.speculation);
  reserve_step(0);
}

// The memory of the largest step and of a sequence of num_ids, so that a decode step allocates nothing.
void Engine::reserve_step(int64_t num_ids) {
  const int64_t max_tokens = std::min(options_.max_num_batched_tokens, num_kv_blocks() * kernels::kKvBlock);
  const int64_t max_draws = std::min({options_.max_num_seqs, max_tokens, num_kv_blocks()});
  reserve_batch(batch_, max_tokens, max_draws, scheduler_.pool().blocks_for(num_ids));
  draw_rows_.reserve(static_cast<size_t>(max_draws));
  drawn_ids_.reserve(static_cast<size_t>(max_draws));
  drawn_logprobs_.reserve(static_cast<size_t>(max_draws));
}

void Engine::add(const DrawnPrompt& drawn, int num_samples, const SamplingParams& sampling) {
  HONE_CHECK(num_samples > 0, "draw {} with {} samples", drawn.draw, num_samples);
  start(enter(drawn, static_cast<size_t>(num_samples), sampling));
}

void Engine::add(const UnfinishedGroup& unfinished, const SamplingParams& sampling) {
  check_goes_on(unfinished, sampling, decoder_.config().vocab_size);
  HONE_CHECK(sampling.num_top_logprobs == 0, "draw {}: those of its first ids are gone", unfinished.drawn.draw);
  SequenceGroup& group = enter(unfinished.drawn, unfinished.samples.size(), sampling);
  for (size_t sample = 0; sample < group.sequences.size(); ++sample) {
    restore(group.sequences[sample], unfinished.samples[sample]);
  }
  start(group);
}

SequenceGroup& Engine::enter(const DrawnPrompt& drawn, size_t num_samples, const SamplingParams& sampling) {
  HONE_CHECK(!groups_.contains(drawn.draw) && !finished_.contains(drawn.draw), "draw {} is in flight", drawn.draw);
  check_request(drawn, sampling, decoder_.config(),
                {num_kv_blocks(), options_.max_num_batched_tokens, scheduler_.max_ids()});
  reserve_step(static_cast<int64_t>(drawn.prompt->ids.size()) + sampling.max_new_tokens);
  auto& group = groups_[drawn.draw] = std::make_unique<SequenceGroup>();
  group->drawn = drawn;
  group->sampling = sampling;
  if (sampling.valid_vocab == 0) group->sampling.valid_vocab = decoder_.config().vocab_size;
  group->sequences.resize(num_samples);
  for (size_t sample = 0; sample < num_samples; ++sample) {
    Sequence& sequence = group->sequences[sample];
    sequence.group = group.get();
    sequence.sample = static_cast<uint32_t>(sample);
    sequence.ids = drawn.prompt->ids;
    sequence.num_prompt = sequence.num_ids();
    if (!sampling.stops.empty())
      sequence.stop_text.emplace(*sampling.tokenizer, sampling.stops, sampling.min_new_tokens);
  }
  return *group;
}

// Gives the scheduler what is not at its end already.
void Engine::start(SequenceGroup& group) {
  for (Sequence& sequence : group.sequences) {
    if (sequence.state == SequenceState::finished) continue;
    if (sequence.num_response() >= group.sampling.max_new_tokens) {
      sequence.state = SequenceState::finished;
      sequence.finish = FinishReason::length;
      continue;
    }
    ++group.num_unfinished;
    scheduler_.add(sequence);
  }
  if (group.num_unfinished == 0) complete(group);
}

bool Engine::step() {
  if (!has_work()) return false;
  if (kv_.num_blocks() == 0) kv_ = KvCache(decoder_.config(), decoder_.dtype(), options_.num_kv_blocks);
  if (speculator_ && !speculator_->has_cost()) {  // nothing is in the cache yet
    speculator_->set_cost(measure_step_cost(ctx_, decoder_, kv_, options_.max_num_batched_tokens));
  }
  if (decoder_.version() != kv_version_) scheduler_.recompute_all(decoder_.version());
  kv_version_ = decoder_.version();
  const Schedule& schedule = scheduler_.schedule();
  if (speculator_) add_drafts(schedule);
  run(schedule);
  postprocess(schedule);
  return has_work();
}

void Engine::add_drafts(const Schedule& schedule) {
  speculator_->propose(schedule, options_.max_num_batched_tokens - schedule.num_tokens);
  scheduler_.add_drafts();
}

void Engine::run(const Schedule& schedule) {
  for (const auto& [to, from] : schedule.copies) kv_.copy_block(to, from);
  fill_batch(batch_, schedule);
  Arena::Scope scope(ctx_.scratch);
  const int64_t num_draws = static_cast<int64_t>(schedule.draws.size());
  ComputeView y_RD = ctx_.scratch.take(decoder_.dtype(), num_draws, decoder_.config().hidden_size);
  decoder_.forward(ctx_, batch_, kv_, y_RD);
  draw_ids(schedule, y_RD);
}

// Logits in chunks of rows that fit logits_bytes; the rows of a chunk share one valid_vocab.
void Engine::draw_ids(const Schedule& schedule, ConstComputeView y_RD) {
  const int64_t V = decoder_.config().vocab_size, R = y_RD.rows;
  const int64_t max_rows =
      std::clamp<int64_t>(options_.logits_bytes / (V * int64_t(sizeof(float))), 1, std::max<int64_t>(R, 1));
  View<float> logits_RV = ctx_.scratch.take<float>(max_rows, V);
  drawn_ids_.resize(static_cast<size_t>(R));
  drawn_logprobs_.resize(static_cast<size_t>(R));
  drawn_top_.clear();
  drawn_top_begin_.resize(static_cast<size_t>(R));
  const auto group_of = [&](int64_t r) { return schedule.draws[static_cast<size_t>(r)].sequence->group; };
  for (int64_t begin = 0; begin < R;) {
    const int64_t valid_vocab = group_of(begin)->sampling.valid_vocab;
    draw_rows_.clear();
    int64_t r = begin;
    for (; r < R && r < begin + max_rows && group_of(r)->sampling.valid_vocab == valid_vocab; ++r) {
      const Schedule::Draw& draw = schedule.draws[static_cast<size_t>(r)];
      const Sequence& sequence = *draw.sequence;
      const SequenceGroup& group = *sequence.group;
      const auto index = static_cast<uint32_t>(sequence.num_response() + draw.num_drafts);
      draw_rows_.push_back({group.sampling.temperature,
                            random_uniform(group.sampling.key, group.sampling.key_draw.value_or(group.drawn.draw),
                                           sequence.sample, index)});
    }
    View<float> chunk_RV = logits_RV.slice_rows(0, r - begin);
    decoder_.logits(ctx_, chunk_RV, y_RD.slice_rows(begin, r - begin));
    kernels::sample(ctx_, std::span(drawn_ids_).subspan(static_cast<size_t>(begin), draw_rows_.size()),
                    {drawn_logprobs_.data() + begin, r - begin}, chunk_RV, draw_rows_, valid_vocab);
    draw_filtered(schedule, begin, chunk_RV, valid_vocab);
    begin = r;
  }
  if (!options_.forced_id) return;
  for (size_t r = 0; r < schedule.draws.size(); ++r) {
    const auto& [sequence, row, num_drafts] = schedule.draws[r];
    drawn_ids_[r] =
        options_.forced_id(sequence->group->drawn.draw, sequence->sample, sequence->num_response() + num_drafts);
  }
}

// Of the rows just drawn, which begin at draw `begin`: draws those again that ask for more than a temperature, and adds
// the likeliest ids where they are wanted.
void Engine::draw_filtered(const Schedule& schedule, int64_t begin, View<const float> chunk_RV, int64_t valid_vocab) {
  filtered_rows_.clear();
  filter_rows_.clear();
  for (int64_t r = 0; r < chunk_RV.rows; ++r) {
    const auto& [sequence, row, num_drafts] = schedule.draws[static_cast<size_t>(begin + r)];
    const SamplingParams& sampling = sequence->group->sampling;
    const kernels::DrawRow& draw = draw_rows_[static_cast<size_t>(r)];
    if (sampling.is_filtered(sequence->num_response() + num_drafts)) {
      filtered_rows_.push_back(r);
      filter_rows_.push_back(filter_row(*sequence, num_drafts, draw));
    }
    drawn_top_begin_[static_cast<size_t>(begin + r)] = static_cast<int64_t>(drawn_top_.size());
    if (sampling.num_top_logprobs == 0) continue;
    int32_t ids[kMaxTopLogprobs];
    float logprobs[kMaxTopLogprobs];
    const size_t count = static_cast<size_t>(sampling.num_top_logprobs);
    kernels::top_logprobs(ctx_, {ids, count}, {logprobs, count}, chunk_RV.slice_rows(r, 1), draw.temperature,
                          valid_vocab);
    for (size_t i = 0; i < count; ++i) drawn_top_.push_back({ids[i], logprobs[i]});
  }
  if (filtered_rows_.empty()) return;
  filtered_.resize(filtered_rows_.size());
  kernels::sample_filtered(ctx_, filtered_, chunk_RV, filtered_rows_, filter_rows_, valid_vocab);
  for (size_t i = 0; i < filtered_.size(); ++i) {
    const size_t at = static_cast<size_t>(begin + filtered_rows_[i]);
    drawn_ids_[at] = filtered_[i].id;
    drawn_logprobs_[at] = filtered_[i].logprob;
  }
}

void Engine::postprocess(const Schedule& schedule) {
  ++stats_.num_steps;
  for (const auto& [sequence, num_tokens] : schedule.items) {
    const int64_t num_ids = num_tokens - static_cast<int64_t>(sequence->draft.size());
    const bool decodes = sequence->num_response() > 0 && num_ids == sequence->num_uncached();
    stats_.num_prefilled += num_ids - (decodes ? 1 : 0);
  }
  scheduler_.computed();
  step_ids_.clear();
  bool right = true;  // the draft before this row
  for (size_t r = 0; r < schedule.draws.size(); ++r) {
    const auto& [sequence, row, num_drafts] = schedule.draws[r];
    if (num_drafts > 0 && !right) continue;  // the sequence went another way, or ended
    if (num_drafts > 0) ++sequence->num_cached;
    const auto next = static_cast<size_t>(num_drafts);
    right = next < sequence->draft.size() && sequence->draft[next] == drawn_ids_[r];
    if (speculator_) speculator_->count(*sequence, num_drafts, right);
    right = append(*sequence, drawn_ids_[r], drawn_logprobs_[r], drawn_top_begin_[r]) && right;
  }
}

// Says whether the sequence goes on.
bool Engine::append(Sequence& sequence, int32_t id, float logprob, int64_t top_begin) {
  const SamplingParams& sampling = sequence.group->sampling;
  if (!std::isfinite(logprob) || id < 0 || id >= sampling.valid_vocab) {
    throw Error(fmt::format("{}: the model's logits are not finite (sample {}, token {} of the answer, version {})",
                            describe(sequence.group->drawn), sequence.sample, sequence.num_response(), kv_version_),
                "the weights have diverged: go back to an older checkpoint", 4);
  }
  sequence.ids.push_back(id);
  sequence.logprobs.push_back(logprob);
  sequence.versions.push_back(kv_version_);
  ++stats_.num_generated;
  const auto top = drawn_top_.begin() + top_begin;
  sequence.top_logprobs.insert(sequence.top_logprobs.end(), top, top + sampling.num_top_logprobs);
  const std::optional<FinishReason> finish = finish_of(sequence, id);
  if (options_.record_steps) {
    step_ids_.push_back({sequence.group->drawn.draw, sequence.sample, id, logprob, finish, top_begin});
  }
  if (finish) end(sequence, *finish);
  return !finish;
}

void Engine::end(Sequence& sequence, FinishReason finish) {
  scheduler_.finish(sequence);
  sequence.finish = finish;
  SequenceGroup& group = *sequence.group;
  if (--group.num_unfinished == 0) complete(group);
}

// The group's sequences are gone after this.
void Engine::complete(SequenceGroup& group) {
  const uint64_t draw = group.drawn.draw;
  Group& done = finished_[draw];
  done.drawn = group.drawn;
  if (speculator_) speculator_->remember(group);
  for (Sequence& sequence : group.sequences) done.trajectories.push_back(take_trajectory(sequence));
  groups_.erase(draw);
}

std::vector<Group> Engine::take_finished() {
  std::vector<Group> groups;
  for (auto& [draw, group] : finished_) groups.push_back(std::move(group));
  finished_.clear();
  return groups;
}

std::vector<Group> Engine::run_all() {
  while (step()) {
  }
  return take_finished();
}

std::vector<UnfinishedGroup> Engine::take_unfinished() {
  std::vector<UnfinishedGroup> taken;
  for (auto& [draw, group] : groups_) {
    UnfinishedGroup& unfinished = taken.emplace_back();
    unfinished.drawn = group->drawn;
    unfinished.temperature = group->sampling.temperature;
    for (Sequence& sequence : group->sequences) {
      const bool in_flight = sequence.state != SequenceState::finished;
      unfinished.samples.push_back(hone::take_unfinished(sequence));
      if (in_flight) scheduler_.finish(sequence);
    }
  }
  groups_.clear();
  return taken;
}

bool Engine::abort(uint64_t draw) {
  const auto found = groups_.find(draw);
  if (found == groups_.end()) return false;
  SequenceGroup& group = *found->second;
  int64_t left = group.num_unfinished;  // the last one takes the group with it
  for (size_t sample = 0; left > 0; ++sample) {
    if (group.sequences[sample].state == SequenceState::finished) continue;
    --left;
    end(group.sequences[sample], FinishReason::aborted);
  }
  return true;
}

bool Engine::abort(uint64_t draw, uint32_t sample) {
  const auto found = groups_.find(draw);
  if (found == groups_.end()) return false;
  HONE_CHECK(sample < found->second->sequences.size(), "sample {} of {}", sample, found->second->sequences.size());
  Sequence& sequence = found->second->sequences[sample];
  if (sequence.state == SequenceState::finished) return false;
  end(sequence, FinishReason::aborted);
  return true;
}

SpeculationStats Engine::speculation_stats() const { return speculator_ ? speculator_->stats() : SpeculationStats(); }

std::optional<SpeculationState> Engine::speculation_state() const {
  if (!speculator_ || !speculator_->has_cost()) return std::nullopt;
  return speculator_->state();
}

void Engine::restore_speculation(const SpeculationState& state) {
  if (!speculator_) return;
  for (const AnswerHistory::Entry& entry : state.answers) {
    for (const std::vector<int32_t>& answer : entry.answers) {
      for (int32_t id : answer) {
        if (id >= 0 && id < decoder_.config().vocab_size) continue;
        throw Error(fmt::format("speculation: an earlier answer has token {}, the model knows {}", id,
                                decoder_.config().vocab_size),
                    "go on with the model of then");
      }
    }
  }
  speculator_->restore(state);
}

void Engine::free_cache() {
  scheduler_.recompute_all(kv_version_);
  kv_ = KvCache();
}

EngineStats Engine::stats() const {
  EngineStats stats = stats_;
  stats.num_preemptions = scheduler_.num_preemptions();
  stats.num_reused = scheduler_.num_reused();
  return stats;
}

}  // namespace hone
