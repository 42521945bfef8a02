// What serving and evaluation may ask of the sampling: cuts, penalties, minimum tokens, stops, likeliest ids, streams.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "rollout/engine_test_cases.h"
#include "text/character_tokenizer.h"

namespace hone::engine_test {
namespace {

Tokenizer letters() {
  std::string folder = (std::filesystem::temp_directory_path() / "hone_letters_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder");
  write_character_tokenizer(folder, "abcdefghijklmnopqrstuvwxyzABCDEF", {"<|end|>"}, "<|end|>");
  Tokenizer tokenizer = Tokenizer::load(folder);
  std::filesystem::remove_all(folder);
  return tokenizer;
}

// One kind of sampling for each draw of the task.
std::vector<SamplingParams> kinds(const Task& task, const Tokenizer& tokenizer) {
  std::vector<SamplingParams> all(task.draws.size(), task.sampling);
  all[1].filter.top_k = 4;
  all[2].filter.top_p = 0.6f, all[2].filter.repetition_penalty = 1.2f;
  all[3].temperature = 0, all[3].filter.frequency_penalty = 0.5f, all[3].min_new_tokens = 20;
  all[4].stops = {"ab", "d"}, all[4].tokenizer = &tokenizer;
  all[5].filter.min_p = 0.05f, all[5].filter.presence_penalty = 1.0f, all[5].num_top_logprobs = 3;
  return all;
}

std::vector<Group> run_kinds(const Decoder& decoder, const Task& task, const std::vector<SamplingParams>& samplings,
                             const Setting& setting) {
  kernels::Context ctx(setting.num_threads);
  Engine engine(ctx, decoder, setting.options);
  for (size_t i = 0; i < task.draws.size(); ++i) {
    engine.add(task.draws[i], Task::num_samples(task.draws[i].draw), samplings[i]);
  }
  return engine.run_all();
}

TEST(EngineSampling, AnswersAreTheSameWhateverRunsBesideThem) {
  const auto decoder = make_decoder(kDefault);
  const Task task;
  const Tokenizer tokenizer = letters();
  const std::vector<SamplingParams> samplings = kinds(task, tokenizer);
  const std::vector<Group> alone = run_kinds(*decoder, task, samplings, {options_of(1, 64, 64)});
  EngineOptions few_logits = options_of(32, 256, 128);
  few_logits.logits_bytes = 3 * kVocab * 4;
  expect_same(run_kinds(*decoder, task, samplings, {few_logits, 3}), alone);
  expect_same(run_kinds(*decoder, task, samplings, {options_of(16, 24, 9), 2}), alone);
  EngineOptions drafting = options_of(16, 64, 64);
  drafting.speculation.emplace();
  drafting.speculation->cost = {{1, 1.0}};  // drafts are always worth it
  expect_same(run_kinds(*decoder, task, samplings, {drafting}), alone);
}

TEST(EngineSampling, NothingEndsAnAnswerBeforeItsMinimum) {
  const auto decoder = make_decoder(kDefault);
  Task task;
  task.sampling.min_new_tokens = 25;
  task.sampling.stop_ids = {1, 2, 4};
  int64_t num_stopped = 0;
  for (const Group& group : run(kDefault, *decoder, task, {options_of(64, 64, 64)})) {
    for (const Trajectory& t : group.trajectories) {
      ASSERT_GE(t.response_ids.size(), 25u);
      for (size_t i = 0; i + 1 < t.response_ids.size(); ++i) {
        EXPECT_FALSE(std::set<int32_t>({1, 2, 3, 4, 9}).contains(t.response_ids[i])) << i;
      }
      num_stopped += t.finish == FinishReason::stop && t.response_ids.back() <= 4;
    }
  }
  EXPECT_GT(num_stopped, 0);
}

TEST(EngineSampling, PenaltiesLookAtResponseAndRepetitionAtThePromptToo) {
  const auto decoder = make_decoder(kDefault);
  Task task;
  task.sampling.ignore_eos = true;
  task.sampling.max_new_tokens = 30;
  task.sampling.temperature = 0;
  std::map<std::string, kernels::Filter> filters;
  filters["presence"].presence_penalty = 1e4f;
  filters["frequency"].frequency_penalty = 1e4f;
  filters["repetition"].repetition_penalty = 1e6f;
  for (const auto& [name, filter] : filters) {
    task.sampling.filter = filter;
    for (const Group& group : run(kDefault, *decoder, task, {options_of(64, 64, 64)})) {
      std::set<int32_t> seen;
      if (name == "repetition") seen.insert(group.drawn.prompt->ids.begin(), group.drawn.prompt->ids.end());
      const std::vector<int32_t>& ids = group.trajectories[0].response_ids;
      // As long as an id is left with a positive logit; half of 33 are enough for the first ones.
      for (size_t i = 0; i < (name == "repetition" ? 3 : 30); ++i) {
        if (seen.size() > 25 && name == "repetition") break;
        EXPECT_TRUE(seen.insert(ids[i]).second) << name << " " << i;
      }
    }
  }
}

TEST(EngineSampling, AStopTextEndsAnAnswerWithTheTokenThatCompletesIt) {
  const auto decoder = make_decoder(kDefault);
  const Tokenizer tokenizer = letters();
  Task task;
  task.sampling.ignore_eos = true;
  task.sampling.tokenizer = &tokenizer;
  const std::vector<Group> whole = run(kDefault, *decoder, task, {options_of(64, 64, 64)});
  // Two letters that some answer has next to each other.
  const std::string text = tokenizer.decode(whole[0].trajectories[0].response_ids, true);
  task.sampling.stops = {text.substr(10, 2), "~"};
  int64_t num_stopped = 0;
  const std::vector<Group> cut = run(kDefault, *decoder, task, {options_of(64, 64, 64)});
  for (size_t g = 0; g < whole.size(); ++g) {
    for (size_t k = 0; k < whole[g].trajectories.size(); ++k) {
      const Trajectory &a = whole[g].trajectories[k], &b = cut[g].trajectories[k];
      std::vector<int32_t> expected;
      while (expected.size() < a.response_ids.size() &&
             tokenizer.decode(expected, true).find(task.sampling.stops[0]) == std::string::npos) {
        expected.push_back(a.response_ids[expected.size()]);
      }
      EXPECT_EQ(b.response_ids, expected);
      const bool stopped = tokenizer.decode(expected, true).find(task.sampling.stops[0]) != std::string::npos;
      EXPECT_EQ(b.finish, stopped ? FinishReason::stop : FinishReason::length);
      num_stopped += stopped;
    }
  }
  EXPECT_GT(num_stopped, 0);
}

TEST(EngineSampling, LikeliestIdsStandBesideEachIdWithItsLogprob) {
  const auto decoder = make_decoder(kDefault);
  Task task;
  task.sampling.num_top_logprobs = 4;
  for (const float temperature : {0.0f, 1.0f}) {
    task.sampling.temperature = temperature;
    for (const Group& group : run(kDefault, *decoder, task, {options_of(64, 64, 64)})) {
      for (const Trajectory& t : group.trajectories) {
        ASSERT_EQ(t.top_logprobs.size(), 4 * t.response_ids.size());
        for (size_t i = 0; i < t.response_ids.size(); ++i) {
          const TokenLogprob* top = &t.top_logprobs[4 * i];
          for (int k = 0; k < 4; ++k) {
            EXPECT_GE(top[k > 0 ? k - 1 : 0].logprob, top[k].logprob);
            EXPECT_TRUE(top[k].id != t.response_ids[i] || top[k].logprob == t.logprobs[i]);
          }
          EXPECT_TRUE(temperature > 0 || top[0].id == t.response_ids[i]);
          EXPECT_GE(top[0].logprob, t.logprobs[i]);
        }
      }
    }
  }
}

TEST(EngineSampling, StepsTellWhatTheyDrew) {
  const auto decoder = make_decoder(kDefault);
  const Task task;
  const Tokenizer tokenizer = letters();
  const std::vector<SamplingParams> samplings = kinds(task, tokenizer);
  kernels::Context ctx(1);
  EngineOptions options = options_of(8, 24, 12);
  options.record_steps = true;
  Engine engine(ctx, *decoder, options);
  for (size_t i = 0; i < task.draws.size(); ++i) {
    engine.add(task.draws[i], Task::num_samples(task.draws[i].draw), samplings[i]);
  }
  std::map<std::pair<uint64_t, uint32_t>, Trajectory> told;
  while (engine.has_work()) {
    engine.step();
    for (const StepId& step : engine.step_ids()) {
      Trajectory& t = told[{step.draw, step.sample}];
      t.response_ids.push_back(step.id);
      t.logprobs.push_back(step.logprob);
      const int count = samplings[step.draw - 100].num_top_logprobs;
      for (int k = 0; k < count; ++k) {
        t.top_logprobs.push_back(engine.step_top_logprobs()[static_cast<size_t>(step.top_begin + k)]);
      }
      if (step.finish) t.finish = *step.finish;
    }
  }
  for (const Group& group : engine.take_finished()) {
    for (const Trajectory& t : group.trajectories) {
      const Trajectory& other = told.at({t.draw, t.sample});
      EXPECT_EQ(other.response_ids, t.response_ids);
      EXPECT_EQ(other.logprobs, t.logprobs);
      EXPECT_EQ(other.finish, t.finish);
      ASSERT_EQ(other.top_logprobs.size(), t.top_logprobs.size());
      for (size_t i = 0; i < t.top_logprobs.size(); ++i) {
        EXPECT_EQ(other.top_logprobs[i].id, t.top_logprobs[i].id);
        EXPECT_EQ(other.top_logprobs[i].logprob, t.top_logprobs[i].logprob);
      }
    }
  }
}

TEST(EngineSampling, ANamedKeyGivesTheSameAnswersUnderAnyDraw) {
  const auto decoder = make_decoder(kDefault);
  Task task;
  task.sampling.key_draw = 7;
  kernels::Context ctx(1);
  Engine engine(ctx, *decoder, options_of(8, 64, 64));
  engine.add({&task.prompts[0], 50}, 2, task.sampling);
  engine.add({&task.prompts[0], 51}, 2, task.sampling);
  const std::vector<Group> groups = engine.run_all();
  for (size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(groups[0].trajectories[k].response_ids, groups[1].trajectories[k].response_ids);
  }
  EXPECT_NE(groups[0].trajectories[0].response_ids, groups[0].trajectories[1].response_ids);
}

TEST(EngineSampling, APausedAnswerGoesOnWithItsPenaltiesAndStopTexts) {
  const auto decoder = make_decoder(kDefault);
  const Task task;
  const Tokenizer tokenizer = letters();
  std::vector<SamplingParams> samplings = kinds(task, tokenizer);
  samplings[5].num_top_logprobs = 0;
  const std::vector<Group> whole = run_kinds(*decoder, task, samplings, {options_of(16, 64, 64)});
  kernels::Context ctx(1);
  Engine engine(ctx, *decoder, options_of(16, 64, 64));
  for (size_t i = 0; i < task.draws.size(); ++i) {
    engine.add(task.draws[i], Task::num_samples(task.draws[i].draw), samplings[i]);
  }
  for (bool more = true; more;) {
    for (int i = 0; i < 5 && more; ++i) more = engine.step();
    for (const UnfinishedGroup& unfinished : engine.take_unfinished()) {
      engine.add(unfinished, samplings[unfinished.drawn.draw - 100]);
    }
  }
  expect_same(engine.take_finished(), whole);
}

}  // namespace
}  // namespace hone::engine_test
