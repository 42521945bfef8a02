// The long tail through the binary: batches by expected length, capped answers, and over-sampling with what is
// unfinished carried over, with the laws that hold for every run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "support/tiny_run.h"

namespace hone::test {
namespace {

constexpr const char* kSampler = "data.sampler.class_name=LengthAwareEpochSampler";

struct Answer {
  uint64_t draw = 0;
  std::string input, finish;
  bool capped = false, is_scored = false;
  int64_t num_ids = 0;
  std::vector<int64_t> versions;
};

class LongTail : public ::testing::Test {
 protected:
  LongTail() { write_tiny_inputs(inputs_.path()); }

  std::string folder(const std::string& name) const { return inputs_ / name; }
  Arguments command(const std::string& name, const Arguments& more) const {
    return tiny_train(inputs_.path(), folder(name)) + more;
  }
  std::string run(const std::string& name, const Arguments& more) const {
    const Result result = run_hone(inputs_.path(), command(name, more));
    EXPECT_EQ(result.code, 0) << result.err;
    return folder(name);
  }
  // Of one step, by draw and sample.
  static std::vector<Answer> answers_of(const std::string& run, int64_t step) {
    std::vector<Answer> answers;
    for (const io::Json& row : rollouts_of(run, step)) {
      Answer& answer = answers.emplace_back();
      answer.draw = row.at("draw").as_uint();
      answer.input = row.at("input").as_string();
      answer.finish = row.at("finish").as_string();
      answer.capped = row.find("capped") != nullptr && row.at("capped").as_bool();
      answer.is_scored = row.at("score").is_number();
      answer.num_ids = static_cast<int64_t>(row.at("response_ids").as_array().size());
      for (const io::Json& version : row.at("versions").as_array()) answer.versions.push_back(version.as_int());
    }
    return answers;
  }

