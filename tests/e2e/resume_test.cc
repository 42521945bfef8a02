// Laws 2 and 3 through the binary: one run, whatever its threads and its target, and however often it is killed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/tiny_run.h"

namespace hone::test {
namespace {

using Bits = std::map<std::string, std::string>;

class Resume : public ::testing::Test {
 protected:
  Resume() { write_tiny_inputs(inputs_.path()); }

  std::string run(const std::string& name) const { return inputs_ / name; }
  Result hone(const Arguments& arguments, const Environment& environment = {}) const {
    return run_hone(inputs_.path(), arguments, environment);
  }
  Arguments command(const std::string& kind, const std::string& name, const Arguments& more = {}) const {
    return (kind == "train" ? tiny_train(inputs_.path(), run(name)) : tiny_sft(inputs_.path(), run(name))) + more;
  }
  // The whole run in one go.
  Bits undisturbed(const std::string& kind, const Arguments& more) const {
    const Result result = hone(command(kind, "undisturbed_" + kind, more));
    EXPECT_EQ(result.code, 0) << result.err;
    return bits_of(run("undisturbed_" + kind));
  }
  // A checkpoint is being written in the run.
  bool is_saving(const std::string& name) const {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(run(name) + "/checkpoints", ignored)) {
      if (entry.path().filename().string().starts_with(".hone-tmp-")) return true;
    }
    return false;
  }
  int64_t num_metrics(const std::string& name) const {
    const std::string path = run(name) + "/metrics.jsonl";
    if (!io::exists(path)) return 0;
    const std::string text = io::read_file(path);
    return std::count(text.begin(), text.end(), '\n');
  }

