#include "bench/oversampling.h"

#include <cmath>
#include <map>

#include "bench/arms.h"
#include "bench/forced_engine.h"
#include "bench/opening.h"
#include "core/random.h"
#include "io/json.h"

namespace hone::bench {

namespace {

constexpr int64_t kGroups = 8, kAnswers = 8, kPhases = 24, kLimitIds = 1000;
constexpr double kRate = 0.25;

// Lognormal lengths, some of them much longer.
struct Lengths {
  const char* name;
  double median_ids, prompt_sigma, sample_sigma;
  double long_share, long_factor;
};
constexpr Lengths kLengths[] = {
    {"oversampling", 12, 0.0, 0.4, 0.02, 25},
    {"oversampling_lognormal", 10, 1.0, 0.55, 0.0, 1},  // the tail is made of many answers
};

// Of all answers, [group][sample].
std::vector<std::vector<int64_t>> make_lengths(const Lengths& form, uint64_t seed) {
  const RandomKey key{seed, Stream::bench};
  std::vector<std::vector<int64_t>> lengths(kGroups * kPhases);
  for (uint32_t group = 0; group < lengths.size(); ++group) {
    const double of_prompt = form.prompt_sigma * double{random_normal(key, group, 0, 0)};
    for (uint32_t sample = 0; sample < kAnswers; ++sample) {
      const double of_sample = form.sample_sigma * double{random_normal(key, group, 1, sample)};
      const bool is_long = random_uniform(key, group, 2, sample) < static_cast<float>(form.long_share);
      const double middle = form.median_ids * (is_long ? form.long_factor : 1);
      const auto num_ids = static_cast<int64_t>(std::lround(middle * std::exp(of_prompt + of_sample)));
      lengths[group].push_back(std::clamp<int64_t>(num_ids, 1, kLimitIds));
    }
  }
  return lengths;
}

// How far the tail reaches: the 99th percentile over the mean.
double tail_of(const std::vector<std::vector<int64_t>>& lengths) {
  std::vector<int64_t> all;
  int64_t sum = 0;
  for (const auto& group : lengths) {
    for (const int64_t length : group) all.push_back(length), sum += length;
  }
  std::sort(all.begin(), all.end());
  const auto count = static_cast<int64_t>(all.size());
  return static_cast<double>(all[static_cast<size_t>(count * 99 / 100)] * count) / static_cast<double>(sum);
}

struct Carried {
  int64_t ids = 0, old_ids = 0, prefilled = 0;
  double age = 0;  // sum over ids, in phases
};

// The phases of one run: all answers are complete at its end, on both sides the same ones.
class Phases {
 public:
  Phases(ForcedEngine& engine, const std::vector<std::vector<int64_t>>& lengths, double rate)
      : engine_(engine), lengths_(lengths), in_flight_(static_cast<size_t>(std::ceil(kGroups * (1 + rate)))) {}

  double run() {
    double seconds = 0;
    while (next_ < lengths_.size() || !left_.empty()) {
      seconds += seconds_of([&] { run_phase(); });
      ++num_phases_;
      engine_.publish();  // the update: not timed
    }
    return seconds;
  }
  int64_t num_phases() const { return num_phases_; }
  Carried carried;

 private:
  ForcedAnswer answer(uint64_t draw) const { return {draw, lengths_[draw / kAnswers][draw % kAnswers]}; }

  void run_phase() {
    for (const UnfinishedGroup& one : unfinished_) engine_.add(one, answer(one.drawn.draw));
    for (; left_.size() < in_flight_ && next_ < lengths_.size(); ++next_) {
      left_[next_] = kAnswers;
      for (uint64_t sample = 0; sample < kAnswers; ++sample) engine_.add(answer(next_ * kAnswers + sample));
    }
    int64_t complete = 0;
    engine_.run([&](std::span<const Group> ended) {
      for (const Group& group : ended) {
        note(group.trajectories.front());
        const uint64_t of_group = group.drawn.draw / kAnswers;
        if (--left_[of_group] > 0) continue;
        left_.erase(of_group);
        ++complete;
      }
      return complete >= kGroups;
    });
    unfinished_ = engine_.take_unfinished();
    carried.prefilled += engine_.take_num_prefilled();
  }
  void note(const Trajectory& t) {
    for (const int32_t version : t.versions) {
      carried.ids += 1;
      carried.old_ids += version != t.versions.back();
      carried.age += t.versions.back() - version;
    }
  }

