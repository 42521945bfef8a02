// Engine: draws groups of answers from a decoder. A step is schedule, run, postprocess.
// What is drawn, and every log-prob to the bit, is a function of (weights, prompt, sampling, draw, sample): options,
// neighbours, preemption, pauses and threads change the speed alone (laws 1 and 2). To pause, do not call step; to stop
// for good and go on elsewhere or another day, take_unfinished. New weights may be published between steps: running
// sequences then recompute their keys and values and go on.
// With speculation a step also computes ids that may come next; the drawn ids are the model's own all the same.
// Left out: beams.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/context.h"
#include "kernels/logprob.h"
#include "models/decoder.h"
#include "models/kv_cache.h"
#include "rollout/scheduler.h"
#include "rollout/speculator.h"

namespace hone {

struct EngineOptions : SchedulerOptions {
  int64_t num_kv_blocks = 0;        // of kKvBlock tokens; their memory is had at once, and touched as it is used
  int64_t logits_bytes = 64 << 20;  // at most this much of [rows, vocabulary] in float at once (one row at least)
  std::optional<SpeculationOptions> speculation;
  // For benchmarks and tests: the id to take in place of the drawn one (whose log-prob stays), by draw, sample and
  // index in the response. Everything is computed as without.
  std::function<int32_t(uint64_t draw, uint32_t sample, int64_t index)> forced_id;
  bool record_steps = false;  // keep what each step drew, for step_ids()
};

// An id drawn in a step.
struct StepId {
  uint64_t draw;
  uint32_t sample;
  int32_t id;
  float logprob;
  std::optional<FinishReason> finish;  // set: the sample's last id
  int64_t top_begin;                   // of step_top_logprobs(): num_top_logprobs of the sampling
};

struct EngineStats {
  int64_t num_steps = 0;
  int64_t num_generated = 0;  // ids drawn
  int64_t num_prefilled = 0;  // ids computed that are not decodes: prompts once a group, and what is recomputed
  int64_t num_reused = 0;     // ids taken from the prefix cache in place of computing them
  int64_t num_preemptions = 0;
};

class Engine {
 public:
  // The decoder is published and outlives the engine. Raises Error when the options leave no room for a token.
  Engine(kernels::Context& ctx, const Decoder& decoder, const EngineOptions& options);

  // num_samples answers to a prompt. The draw is not in flight already. Raises Error, with the sizes, when the prompt
  // is empty or has ids the model does not know, or when it and max_new_tokens exceed the cache, the model's
  // positions or, without chunked prefill, the budget of a step.
  void add(const DrawnPrompt& drawn, int num_samples, const SamplingParams& sampling);
  // Goes on with a draw that was taken back, here or in another process. With the sampling and the weights of then the
  // answers are those of a run that never stopped, to the bit; with newer weights the versions tell who drew what. A
  // sample that already has max_new_tokens ids ends with what it has. Raises Error as above, and when the ids so far
  // were drawn at another temperature or are not all known to the tokenizer.
  void add(const UnfinishedGroup& unfinished, const SamplingParams& sampling);
  // One forward. Says whether work is left. A step that only decodes and ends no answer allocates nothing once the
  // engine has seen one of its size. Raises Error (exit code 4) when logits are not finite; the engine is then
  // of no more use.
  bool step();
  // What the last step drew, for those who stream (record_steps); valid until the next step.
  std::span<const StepId> step_ids() const { return step_ids_; }
  std::span<const TokenLogprob> step_top_logprobs() const { return drawn_top_; }
  // Groups all of whose samples have ended since the last call, by draw.
  std::vector<Group> take_finished();
  // Steps until no work is left, then take_finished().
  std::vector<Group> run_all();
  // Every group in flight, by draw, samples that have ended included; the engine then has no work. Groups that
  // take_finished would give stay there.
  std::vector<UnfinishedGroup> take_unfinished();
  // Ends the unfinished samples of a draw, or one of them, with what they have (FinishReason::aborted). False: the draw
  // is not in flight, the sample has ended.
  bool abort(uint64_t draw);
  bool abort(uint64_t draw, uint32_t sample);

  // Gives the memory of the KV cache back to the system until the next step; sequences in flight recompute theirs.
  void free_cache();

  int64_t num_running() const { return scheduler_.num_running(); }
  int64_t num_waiting() const { return scheduler_.num_waiting(); }
  bool has_work() const { return num_running() + num_waiting() > 0; }
  int64_t num_kv_blocks() const { return options_.num_kv_blocks; }
  int64_t num_free_kv_blocks() const { return scheduler_.pool().num_free(); }
  EngineStats stats() const;

  // Of speculation: zeros without it.
  SpeculationStats speculation_stats() const;
  // What its decisions depend on; nothing without it, or before the cost of rows is known.
  std::optional<SpeculationState> speculation_state() const;
  // Goes on deciding from there; does nothing without speculation. Raises Error when an answer has an id that the model
  // does not know.
  void restore_speculation(const SpeculationState& state);

 private:
  SequenceGroup& enter(const DrawnPrompt& drawn, size_t num_samples, const SamplingParams& sampling);
  void start(SequenceGroup& group);
  void reserve_step(int64_t num_ids);
  void run(const Schedule& schedule);
  void add_drafts(const Schedule& schedule);
  void draw_ids(const Schedule& schedule, ConstComputeView y_RD);
  void draw_filtered(const Schedule& schedule, int64_t begin, View<const float> chunk_RV, int64_t valid_vocab);
  void postprocess(const Schedule& schedule);
  bool append(Sequence& sequence, int32_t id, float logprob, int64_t top_begin);
  void end(Sequence& sequence, FinishReason finish);
  void complete(SequenceGroup& group);

  kernels::Context& ctx_;
  const Decoder& decoder_;
  EngineOptions options_;
  KvCache kv_;
  int32_t kv_version_;  // of the weights that the cache was computed with
  Scheduler scheduler_;
  std::optional<Speculator> speculator_;
  std::map<uint64_t, std::unique_ptr<SequenceGroup>> groups_;  // in flight, by draw
  std::map<uint64_t, Group> finished_;
  EngineStats stats_;

  ForwardBatch batch_;  // these keep their memory from step to step
  std::vector<kernels::DrawRow> draw_rows_;
  std::vector<int32_t> drawn_ids_;
  std::vector<float> drawn_logprobs_;
  std::vector<TokenLogprob> drawn_top_;  // [num_top_logprobs] of each draw that asks for them, in the order of draws
  std::vector<int64_t> drawn_top_begin_;
  std::vector<int64_t> filtered_rows_;
  std::vector<kernels::FilterRow> filter_rows_;
  std::vector<kernels::FilteredDraw> filtered_;
  std::vector<StepId> step_ids_;
};

}  // namespace hone