  TemporaryFolder inputs_{"resume"};
};

TEST_F(Resume, RunsOfTwentyStepsAreTheSameForAnyThreadsAndTargets) {
  write_task(inputs_.path(), make_arithmetic({.digits = 1, .sizes = {20, 4, 20}, .seed = 2}));
  const Arguments more{"trainer.total_training_steps=20",
                       "trainer.test_freq=10",
                       "data.val_files=" + inputs_.path() + "/val.jsonl",
                       "trainer.val_before_train=true",
                       "actor_rollout_ref.actor.shuffle=true",
                       "actor_rollout_ref.rollout.max_num_batched_tokens=2048",
                       "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=200"};
  for (const char* dtype : {"float32", "bfloat16"}) {
    Bits first;
    for (const char* target : {"", "scalar"}) {
      for (const char* threads : {"1", "2", "4"}) {
        if (*target != 0 && *threads != '2') continue;
        const std::string name = std::string(dtype) + target + threads;
        SCOPED_TRACE(name);
        Environment environment;
        // in float32 every target computes the same bits; in bfloat16 those without dot products do
        if (*target != 0 && (dtype[0] == 'f' || !kernels::cpu::default_target().has_bf16_dot)) {
          environment.emplace_back("HONE_CPU_TARGET", target);
        }
        const Result result =
            hone(command("train", name, more) +
                     Arguments{std::string("trainer.num_threads=") + threads,
                               std::string("actor_rollout_ref.rollout.task_queue=") + (*threads == '1' ? "0" : "1"),
                               std::string("actor_rollout_ref.rollout.dtype=") + dtype},
                 environment);
        ASSERT_EQ(result.code, 0) << result.err;
        const Bits bits = bits_of(run(name));
        if (first.empty()) first = bits;
        EXPECT_EQ(difference(first, bits), "");
        EXPECT_GT(bits.size(), 40u) << "20 rollouts, 21 metrics lines, 3 files";
      }
    }
    // another seed is another run
    const Result other = hone(command("train", std::string("seed") + dtype, more) +
                              Arguments{"trainer.seed=2", std::string("actor_rollout_ref.rollout.dtype=") + dtype});
    ASSERT_EQ(other.code, 0);
    EXPECT_NE(difference(first, bits_of(run(std::string("seed") + dtype))), "");
  }
}

TEST_F(Resume, KilledAtRandomPointsAlsoWhileSavingARunEndsInTheSameBits) {
  for (const std::string kind : {"train", "sft"}) {
    SCOPED_TRACE(kind);
    // 10 rows, batch 4, 2 batches an epoch: kills fall into many epochs
    Arguments more{"trainer.total_epochs=12", "trainer.save_freq=1", "trainer.test_freq=3"};
    if (kind == "train") {
      more = more + Arguments{"trainer.max_actor_ckpt_to_keep=2", "data.val_files=" + inputs_.path() + "/val.jsonl"};
    } else {
      more = more + Arguments{"trainer.max_ckpt_to_keep=2", "data.val_files=" + inputs_.path() + "/sft.jsonl"};
    }
    const auto start = std::chrono::steady_clock::now();
    const Bits expected = undisturbed(kind, more);
    const double whole = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::string name = "killed_" + kind;
    int kills = 0, while_saving = 0, code = -1;
    double longest = whole / 6;
    for (uint32_t attempt = 0; attempt < 300; ++attempt) {
      // the threads change with every attempt
      Command process(inputs_.path(),
                      command(kind, name, more) + Arguments{fmt::format("trainer.num_threads={}", 1 + attempt % 2)});
      if (attempt % 3 == 2) {
        process.wait_until([&] { return is_saving(name); });
        std::this_thread::sleep_for(std::chrono::microseconds(random_below({1, Stream::test}, attempt, 1, 0, 4000)));
      } else {
        const double share = random_uniform({1, Stream::test}, attempt, 0, 0);
        std::this_thread::sleep_for(std::chrono::duration<double>(share * longest));
        longest *= 1.02;  // so that it ends on any machine
      }
      process.send(SIGKILL);
      code = process.wait();
      while_saving += is_saving(name);
      kills += code == 1000 + SIGKILL;
      if (code != 1000 + SIGKILL) break;
    }
    // 3: killed between the last checkpoint and the end, nothing was left to do
    EXPECT_TRUE(code == 0 || code == 3) << code << io::read_file(inputs_ / "stderr");
    EXPECT_GE(kills, 6);
    EXPECT_GE(while_saving, 1);
    EXPECT_EQ(difference(expected, bits_of(run(name))), "");
    EXPECT_LE(list_checkpoints(run(name) + "/checkpoints").size(), code == 0 ? 2u : 3u) << "old ones are removed";
  }
}

TEST_F(Resume, StoppedAtAnEpochsEndOrInItsMiddleARunGoesOnToTheSameBits) {
  for (const std::string kind : {"train", "sft"}) {
    // the learning rate of a step must not depend on the length of the run
    Arguments more;
    if (kind == "sft") more = {"optim.lr_scheduler=constant", "optim.lr_warmup_steps=0"};
    const Bits expected = undisturbed(kind, more + Arguments{"trainer.total_epochs=3"});
    for (const char* steps : {"1", "2", "3", "4", "5"}) {
      const std::string name = kind + steps;
      SCOPED_TRACE(name);
      Result result = hone(command(kind, name, more + Arguments{std::string("trainer.total_training_steps=") + steps}));
      ASSERT_EQ(result.code, 0) << result.err;
      result = hone(command(kind, name, more + Arguments{"trainer.total_epochs=3", "trainer.num_threads=4"}));
      ASSERT_EQ(result.code, 0) << result.err;
      EXPECT_EQ(difference(expected, bits_of(run(name))), "");
    }
  }
}

TEST_F(Resume, FromAnEarlierCheckpointTheRunIsTheSameAgain) {
  const Arguments more{"trainer.total_training_steps=6", "trainer.save_freq=2"};
  const Bits expected = undisturbed("train", more);
  const std::string from = checkpoint_path(run("undisturbed_train") + "/checkpoints", 2);
  // what a killed writer leaves: half a line, half a file of a process that is gone
  const std::string metrics = run("undisturbed_train") + "/metrics.jsonl";
  io::write_file(metrics, io::read_file(metrics) + "{\"training/glo");
  io::write_file(run("undisturbed_train") + "/rollouts/.hone-tmp-999999999-0-9.jsonl", "{");
  io::write_file(run("undisturbed_train") + "/rollouts/7.jsonl", "of a step that did not happen");
  Arguments again = command("train", "undisturbed_train", more + Arguments{"trainer.resume_mode=resume_path"});
  const Result result = hone(again + Arguments{"trainer.resume_from_path=" + from});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(difference(expected, bits_of(run("undisturbed_train"))), "");
  EXPECT_EQ(hone(again + Arguments{"trainer.resume_from_path=" + from + "x"}).code, 2);
}

TEST_F(Resume, OtherDataAreRefusedUnlessAskedForAndNothingLeftHasItsOwnCode) {
  for (const std::string kind : {"train", "sft"}) {
    SCOPED_TRACE(kind);
    ASSERT_EQ(hone(command(kind, kind, {"trainer.total_training_steps=2"})).code, 0);
    const Bits before = bits_of(run(kind));
    Result result = hone(command(kind, kind, {"trainer.total_training_steps=2"}));
    EXPECT_EQ(result.code, 3) << result.err;
    EXPECT_NE(result.err.find("nothing left to do: step 2 of 2"), std::string::npos) << result.err;
    const std::string other = inputs_ / "other";
    io::make_folders(other);
    write_task(other, make_arithmetic({.digits = 1, .sizes = {10, 4, 10}, .seed = 7}));
    const Arguments more{"trainer.total_training_steps=4",
                         "data.train_files=" + other + (kind == "train" ? "/train.jsonl" : "/sft.jsonl")};
    result = hone(command(kind, kind, more));
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("the data's hash was"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("trainer.resume_allow_changes=true"), std::string::npos) << result.err;
    EXPECT_EQ(difference(before, bits_of(run(kind))), "") << "a refused run touches nothing";
    result = hone(command(kind, kind, more + Arguments{"trainer.resume_allow_changes=true"}));
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(list_checkpoints(run(kind) + "/checkpoints"), (std::vector<int64_t>{2, 4}));
  }
  // the folder of one kind is no start for the other
  EXPECT_EQ(hone(command("sft", "train", {"trainer.total_training_steps=9"})).code, 2);
  // another dtype is another run
  Result result =
      hone(command("train", "train", {"trainer.total_training_steps=9", "actor_rollout_ref.rollout.dtype=bfloat16"}));
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("numeric mode was"), std::string::npos) << result.err;
  result = hone(command("train", "train", {"trainer.total_training_steps=9", "trainer.resume_mode=disable"}));
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("holds checkpoints of an earlier run"), std::string::npos) << result.err;
}