  ForcedEngine& engine_;
  const std::vector<std::vector<int64_t>>& lengths_;
  size_t in_flight_;
  uint64_t next_ = 0;                 // group
  std::map<uint64_t, int64_t> left_;  // unfinished answers of the groups in flight
  std::vector<UnfinishedGroup> unfinished_;
  int64_t num_phases_ = 0;
};

void compare(const Options& options, const Opening& opening, const Lengths& form, const CostCurve& costs,
             ForcedEngine& engine) {
  const int repetitions = options.repetitions == Options().repetitions ? kArmRepetitions : options.repetitions;
  Arm off{"off", {}, {}}, on{"on", {}, {}};
  std::vector<double> tails;
  Carried carried, plain;
  int64_t phases = 0;
  for (int i = 0; i < repetitions; ++i) {
    const auto lengths = make_lengths(form, 100 + static_cast<uint64_t>(i));
    tails.push_back(tail_of(lengths));
    for (int turn = 0; turn < 2; ++turn) {
      const bool is_on = (turn + i) % 2 != 0;
      Phases run(engine, lengths, is_on ? kRate : 0.0);
      Arm& arm = is_on ? on : off;
      arm.seconds.push_back(run.run());
      arm.modelled_seconds.push_back(seconds_of_steps(costs, engine.take_step_tokens()));
      Carried& sum = is_on ? carried : plain;
      sum.ids += run.carried.ids;
      sum.old_ids += run.carried.old_ids;
      sum.age += run.carried.age;
      sum.prefilled += run.carried.prefilled;
      if (is_on) phases += run.num_phases();
    }
  }

  HONE_CHECK(carried.ids == plain.ids && plain.old_ids == 0, "{} ids and {}", carried.ids, plain.ids);
  const Ratio measured = ratio(off.seconds, on.seconds), modelled = ratio(off.modelled_seconds, on.modelled_seconds);
  const auto answers = static_cast<double>(kGroups * kPhases * kAnswers), ids = static_cast<double>(carried.ids);
  const double old_ratio = static_cast<double>(carried.old_ids) / ids, age = carried.age / ids,
               recomputed = static_cast<double>(carried.prefilled - plain.prefilled) / ids,
               least_tail = *std::min_element(tails.begin(), tails.end());
  if (options.json) {
    io::Json line = opening.json(form.name);
    line.set("repetitions", int64_t{repetitions});
    line.set("workload", fmt::format("{} prompts x {} answers a step, 64 running, {} steps, the same answers on both "
                                     "sides; lognormal lengths, median {} ids, sigma {} of the prompt and {} of the "
                                     "sample, {} of the answers {} times as long; over_sample_rate {}",
                                     kGroups, kAnswers, kPhases, form.median_ids, form.prompt_sigma, form.sample_sigma,
                                     form.long_share, form.long_factor, kRate));
    line.set("p99_over_mean", median(tails));
    line.set("p99_over_mean_least", least_tail);
    line.set("measured_on", "a model of 4 layers of width 256; new weights after every step, not timed");
    line.set("answers_per_second_off", answers / median(off.seconds));
    line.set("answers_per_second", answers / median(on.seconds));
    line.set("ratio", measured.median);
    line.set("ratio_least", measured.least);
    line.set("ratio_largest", measured.largest);
    line.set("modelled_on", "the 135M shape: the same engine steps at its measured time by tokens of a step");
    line.set("modelled_answers_per_second_off", answers / median(off.modelled_seconds));
    line.set("modelled_answers_per_second", answers / median(on.modelled_seconds));
    line.set("modelled_ratio", modelled.median);
    line.set("modelled_ratio_least", modelled.least);
    line.set("steps", static_cast<double>(phases) / repetitions);
    line.set("old_token_ratio", old_ratio);
    line.set("staleness_mean", age);
    line.set("recomputed_per_token", recomputed);
    options.print(line.dump());
  } else {
    options.print(fmt::format(
        "{}: {:.0f} answers a second, {:.0f} without: ratio {:.3f} ({:.3f} to {:.3f}); 135M shape "
        "by its step times {:.3f}; p99 over mean {:.1f}; {:.0f} % of tokens from older weights, {:.2f} steps old on "
        "the mean, {:.2f} computed again for each",
        opening.head(form.name), answers / median(on.seconds), answers / median(off.seconds), measured.median,
        measured.least, measured.largest, modelled.median, median(tails), 100 * old_ratio, age, recomputed));
  }
}

}  // namespace

int run_oversampling(const Options& options) {
  Opening opening(options);
  const CostCurve costs = cost_of_bench_model(opening.ctx, opening.dtype);
  ForcedEngine engine(opening.ctx, opening.dtype);
  for (const Lengths& form : kLengths) compare(options, opening, form, costs, engine);
  return 0;
}

}  // namespace hone::bench
