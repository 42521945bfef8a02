// Whole runs with the options of algorithms: no second scoring pass is needed, a correction of nothing is nothing, the
// reference is the starting weights, and the shipped recipes run.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/tiny_run.h"

namespace hone::test {
namespace {

const std::string kActorKey = "actor_rollout_ref.actor.", kCorrection = "algorithm.rollout_correction.";

class Algorithms : public ::testing::Test {
 protected:
  Algorithms() { write_tiny_inputs(inputs_.path()); }
  std::string run(const std::string& name, const Arguments& more) {
    const std::string folder = inputs_ / name;
    const Result result = run_hone(
        inputs_.path(), tiny_train(inputs_.path(), folder) + Arguments{"trainer.total_training_steps=3"} + more);
    EXPECT_EQ(result.code, 0) << result.err;
    return folder;
  }
  static std::string weights_of(const std::string& run) {
    return io::read_file(last_checkpoint(run) + "/model.safetensors");
  }

  TemporaryFolder inputs_{"algorithms"};
};

TEST_F(Algorithms, OldLogprobsComputedOnceMoreAreThoseOfSamplingToTheBit) {
  const std::string plain = run("plain", {}), again = run("again", {kActorKey + "recompute_old_log_prob=true"});
  EXPECT_EQ(metric(again, "training/old_log_prob_diff_max"), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(metric(again, "training/num_rescored_answers"), (std::vector<double>{12, 12, 12}));
  EXPECT_EQ(metric(again, "rollout_corr/kl"), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(metric(plain, "training/old_log_prob_diff_max").size(), 0u) << "nothing is computed twice unless asked for";
  EXPECT_TRUE(weights_of(again) == weights_of(plain));
}

TEST_F(Algorithms, ACorrectionIsNothingOnPolicyAndSomethingOffIt) {
  const Arguments correction{kCorrection + "rollout_is=sequence", kCorrection + "rollout_is_batch_normalize=true",
                             kCorrection + "rollout_rs='token_k1,seq_mean_k3'",
                             kCorrection + "rollout_rs_threshold='0.999_1.001,1e-6'"};
  const std::string plain = run("plain", {}), on = run("on", correction);
  EXPECT_TRUE(weights_of(on) == weights_of(plain));
  EXPECT_EQ(metric(on, "training/num_rescored_answers"), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(metric(on, "rollout_corr/rollout_is_min"), (std::vector<double>{1, 1, 1}));
  // answers begun by older weights
  const Arguments stale{"actor_rollout_ref.rollout.over_sample_rate=1", "actor_rollout_ref.rollout.max_num_seqs=4"};
  const std::string off = run("off", stale + Arguments{kCorrection + "rollout_is=token"});
  const std::vector<double> scored = metric(off, "training/num_rescored_answers");
  EXPECT_GT(*std::max_element(scored.begin(), scored.end()), 0);
  EXPECT_EQ(metric(off, "training/old_log_prob_diff_max"), (std::vector<double>{0, 0, 0}))
      << "of ids that are not stale";
  EXPECT_NE(metric(off, "rollout_corr/kl").back(), 0.0);
  EXPECT_NE(metric(off, "rollout_corr/rollout_is_max").back(), 1.0);
  // training against sampling, whatever the loss takes as old: the first stale step is the same in both runs
  const std::string uncorrected = run("uncorrected", stale);
  for (const std::string statistic : {"max", "mean", "std"}) {
    const std::vector<double> with = metric(off, "training/rollout_probs_diff_" + statistic),
                              without = metric(uncorrected, "training/rollout_probs_diff_" + statistic);
    EXPECT_EQ(with.at(0), 0.0);
    EXPECT_GT(with.at(1), 0.0);
    EXPECT_EQ(with.at(1), without.at(1));
  }
}

TEST_F(Algorithms, TheReferenceIsTheStartingWeightsAlsoWhenARunGoesOn) {
  const Arguments kl{kActorKey + "use_kl_loss=true", kActorKey + "kl_loss_coef=0.1",
                     kActorKey + "ppo_mini_batch_size=4"};
  const std::string whole = run("whole", kl);
  const std::vector<double> values = metric(whole, "actor/kl_loss");
  EXPECT_EQ(values.at(0), 0.0) << "one update a step: the first is at the reference";
  EXPECT_GT(values.at(1), 0.0);
  EXPECT_GT(values.at(2), 0.0);
  const std::string parts = run("parts", kl + Arguments{"trainer.total_training_steps=2"});
  run("parts", kl);
  EXPECT_EQ(difference(bits_of(whole), bits_of(parts)), "");
  // no weights to go back to
  std::filesystem::remove(inputs_ / "model/model.safetensors");
  const Result result =
      run_hone(inputs_.path(), tiny_train(inputs_.path(), parts) + kl + Arguments{"trainer.total_training_steps=4"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("model.safetensors"), std::string::npos) << result.err;
  // random ones are a function of the seed
  EXPECT_EQ(metric(run("dummy", kl + Arguments{"actor_rollout_ref.model.load_format=dummy"}), "actor/kl_loss").at(0),
            0.0);
}

TEST_F(Algorithms, ShippedRecipesRun) {
  for (const std::string name : {"grpo", "drgrpo", "gspo", "rloo", "ppo"}) {
    const std::string folder = inputs_ / name;
    const Arguments tiny = tiny_train(inputs_.path(), folder);
    Arguments settings{"train", std::string(HONE_TEST_DATA) + "/../../recipes/quickstart/" + name + ".yaml", "--quiet"};
    for (const std::string& setting : tiny) {  // where things lie and how much of them, not how they are learnt by
      for (const char* key : {"data.", "actor_rollout_ref.model.path", "trainer."}) {
        if (setting.starts_with(key)) settings.push_back(setting);
      }
    }
    const Result result =
        run_hone(inputs_.path(),
                 settings + Arguments{"data.val_files=" + inputs_ / "val.jsonl", kActorKey + "ppo_mini_batch_size=2",
                                      "actor_rollout_ref.rollout.n=4", "trainer.total_training_steps=2",
                                      "trainer.test_freq=2", "trainer.save_freq=-1", "trainer.critic_warmup=0"});
    EXPECT_EQ(result.code, 0) << name << "\n" << result.err;
    EXPECT_EQ(metric(folder, "actor/pg_loss").size(), 2u) << name;
    EXPECT_EQ(metric(folder, "critic/vf_loss").size(), name == "ppo" ? 2u : 0u) << name;
  }
}

}  // namespace
}  // namespace hone::test