// A start that is killed before it saves leaves its options in the folder, but not in the checkpoint.
TEST_F(Resume, OptionsThatAreNotThoseOfTheCheckpointAreToldOfAtEveryStart) {
  for (const std::string kind : {"train", "sft"}) {
    SCOPED_TRACE(kind);
    const std::string lr = kind == "train" ? "actor_rollout_ref.actor.optim.lr" : "optim.lr";
    const std::string note = "note: " + lr + ": saved 0.01, now 0.02";
    ASSERT_EQ(hone(command(kind, kind, {"trainer.total_training_steps=2"})).code, 0);
    const Arguments more{lr + "=0.02", "trainer.total_training_steps=400"};
    Command killed(inputs_.path(), command(kind, kind, more));
    ASSERT_TRUE(killed.wait_until([&] { return num_metrics(kind) >= 4; }));
    killed.send(SIGKILL);
    killed.wait();
    EXPECT_NE(killed.err().find(note), std::string::npos) << killed.err();
    ASSERT_EQ(list_checkpoints(run(kind) + "/checkpoints"), (std::vector<int64_t>{2}));
    const Result result = hone(command(kind, kind, more + Arguments{"trainer.total_training_steps=3"}));
    EXPECT_EQ(result.code, 0);
    EXPECT_NE(result.err.find(note), std::string::npos) << result.err;
    EXPECT_EQ(hone(command(kind, kind, more + Arguments{"trainer.total_training_steps=4"})).err.find(lr),
              std::string::npos);
  }
}