  TemporaryFolder inputs_{"long-tail"};
  // everything at once, and steps that end while most answers are on their way
  const Arguments everything_{kSampler,
                              "data.sampler.bucket_size=2",
                              "actor_rollout_ref.rollout.early_stop.enable=true",
                              "actor_rollout_ref.rollout.early_stop.factor=1.5",
                              "actor_rollout_ref.rollout.early_stop.min_tokens=6",
                              "actor_rollout_ref.rollout.over_sample_rate=0.8",
                              "actor_rollout_ref.rollout.max_num_seqs=5",
                              "trainer.save_freq=3"};
};

TEST_F(LongTail, KilledAndResumedAndWithOtherThreadsARunIsTheSameBits) {
  const Arguments more = everything_ + Arguments{"trainer.total_training_steps=10"};
  const auto expected = bits_of(run("undisturbed", more));
  EXPECT_TRUE(expected.contains("training_state/answer_lengths.json"));
  EXPECT_TRUE(expected.contains("training_state/unfinished.json"));
  EXPECT_EQ(difference(expected, bits_of(run("threads", more + Arguments{"trainer.num_threads=2"}))), "");
  for (const int64_t lines : {4, 7}) {
    Command killed(inputs_.path(), command("killed", more));
    ASSERT_TRUE(killed.wait_until([&] {
      const std::string path = folder("killed") + "/metrics.jsonl";  // its last line may not be whole
      const std::string text = io::exists(path) ? io::read_file(path) : "";
      return std::count(text.begin(), text.end(), '\n') >= lines;
    }));
    killed.send(SIGKILL);
    ASSERT_EQ(killed.wait(), 1000 + SIGKILL);
  }
  EXPECT_EQ(difference(expected, bits_of(run("killed", more))), "");
}

TEST_F(LongTail, EveryPromptThatIsDrawnIsTrainedOnOnceOrStillOnItsWay) {
  const std::string whole = run("whole", everything_ + Arguments{"trainer.total_training_steps=10"});
  std::set<uint64_t> draws;
  int64_t mixed = 0;
  for (int64_t step = 1; step <= 10; ++step) {
    std::set<uint64_t> of_step;
    for (const Answer& answer : answers_of(whole, step)) {
      of_step.insert(answer.draw);
      EXPECT_TRUE(std::is_sorted(answer.versions.begin(), answer.versions.end()));
      mixed += answer.versions.front() != answer.versions.back();
    }
    EXPECT_EQ(of_step.size(), 4u) << "whole groups, as many as the batch";
    for (const uint64_t draw : of_step) EXPECT_TRUE(draws.insert(draw).second) << "draw " << draw << " comes twice";
  }
  EXPECT_GT(mixed, 10) << "answers go on with newer weights";
  const std::string state = last_checkpoint(whole) + "/training_state/";
  const io::Json unfinished = io::read_json(state + "unfinished.json");
  for (const io::Json& group : unfinished.at("groups").as_array()) {
    EXPECT_TRUE(draws.insert(group.at("draw").as_uint()).second);
  }
  EXPECT_EQ(draws.size(), io::read_json(state + "state.json").at("draw").as_uint()) << "none is lost";
  // metrics tell of it: what older weights drew has another probability now, and nothing else has
  const auto old = metric(whole, "rollout/old_token_ratio"), age = metric(whole, "rollout/staleness/mean"),
             difference = metric(whole, "training/rollout_probs_diff_max"),
             in = metric(whole, "rollout/num_carried_in"), out = metric(whole, "rollout/num_carried_out");
  ASSERT_EQ(old.size(), 10u);
  EXPECT_EQ(in[0], 0);
  EXPECT_GT(*std::max_element(old.begin(), old.end()), 0.05);
  EXPECT_GT(*std::max_element(difference.begin(), difference.end()), 0);
  for (size_t step = 0; step < 10; ++step) {
    EXPECT_EQ(out[step], 4) << "8 are begun, 4 are done";
    EXPECT_EQ(in[step], step == 0 ? 0 : out[step - 1]);
    EXPECT_EQ(age[step] > 0, old[step] > 0);
    EXPECT_TRUE(old[step] > 0 || difference[step] == 0) << difference[step];
  }
}

TEST_F(LongTail, WhatIsCarriedIsFinishedWhenOverSamplingIsSwitchedOff) {
  const std::string name = "off";
  run(name, everything_ + Arguments{"trainer.total_training_steps=3"});
  run(name, {"trainer.total_training_steps=4"});
  std::set<uint64_t> draws;
  for (int64_t step = 1; step <= 4; ++step) {
    for (const Answer& answer : answers_of(folder(name), step)) draws.insert(answer.draw);
  }
  EXPECT_EQ(draws.size(), 16u);
  EXPECT_EQ(*draws.rbegin(), 15u);
  EXPECT_FALSE(io::exists(last_checkpoint(folder(name)) + "/training_state/unfinished.json"));
}

TEST_F(LongTail, TheSecondEpochIsOrderedByTheLengthsOfTheFirst) {
  const Arguments more{kSampler,
                       "data.sampler.order_in_bucket=length",
                       "data.sampler.shuffle_batch_blocks=false",
                       "data.sampler.ema_decay=0",
                       "data.sampler.default_length=5",
                       "trainer.total_training_steps=4"};
  const std::string ordered = run("ordered", more);
  const auto lengths_of = [&](int64_t step) {
    std::vector<std::pair<std::string, double>> lengths;
    const auto answers = answers_of(ordered, step);
    for (size_t first = 0; first < answers.size(); first += 3) {
      lengths.emplace_back(answers[first].input, 0);
      for (size_t k = first; k < first + 3; ++k) lengths.back().second += static_cast<double>(answers[k].num_ids) / 3;
    }
    return lengths;
  };
  std::map<std::string, double> first;
  for (const int64_t step : {1, 2}) {
    for (const auto& [input, length] : lengths_of(step)) first[input] = length;
  }
  ASSERT_EQ(first.size(), 8u);
  double last = 0;
  for (const int64_t step : {3, 4}) {
    for (const auto& [input, length] : lengths_of(step)) {
      const double expected = first.contains(input) ? first[input] : 5.0;
      EXPECT_GE(expected + 1e-9, last) << input;
      last = std::max(last, expected);
    }
  }
  EXPECT_EQ(metric(ordered, "sampler/known_ratio").at(0), 0);
  EXPECT_GT(metric(ordered, "sampler/known_ratio").at(3), 0.4);
  EXPECT_EQ(metric(ordered, "sampler/estimate_error/mean").size(), 2u) << "from the second epoch on";
  // without the sampler the first epoch is the same, and no metric of it is there
  const std::string plain = run("plain", {"trainer.total_training_steps=4"});
  EXPECT_EQ(io::read_file(plain + "/rollouts/2.jsonl"), io::read_file(ordered + "/rollouts/2.jsonl"));
  EXPECT_NE(io::read_file(plain + "/rollouts/3.jsonl"), io::read_file(ordered + "/rollouts/3.jsonl"));
  EXPECT_EQ(metric(plain, "sampler/known_ratio").size(), 0u);
  EXPECT_FALSE(io::exists(last_checkpoint(plain) + "/training_state/answer_lengths.json"));
  // other data at the same place
  write_task(inputs_.path(), make_arithmetic({.digits = 1, .sizes = {11, 4, 10}, .seed = 3}));
  const Arguments go_on = more + Arguments{"trainer.total_training_steps=5"};
  EXPECT_EQ(run_hone(inputs_.path(), command("ordered", go_on)).code, 2);
  const Result asked =
      run_hone(inputs_.path(), command("ordered", go_on + Arguments{"trainer.resume_allow_changes=true"}));
  EXPECT_EQ(asked.code, 0) << asked.err;
  EXPECT_NE(asked.err.find("expected lengths and unfinished answers"), std::string::npos) << asked.err;
}

TEST_F(LongTail, EarlyStopCutsAtAFactorOfTheExpectedLengthAndMarksWhatItCuts) {
  const std::string stopped = run(
      "stopped", {"actor_rollout_ref.rollout.early_stop.enable=true", "actor_rollout_ref.rollout.early_stop.factor=1.7",
                  "actor_rollout_ref.rollout.early_stop.min_tokens=1", "actor_rollout_ref.actor.optim.lr=0",
                  "data.sampler.default_length=3", "trainer.total_training_steps=6"});
  const auto caps = metric(stopped, "rollout/response_max_tokens_cap"),
             expected = metric(stopped, "sampler/expected_length/mean"),
             cut_share = metric(stopped, "rollout/early_stop/answer_ratio"),
             token_share = metric(stopped, "rollout/early_stop/token_ratio");
  ASSERT_EQ(caps.size(), 6u);
  EXPECT_EQ(caps[0], 5) << "1.7 * 3, rounded down";
  int64_t num_cut = 0;
  for (int64_t step = 1; step <= 6; ++step) {
    const auto index = static_cast<size_t>(step - 1);
    EXPECT_EQ(caps[index], std::floor(1.7 * expected[index]));
    double cut = 0, ids = 0, cut_ids = 0;
    for (const Answer& answer : answers_of(stopped, step)) {
      EXPECT_LE(answer.num_ids, caps[index]);
      EXPECT_EQ(answer.capped, answer.finish == "length") << "the cap is below the longest answer";
      EXPECT_TRUE(answer.is_scored) << "as one that reached data.max_response_length";
      cut += answer.capped;
      ids += static_cast<double>(answer.num_ids);
      if (answer.capped) cut_ids += static_cast<double>(answer.num_ids);
    }
    EXPECT_DOUBLE_EQ(cut_share[index], cut / 12);
    EXPECT_DOUBLE_EQ(token_share[index], cut_ids / ids);
    num_cut += static_cast<int64_t>(cut);
  }
  EXPECT_GT(num_cut, 6);
}

TEST_F(LongTail, OptionsThatDoNotFitAreRefused) {
  const auto refused = [&](const Arguments& more, const std::string& says) {
    const Result result = run_hone(inputs_.path(), command("refused", more));
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
  };
  refused({"data.sampler.class_name=Mine"}, "data.sampler.class_name");
  refused({kSampler, "data.sampler.class_path=pkg://mine"}, "data.sampler.class_path = pkg://mine");
  refused({"actor_rollout_ref.rollout.over_sample_rate=-0.1"}, "over_sample_rate");
  refused({"actor_rollout_ref.rollout.over_sample_rate=0.5",
           "actor_rollout_ref.rollout.engine_kwargs.vllm.speculative_config.method=sam"},
          "drafts follow from measured times");
}

}  // namespace
}  // namespace hone::test
