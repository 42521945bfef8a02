// Speculation through the binary: a switch of speed alone, whose decisions go on with a checkpoint.
#include <gtest/gtest.h>

#include "support/tiny_run.h"

namespace hone::test {
namespace {

const std::string kConfig = "actor_rollout_ref.rollout.engine_kwargs.vllm.speculative_config.";

class SpeculationRuns : public ::testing::Test {
 protected:
  SpeculationRuns() { write_tiny_inputs(inputs_.path(), 8); }

  std::string run(const std::string& name, const Arguments& more) {
    const Arguments base{"trainer.total_training_steps=6", "data.max_response_length=24", "trainer.save_freq=1"};
    const Result result = run_hone(inputs_.path(), tiny_train(inputs_.path(), inputs_ / name) + base + more);
    EXPECT_EQ(result.code, 0) << result.err;
    return inputs_ / name;
  }
  // What a run says of its results, without how many steps and drafts they took.
  static std::map<std::string, std::string> results_of(const std::string& run) {
    std::map<std::string, std::string> bits = bits_of(run);
    for (auto& [name, text] : bits) {
      if (!name.starts_with("metrics line")) continue;
      io::Json kept = io::Json::object();
      const io::Json all = io::parse_json(text, name);
      for (const auto& [key, value] : all.as_object()) {
        if (!key.starts_with("rollout/num_") && !key.starts_with("speculative_decoding/")) kept.set(key, value);
      }
      text = kept.dump();
    }
    return bits;
  }
  static double total(const std::string& run, const std::string& name) {
    double sum = 0;
    for (double value : metric(run, "speculative_decoding/" + name)) sum += value;
    return sum;
  }

  TemporaryFolder inputs_{"speculation"};
};

TEST_F(SpeculationRuns, NothingOfTheResultChangesAndDraftsAreCounted) {
  const std::string off = run("off", {});
  EXPECT_EQ(total(off, "predict_times"), 0);
  EXPECT_FALSE(io::exists(last_checkpoint(off) + "/training_state/speculation.json"));
  // at a low temperature the random model repeats itself
  const Arguments cold{"actor_rollout_ref.rollout.temperature=0.01"};
  const std::string plain = run("plain", cold), on = run("on", cold + Arguments{kConfig + "method=sam"});
  EXPECT_EQ(difference(results_of(plain), results_of(on)), "");
  EXPECT_GT(total(on, "predict_times"), 0);
  EXPECT_GT(total(on, "effective_times"), 0);
  EXPECT_GE(total(on, "total_right_length"), total(on, "effective_times"));
  EXPECT_LE(total(on, "effective_times"), total(on, "predict_times"));
}

TEST_F(SpeculationRuns, ARunThatGoesOnDecidesAsTheOneThatWasNotDisturbed) {
  const Arguments sam{kConfig + "method=sam", kConfig + "num_speculative_tokens=5",
                      "actor_rollout_ref.rollout.temperature=0.01"};
  const std::string whole = run("whole", sam);
  const std::string from = whole + "/checkpoints/global_step_3";
  const std::string resumed =
      run("resumed", sam + Arguments{"trainer.resume_mode=resume_path", "trainer.resume_from_path=" + from});
  const std::vector<std::string> all = metrics_of(whole);
  EXPECT_EQ(metrics_of(resumed), (std::vector<std::string>(all.end() - 3, all.end())));
  EXPECT_GT(total(resumed, "total_right_length"), 0);
  EXPECT_EQ(io::read_file(last_checkpoint(whole) + "/training_state/speculation.json"),
            io::read_file(last_checkpoint(resumed) + "/training_state/speculation.json"));

  io::write_file(from + "/training_state/speculation.json", "{\"cost\": []}");
  const Result broken =
      run_hone(inputs_.path(), tiny_train(inputs_.path(), inputs_ / "broken") + sam +
                                   Arguments{"trainer.total_training_steps=6", "data.max_response_length=24",
                                             "trainer.resume_mode=resume_path", "trainer.resume_from_path=" + from});
  EXPECT_EQ(broken.code, 2);
  EXPECT_NE(broken.err.find("training_state/speculation.json"), std::string::npos) << broken.err;
}

TEST_F(SpeculationRuns, GenerateAnswersTheSameWithDraftsAndWithout) {
  const Arguments command{"generate",         "--model", inputs_ / "model", "--n",  "3", "--temperature", "0.3",
                          "--max-new-tokens", "40",      "--json",          "1+2=", "12"};
  const Result without = run_hone(inputs_.path(), command);
  const Result with = run_hone(inputs_.path(), command + Arguments{"--speculative-tokens", "6"});
  ASSERT_EQ(without.code, 0) << without.err;
  EXPECT_EQ(with.out, without.out);
  EXPECT_EQ(run_hone(inputs_.path(), command + Arguments{"--speculative-tokens", "-1"}).code, 2);
}

}  // namespace
}  // namespace hone::test