// What the weights of a checkpoint mean stands in config.json, what its ids mean in tokenizer.json: another one would
// be saved with weights it does not fit.
TEST_F(Resume, AnotherModelAtTheSamePlaceIsRefused) {
  for (const std::string kind : {"train", "sft"}) {
    SCOPED_TRACE(kind);
    ASSERT_EQ(hone(command(kind, kind, {"trainer.total_training_steps=2"})).code, 0);
    const Bits before = bits_of(run(kind));
    const auto refused = [&](const std::string& file, const char* key, const io::Json& value, const Arguments& more,
                             const std::string& says) {
      const std::string path = inputs_ / ("model/" + file);
      const std::string as_it_was = io::read_file(path);
      io::Json changed = io::parse_json(as_it_was, path);
      changed.set(key, value);
      io::write_json(path, changed);
      const Result result = hone(command(kind, kind, Arguments{"trainer.total_training_steps=4"} + more));
      EXPECT_EQ(result.code, 2);
      EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
      EXPECT_EQ(difference(before, bits_of(run(kind))), "") << "a refused run touches nothing";
      io::write_file(path, as_it_was);
    };
    const Arguments ask{"trainer.resume_allow_changes=true"};
    refused("config.json", "rope_theta", 50.0, {}, "config.json: expected the model of ");
    refused("config.json", "rope_theta", 50.0, ask, "config.json: expected the model of ");
    refused("config.json", "rms_norm_eps", 1e-3, ask, "config.json: expected the model of ");
    refused("generation_config.json", "eos_token_id", 3, {}, "the data's hash was");
    // one id more, which no prompt has: the same data, another softmax
    io::Json tokens = io::read_json(inputs_ / "model/tokenizer.json").at("added_tokens");
    io::Json token = tokens.as_array().back();
    token.set("id", test::kTinyValidVocab);
    token.set("content", "<more>");
    tokens.push_back(token);
    refused("tokenizer.json", "added_tokens", tokens, {}, "tokenizer.json: expected the model of ");
    refused("tokenizer.json", "added_tokens", tokens, ask, "tokenizer.json: expected the model of ");
    EXPECT_EQ(hone(command(kind, kind, {"trainer.total_training_steps=4"})).code, 0);
  }
}

TEST_F(Resume, OneInterruptSavesAndLeavesAndTheRunGoesOnToTheSameBits) {
  for (const std::string kind : {"train", "sft"}) {
    SCOPED_TRACE(kind);
    const Arguments more{"trainer.total_training_steps=120"};
    const Bits expected = undisturbed(kind, more);
    const std::string name = "interrupted_" + kind;
    Command process(inputs_.path(), command(kind, name, more));
    ASSERT_TRUE(process.wait_until([&] { return num_metrics(name) >= 3; }));
    process.send(SIGINT);
    ASSERT_EQ(process.wait(), 130) << process.err();
    EXPECT_NE(process.err().find("interrupted: step"), std::string::npos) << process.err();
    const auto saved = list_checkpoints(run(name) + "/checkpoints");
    ASSERT_EQ(saved.size(), 1u);
    EXPECT_EQ(saved[0], num_metrics(name)) << "the step that was on its way is done and saved";
    EXPECT_LT(saved[0], 120);
    ASSERT_EQ(hone(command(kind, name, more)).code, 0);
    EXPECT_EQ(difference(expected, bits_of(run(name))), "");
  }
}

TEST_F(Resume, ASecondInterruptLeavesAtOnceWithALoadableState) {
  // steps of a second and more: 256 answers of 100 ids, trained on in 4 passes
  const Arguments more{"trainer.total_training_steps=4",
                       "trainer.save_freq=1",
                       "data.max_response_length=100",
                       "actor_rollout_ref.rollout.n=64",
                       "actor_rollout_ref.rollout.ignore_eos=true",
                       "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=4000",
                       "actor_rollout_ref.rollout.max_num_batched_tokens=2048",
                       "actor_rollout_ref.actor.ppo_epochs=4"};
  Command process(inputs_.path(), command("train", "twice", more));
  ASSERT_TRUE(process.wait_until([&] { return !list_checkpoints(run("twice") + "/checkpoints").empty(); }));
  process.send(SIGINT);
  ASSERT_TRUE(process.wait_until([&] { return process.err().find("once more leaves at once") != std::string::npos; }));
  const auto start = std::chrono::steady_clock::now();
  process.send(SIGINT);
  EXPECT_EQ(process.wait(), 130);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  ASSERT_EQ(list_checkpoints(run("twice") + "/checkpoints"), (std::vector<int64_t>{1})) << "the step was not finished";
  const std::string checkpoint = last_checkpoint(run("twice"));
  const auto decoder = weights::load_decoder(checkpoint, DType::f32);
  Optimizer optimizer(*decoder, {});
  load_optimizer(checkpoint, *decoder, read_training_state(checkpoint), optimizer);
  EXPECT_EQ(optimizer.num_steps(), 8);
}

}  // namespace
}  // namespace hone::test
