// What a run tells: metric names, loggers, dumps; through the binary.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "io/tensorboard.h"
#include "support/tiny_run.h"

namespace hone::test {
namespace {

class Observability : public ::testing::Test {
 protected:
  Observability() { write_tiny_inputs(inputs_.path()); }
  std::string run() const { return inputs_ / "run"; }
  Result train(const Arguments& more, const Environment& environment = {}) const {
    return run_hone(inputs_.path(), tiny_train(inputs_.path(), run()) + more, environment);
  }
  Arguments validation() const { return {"data.val_files=" + inputs_.path() + "/val.jsonl", "trainer.test_freq=1"}; }
  static std::vector<io::Json> lines(const std::string& path) {
    std::vector<io::Json> result;
    std::istringstream text(io::read_file(path));
    for (std::string line; std::getline(text, line);) result.push_back(io::parse_json(line, path));
    return result;
  }
  static std::set<std::string> emitted(const std::string& run) {
    std::set<std::string> names;
    for (const io::Json& line : lines(run + "/metrics.jsonl")) {
      for (const auto& [name, value] : line.as_object()) names.insert(name);
    }
    return names;
  }
  // Names of the definitions for this kind of run that no line of the run has.
  static std::string missing(const std::set<std::string>& names, bool MetricDefinition::*in_kind) {
    std::string missing;
    for (const MetricDefinition& definition : metric_definitions()) {
      if (!(definition.*in_kind)) continue;
      size_t found = 0;
      const std::vector<std::string> patterns = names_of(definition);
      for (const std::string& pattern : patterns) {
        found +=
            std::any_of(names.begin(), names.end(), [&](const auto& name) { return matches_metric(pattern, name); });
      }
      // which statistics of validation there are depends on n and on what scorers report
      const bool any_will_do = definition.name.starts_with("val-aux/*/{");
      if (found < (any_will_do ? 1 : patterns.size())) missing += std::string(definition.name) + "; ";
    }
    return missing;
  }
  // (step, value) of a tag in the event files of a folder.
  static std::vector<std::pair<int64_t, float>> events(const std::string& folder, const std::string& tag) {
    std::set<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.insert(entry.path().string());
    std::vector<std::pair<int64_t, float>> values;
    for (const std::string& path : paths) {
      for (const io::TensorBoardEvent& event : io::read_tensorboard_events(io::read_file(path))) {
        for (const auto& [name, value] : event.scalars) {
          if (name == tag) values.emplace_back(event.step, value);
        }
      }
    }
    return values;
  }
  TemporaryFolder inputs_{"observability"};
};

TEST_F(Observability, EveryMetricThatIsDefinedForAKindOfRunIsEmittedByIt) {
  const Result result = train(
      validation() +
      Arguments{"trainer.total_training_steps=4", "trainer.save_freq=1",
                "data.sampler.class_name=LengthAwareEpochSampler", "actor_rollout_ref.rollout.early_stop.enable=true",
                "actor_rollout_ref.rollout.over_sample_rate=0.5", "actor_rollout_ref.actor.use_kl_loss=true",
                "algorithm.rollout_correction.rollout_is=token", "actor_rollout_ref.rollout.val_kwargs.n=4",
                "actor_rollout_ref.rollout.val_kwargs.do_sample=true",
                "actor_rollout_ref.rollout.val_kwargs.temperature=1"});
  ASSERT_EQ(result.code, 0) << result.err;
  // DAPO draws groups in another way: a run of its own
  const std::string dapo = inputs_ / "dapo";
  const Result filtered =
      run_hone(inputs_.path(), tiny_train(inputs_.path(), dapo) +
                                   Arguments{"trainer.total_training_steps=2", "algorithm.filter_groups.enable=true",
                                             "algorithm.filter_groups.metric=acc", "reward.reward_manager.name=dapo",
                                             "reward.reward_kwargs.overlong_buffer_cfg.enable=true",
                                             "reward.reward_kwargs.overlong_buffer_cfg.len=2",
                                             "reward.reward_kwargs.overlong_buffer_cfg.penalty_factor=1.0",
                                             "reward.reward_kwargs.max_resp_len=8"});
  ASSERT_EQ(filtered.code, 0) << filtered.err;
  std::set<std::string> names = emitted(run());
  names.merge(emitted(dapo));
  for (const std::string estimator : {"gae", "remax"}) {
    const std::string other = inputs_ / estimator;
    const Result run_of =
        run_hone(inputs_.path(), tiny_train(inputs_.path(), other) +
                                     Arguments{"trainer.total_training_steps=2", "algorithm.adv_estimator=" + estimator,
                                               "algorithm.use_kl_in_reward=true", "actor_rollout_ref.rollout.n=2"});
    ASSERT_EQ(run_of.code, 0) << run_of.err;
    names.merge(emitted(other));
  }
  EXPECT_EQ(missing(names, &MetricDefinition::in_rl), "");
  const std::string sft = inputs_ / "sft";
  const Result other =
      run_hone(inputs_.path(), tiny_sft(inputs_.path(), sft) +
                                   Arguments{"trainer.total_training_steps=2", "trainer.save_freq=1",
                                             "trainer.test_freq=1", "data.val_files=" + inputs_.path() + "/sft.jsonl"});
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_EQ(missing(emitted(sft), &MetricDefinition::in_sft), "");
}

TEST_F(Observability, TheTokensOfAStepOfSftAreAllIdsOfItsRows) {
  const std::string path = inputs_ / "rows.jsonl", sft = inputs_ / "sft";
  io::write_file(path, R"({"prompt": "1+1=", "response": "02"})"
                       "\n"
                       R"({"prompt": "7=", "response": "7"})"
                       "\n");
  const Result result = run_hone(
      inputs_.path(), tiny_sft(inputs_.path(), sft) + Arguments{"data.train_files=" + path, "data.train_batch_size=2",
                                                                "trainer.total_training_steps=2"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(metric(sft, "perf/total_num_tokens"), (std::vector<double>{11, 11})) << "4 + 2 + end id, 2 + 1 + end id";
}

TEST_F(Observability, LoggersGetTheNumbersOfMetricsJsonlAndOnResumeNoStepTwice) {
  const Arguments more{"trainer.logger=['console','file','tensorboard','wandb']", "trainer.total_training_steps=4",
                       "trainer.save_freq=2"};
  ASSERT_EQ(train(more).code, 0);
  // as if the run had been killed after its third step
  std::filesystem::remove_all(run() + "/checkpoints/global_step_4");
  ASSERT_EQ(train(more).code, 0);
  const std::vector<io::Json> metrics = lines(run() + "/metrics.jsonl"), logged = lines(run() + "/file_logger.jsonl");
  ASSERT_EQ(metrics.size(), 4u);
  ASSERT_EQ(logged.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(logged[i].at("step").as_int(), static_cast<int64_t>(i) + 1);
    EXPECT_EQ(logged[i].at("data").dump(), metrics[i].dump());
  }
  for (const auto& [name, value] : metrics[0].as_object()) {
    std::vector<std::pair<int64_t, float>> expected;
    for (const io::Json& line : metrics) {
      if (line.find(name) != nullptr) {
        expected.emplace_back(line.at("training/global_step").as_int(), line.at(name).as_float());
      }
    }
    EXPECT_EQ(events(run() + "/tensorboard", name), expected) << name;
  }
}

TEST_F(Observability, LoggersAreThoseThatAreNamed) {
  Arguments arguments = tiny_train(inputs_.path(), run());
  std::erase(arguments, "--quiet");
  const auto with = [&](const std::string& logger, const Environment& environment = {}) {
    std::filesystem::remove_all(run());
    return run_hone(inputs_.path(),
                    arguments + Arguments{"trainer.logger=" + logger, "trainer.total_training_steps=1",
                                          "trainer.project_name=p", "trainer.experiment_name=e"},
                    environment);
  };
  Result result = with("console");
  EXPECT_NE(result.out.find("step    1/1"), std::string::npos) << result.out;
  EXPECT_FALSE(io::exists(run() + "/tensorboard"));
  EXPECT_FALSE(io::exists(run() + "/file_logger.jsonl"));
  result = with("[swanlab]");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out.find("step    1/1"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("trainer.logger: swanlab is not there; metrics.jsonl holds every number"),
            std::string::npos)
      << result.err;
  result = with("[console,tensorbord]");
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("found tensorbord"), std::string::npos) << result.err;
  // verl's environment variables
  result = with("[file,tensorboard]",
                {{"TENSORBOARD_DIR", inputs_ / "events"}, {"VERL_FILE_LOGGER_ROOT", inputs_ / "logs"}});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(events(inputs_ / "events", "training/global_step"), (std::vector<std::pair<int64_t, float>>{{1, 1.0f}}));
  EXPECT_EQ(lines(inputs_ / "logs/p/e.jsonl").size(), 1u);
  result = with("file", {{"VERL_FILE_LOGGER_PATH", inputs_ / "here.jsonl"}});
  EXPECT_EQ(lines(inputs_ / "here.jsonl").size(), 1u);
}

TEST_F(Observability, DumpsStandInVerlsFormWhereTheyAreAskedForAndInTheRunFolder) {
  const Result result = train(validation() + Arguments{"trainer.rollout_data_dir=" + inputs_.path() + "/r",
                                                       "trainer.validation_data_dir=" + inputs_.path() + "/v",
                                                       "trainer.total_training_steps=2"});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const auto& [own, other, name] : {std::tuple{"rollouts", "r", "1.jsonl"},
                                         {"rollouts", "r", "2.jsonl"},
                                         {"validation", "v", "0.jsonl"},
                                         {"validation", "v", "2.jsonl"}}) {
    EXPECT_EQ(io::read_file(run() + "/" + own + "/" + name), io::read_file(inputs_.path() + "/" + other + "/" + name));
  }
  const std::vector<io::Json> samples = lines(inputs_ / "r/2.jsonl");
  ASSERT_EQ(samples.size(), 12u);
  for (const io::Json& sample : samples) {
    EXPECT_EQ(sample.as_object()[0].key, "input");
    EXPECT_EQ(sample.as_object()[1].key, "output");
    EXPECT_EQ(sample.as_object()[2].key, "gts");
    EXPECT_EQ(sample.as_object()[3].key, "score");
    EXPECT_EQ(sample.as_object()[4].key, "step");
    EXPECT_EQ(sample.at("step").as_int(), 2);
    EXPECT_EQ(sample.at("response_ids").as_array().size(), sample.at("logprobs").as_array().size());
    EXPECT_TRUE(sample.at("pred").is_string()) << "what the scorer reports beside the score";
  }
}

TEST_F(Observability, SoManySamplesOfAValidationArePrinted) {
  Arguments arguments = tiny_train(inputs_.path(), run());
  std::erase(arguments, "--quiet");
  const Result result =
      run_hone(inputs_.path(),
               arguments + validation() + Arguments{"trainer.log_val_generations=2", "trainer.total_training_steps=1"});
  ASSERT_EQ(result.code, 0) << result.err;
  size_t count = 0;
  for (size_t at = result.out.find("-- validation after step"); at != std::string::npos;
       at = result.out.find("-- validation after step", at + 1)) {
    ++count;
  }
  EXPECT_EQ(count, 4u) << "two before training, two after the step\n" << result.out;
  EXPECT_NE(result.out.find("hone/arithmetic: score"), std::string::npos);
}

}  // namespace
}  // namespace hone::test
