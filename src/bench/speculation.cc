#include "bench/speculation.h"

#include <deque>

#include "bench/bench_model.h"
#include "bench/opening.h"
#include "bench/recorded_texts.h"
#include "bench/timing.h"
#include "core/random.h"
#include "rollout/engine.h"
#include "rollout/suffix_automaton.h"

namespace hone::bench {

namespace {

// Groups of answers that an engine is made to give.
class ForcedRun {
 public:
  explicit ForcedRun(const std::vector<RecordedGroup>& groups) : groups_(groups) {
    for (const RecordedGroup& group : groups_) prompts_.emplace_back().ids = group.prompt;
  }
  int32_t id(uint64_t draw, uint32_t sample, int64_t index) const {
    const std::vector<int32_t>& answer = groups_[draw].answers[sample];
    return static_cast<size_t>(index) < answer.size() ? answer[static_cast<size_t>(index)] : kEnd;
  }
  // Seconds from the second step on: the first ones compute prompts.
  double run(Engine& engine) const {
    SamplingParams sampling;
    sampling.end_ids = {kEnd};
    sampling.key = {1, Stream::bench};
    size_t longest = 0;
    for (size_t g = 0; g < groups_.size(); ++g) {
      for (const std::vector<int32_t>& answer : groups_[g].answers) longest = std::max(longest, answer.size());
    }
    sampling.max_new_tokens = static_cast<int64_t>(longest) + 1;
    for (size_t g = 0; g < groups_.size(); ++g) {
      engine.add({&prompts_[g], g}, static_cast<int>(groups_[g].answers.size()), sampling);
    }
    engine.step();
    return seconds_of([&] { engine.run_all(); });
  }

 private:
  static constexpr int32_t kEnd = 49'151;  // the last id of the model, which no text has
  std::vector<RecordedGroup> groups_;
  std::deque<Prompt> prompts_;
};

struct OnAndOff {
  double on = 0, off = 0;
  SpeculationStats stats;  // of one run
};

class DraftComparison {
 public:
  explicit DraftComparison(const Options& options)
      : options_(options),
        opening_(options),
        decoder_(published_decoder(opening_.ctx, bench_model(), opening_.dtype)) {}

  OnAndOff compare(const ForcedRun& forced, int64_t max_num_seqs, int64_t num_kv_blocks) {
    EngineOptions options;
    options.max_num_seqs = max_num_seqs;
    options.num_kv_blocks = num_kv_blocks;
    options.forced_id = [&](uint64_t draw, uint32_t sample, int64_t index) { return forced.id(draw, sample, index); };
    Engine off(opening_.ctx, *decoder_, options);
    options.speculation = SpeculationOptions();
    options.speculation->cost = cost_;
    options.speculation->from_history = false;  // a repetition would know the answers
    Engine on(opening_.ctx, *decoder_, options);
    forced.run(off);
    forced.run(on);
    if (cost_.empty()) cost_ = on.speculation_state()->cost;
    OnAndOff result;
    const SpeculationStats before = on.speculation_stats();
    std::vector<double> ons, offs;
    for (int i = 0; i < options_.repetitions; ++i) {
      for (int turn = 0; turn < 2; ++turn) {
        const bool is_on = (turn == 0) == (i % 2 == 0);
        let_spinners_sleep();
        (is_on ? ons : offs).push_back(forced.run(is_on ? on : off));
      }
    }
    const SpeculationStats after = on.speculation_stats();
    const auto each = [&](int64_t SpeculationStats::*number) {
      return (after.*number - before.*number) / options_.repetitions;
    };
    result.on = median(ons);
    result.off = median(offs);
    result.stats = {each(&SpeculationStats::predict_times), each(&SpeculationStats::effective_times),
                    each(&SpeculationStats::total_right_length), each(&SpeculationStats::num_drafts),
                    each(&SpeculationStats::num_sequence_steps)};
    return result;
  }

  void print(const char* name, const OnAndOff& result) {
    const SpeculationStats& s = result.stats;
    const auto share = [](int64_t part, int64_t whole) {
      return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
    };
    const double ratio = result.off / result.on, acceptance = share(s.total_right_length, s.num_drafts);
    const double draft_length = share(s.num_drafts, s.predict_times);
    const double ids_a_step = 1 + share(s.total_right_length, s.num_sequence_steps);
    io::Json line = opening_.json(name);
    line.set("repetitions", int64_t{options_.repetitions});
    line.set("seconds_on", result.on);
    line.set("seconds_off", result.off);
    line.set("ratio", ratio);
    line.set("acceptance", acceptance);
    line.set("mean_draft_length", draft_length);
    line.set("ids_per_sequence_step", ids_a_step);
    line.set("num_drafts", s.num_drafts);
    options_.print(options_.json
                       ? line.dump()
                       : fmt::format("{}: off {:.3f} s, on {:.3f} s, ratio {:.3f}; acceptance {:.1f} %, drafts "
                                     "of {:.2f} ids, {:.2f} ids for each sequence and step",
                                     opening_.head(name), result.off, result.on, ratio, 100 * acceptance, draft_length,
                                     ids_a_step));
  }

