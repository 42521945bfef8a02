#include "loop/evaluate.h"

#include <map>

#include "reward/scorer.h"

namespace hone {

void score_group(Group& group, const Tokenizer& tokenizer) {
  const Prompt& prompt = *group.drawn.prompt;
  for (Trajectory& t : group.trajectories) {
    t.response_text = tokenizer.decode(t.response_ids, true);
    t.score = t.finish == FinishReason::aborted
                  ? Score{std::nullopt, "aborted"}
                  : score({prompt.data_source, t.response_text, prompt.ground_truth, t.finish});
  }
}

double Evaluation::mean() const {
  double sum = 0;
  int64_t count = 0;
  for (const SourceScores& source : sources) {
    sum += source.mean * static_cast<double>(source.num_prompts);
    count += source.num_prompts;
  }
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

void Evaluation::report(Metrics& metrics, int64_t n) const {
  int64_t absent = 0;
  for (const SourceScores& source : sources) {
    const std::string prefix = "val-core/" + source.data_source + "/reward/";
    metrics.set(fmt::format("{}mean@{}", prefix, n), source.mean);
    if (n > 1) metrics.set(fmt::format("{}pass@{}", prefix, n), source.pass);
    absent += source.num_absent;
  }
  metrics.set("val-aux/response_length/mean", response_length);
  metrics.set("val-aux/response_length/clip_ratio", clip_ratio);
  metrics.set("val-aux/num_absent", static_cast<double>(absent));
}

namespace {

Evaluation summarise(std::vector<Group> groups) {
  std::map<std::string, SourceScores> by_source;
  Evaluation result;
  int64_t answers = 0;
  for (const Group& group : groups) {
    SourceScores& source = by_source[group.drawn.prompt->data_source];
    double sum = 0;
    int64_t present = 0;
    bool passed = false;
    for (const Trajectory& t : group.trajectories) {
      result.response_length += static_cast<double>(t.response_ids.size());
      result.clip_ratio += t.finish == FinishReason::length;
      ++answers;
      if (!t.score.value) {
        ++source.num_absent;
        continue;
      }
      sum += double{*t.score.value};
      passed = passed || *t.score.value > 0;
      ++present;
    }
    ++source.num_prompts;
    if (present > 0) source.mean += sum / static_cast<double>(present);
    source.pass += passed;
  }
  for (auto& [name, source] : by_source) {
    source.data_source = name;
    source.mean /= static_cast<double>(source.num_prompts);
    source.pass /= static_cast<double>(source.num_prompts);
    result.sources.push_back(source);
  }
  if (answers > 0) {
    result.response_length /= static_cast<double>(answers);
    result.clip_ratio /= static_cast<double>(answers);
  }
  result.groups = std::move(groups);
  return result;
}

}  // namespace

Evaluation evaluate(Engine& engine, const Tokenizer& tokenizer, std::span<const Prompt> prompts,
                    const EvaluationOptions& options, const std::function<void(int64_t)>& progress) {
  SamplingParams sampling;
  sampling.temperature = static_cast<float>(options.temperature);
  sampling.max_new_tokens = options.max_new_tokens;
  sampling.end_ids = options.end_ids;
  sampling.key = {options.seed, Stream::validation};
  sampling.valid_vocab = tokenizer.vocab_size();
  for (size_t p = 0; p < prompts.size(); ++p) {
    engine.add({&prompts[p], static_cast<uint64_t>(p)}, static_cast<int>(options.n), sampling);
  }
  std::vector<Group> groups(prompts.size());
  int64_t done = 0;
  const auto take = [&] {
    for (Group& group : engine.take_finished()) {
      score_group(group, tokenizer);
      const uint64_t place = group.drawn.draw;
      groups[place] = std::move(group);
      ++done;
    }
    if (progress) progress(done);
  };
  while (engine.step()) take();
  take();
  return summarise(std::move(groups));
}

}  // namespace hone