 private:
  const Options& options_;
  Opening opening_;
  std::unique_ptr<Decoder> decoder_;
  std::vector<CostPoint> cost_;  // measured once
};

std::vector<int32_t> random_ids(uint64_t draw, uint32_t sample, int64_t count) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i) {
    ids.push_back(
        static_cast<int32_t>(random_below({13, Stream::bench}, draw, sample, static_cast<uint32_t>(i), 49'000)));
  }
  return ids;
}

// Microseconds to append an id and to draft eight after it, over groups of texts.
double draft_microseconds(const std::vector<RecordedGroup>& groups, int repetitions, double& bytes_per_id) {
  int64_t ids = 0, states = 0;
  const auto run = [&] {
    ids = states = 0;
    std::vector<int32_t> draft;
    int64_t bytes = 0;
    for (const RecordedGroup& group : groups) {
      SuffixAutomaton automaton;
      const int32_t prompt = automaton.add_text();
      for (int32_t id : group.prompt) automaton.append(prompt, id);
      for (const std::vector<int32_t>& answer : group.answers) {
        const int32_t text = automaton.add_text(prompt);
        for (int32_t id : answer) {
          automaton.append(text, id);
          draft.clear();
          automaton.draft(text, automaton.match(text), 8, draft);
        }
        ids += static_cast<int64_t>(answer.size());
      }
      bytes += automaton.size_bytes();
      states += automaton.num_states();
    }
    bytes_per_id = static_cast<double>(bytes) / static_cast<double>(ids);
  };
  run();
  return medians_by_turns(repetitions, run, run, {}, {}).ours * 1e6 / static_cast<double>(ids);
}

}  // namespace

int run_speculation_tail(const Options& options) {
  DraftComparison comparison(options);
  OnAndOff both;
  for (const auto& [name, groups] :
       {std::pair{"speculation_tail_sums", recorded_sums()}, {"speculation_tail_code", recorded_code()}}) {
    const OnAndOff result = comparison.compare(ForcedRun(groups), 4, 64);
    comparison.print(name, result);
    both.on += result.on;
    both.off += result.off;
    both.stats.predict_times += result.stats.predict_times;
    both.stats.effective_times += result.stats.effective_times;
    both.stats.total_right_length += result.stats.total_right_length;
    both.stats.num_drafts += result.stats.num_drafts;
    both.stats.num_sequence_steps += result.stats.num_sequence_steps;
  }
  comparison.print("speculation_tail", both);
  return 0;
}

int run_speculation_crowd(const Options& options) {
  constexpr int64_t kIds = 24;
  DraftComparison comparison(options);
  std::vector<RecordedGroup> groups(16);
  for (size_t g = 0; g < groups.size(); ++g) {
    groups[g].prompt = random_ids(g, 0, 16);
    for (uint32_t sample = 1; sample <= 4; ++sample) groups[g].answers.push_back(random_ids(g, sample, kIds));
  }
  comparison.print("speculation_crowd", comparison.compare(ForcedRun(groups), 64, 192));
  return 0;
}

int run_speculation_draft(const Options& options) {
  std::vector<RecordedGroup> random(1);
  random[0].prompt = random_ids(0, 0, 100);
  for (uint32_t sample = 1; sample <= 8; ++sample) random[0].answers.push_back(random_ids(0, sample, 4000));
  std::vector<RecordedGroup> period = random;
  for (std::vector<int32_t>& answer : period[0].answers) {
    for (size_t i = 0; i < answer.size(); ++i) answer[i] = static_cast<int32_t>(i % 7);
  }
  for (const auto& [name, groups] : {std::pair{"speculation_draft_sums", recorded_sums()},
                                     {"speculation_draft_code", recorded_code()},
                                     {"speculation_draft_random", random},
                                     {"speculation_draft_period", period}}) {
    double bytes_per_id = 0;
    const double microseconds = draft_microseconds(groups, options.repetitions, bytes_per_id);
    const io::Json line =
        io::Json::object({{"name", name}, {"microseconds_per_id", microseconds}, {"bytes_per_id", bytes_per_id}});
    options.print(options.json
                      ? line.dump()
                      : fmt::format("{:<24} {:.3f} us and {:.0f} bytes for each id", name, microseconds, bytes_per_id));
  }
  return 0;
}

}  // namespace hone::bench
