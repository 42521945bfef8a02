// Law 3 under failures of every write: each call by which a file, a checkpoint or a whole run changes the disk fails in
// its turn, and what was saved before is whole, what is there is no half, and the work goes on to the same bits.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <functional>

#include "faults/failing_calls.h"
#include "io/atomic_file.h"
#include "io/line_file.h"
#include "loop/grpo.h"
#include "loop/run.h"
#include "loop/sft.h"
#include "support/tiny_run.h"

namespace hone::test {
namespace {

namespace fs = std::filesystem;

using Files = std::map<std::string, std::string>;

// Every file below the folder, without what writers leave behind and a start removes.
Files files_of(const std::string& folder) {
  Files files;
  if (!io::is_folder(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (entry.is_regular_file() && path.find(".hone-tmp-") == std::string::npos) {
      files[path.substr(folder.size())] = io::read_file(path);
    }
  }
  return files;
}

// The message names a file of the folder and the system's reason.
void expect_told(const std::string& message, const std::string& folder) {
  EXPECT_NE(message.find(folder), std::string::npos) << message;
  const bool reason =
      message.find("No space left") != std::string::npos || message.find("Input/output error") != std::string::npos;
  EXPECT_TRUE(reason) << message;
}

// Does `work` with its first, second, ... call failing until none fails; after each, `check` is told whether an Error
// came out of it.
void fail_each_call(const std::string& folder, const std::function<void()>& prepare, const std::function<void()>& work,
                    const std::function<void(bool raised)>& check) {
  for (const Failure failure : {Failure::error, Failure::full, Failure::cut}) {
    int64_t call = 0;
    for (bool reached = true; reached; ++call) {
      SCOPED_TRACE(fmt::format("{} at call {}", name(failure), call));
      ASSERT_LT(call, 2000);
      prepare();
      bool raised = false;
      {
        const FailingCalls failing(failure, call);
        try {
          work();
        } catch (const Error& error) {
          raised = true;
          EXPECT_EQ(error.exit_code(), 2);
          expect_told(error.what(), folder);
        }
        reached = FailingCalls::reached();
      }
      check(raised);
    }
    EXPECT_GE(call, 1);
  }
}

TEST(Writes, AFileIsTheOldOrTheNewOne) {
  const TemporaryFolder folder("writes");
  const std::string path = folder / "file", old_text(5000, 'o'), new_text(7000, 'n');
  fail_each_call(
      folder.path(), [&] { io::write_file(path, old_text); }, [&] { io::write_file(path, new_text); },
      [&](bool raised) {
        const std::string found = io::read_file(path);
        EXPECT_TRUE(found == new_text || (raised && found == old_text));
        io::remove_leftovers(folder.path());
        EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
      });
}

TEST(Writes, AFolderIsTheOldOrTheNewOne) {
  const TemporaryFolder folder("writes");
  const std::string path = folder / "save";
  const auto save = [&](const std::string& text) {
    io::AtomicFolder saved(path);
    io::write_file(saved.path() + "/x", text);
    io::make_folders(saved.path() + "/sub/sub");
    io::write_file(saved.path() + "/sub/sub/" + text, text);
    saved.commit();
  };
  const Files old_files{{"/x", "old"}, {"/sub/sub/old", "old"}}, new_files{{"/x", "new"}, {"/sub/sub/new", "new"}};
  fail_each_call(
      folder.path(), [&] { save("old"); }, [&] { save("new"); },
      [&](bool raised) {
        const Files found = files_of(path);
        EXPECT_TRUE(found == new_files || (raised && found == old_files));
        io::remove_leftovers(folder.path());
        EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
      });
}

TEST(Writes, ARemovedFolderIsThereWholeOrNotAtAll) {
  const TemporaryFolder folder("writes");
  const std::string path = folder / "old";
  fail_each_call(
      folder.path(),
      [&] {
        io::make_folders(path + "/sub");
        io::write_file(path + "/a", "a");
        io::write_file(path + "/sub/b", "b");
      },
      [&] { io::remove_folder(path); },
      [&](bool raised) {
        const Files found = files_of(path);
        EXPECT_TRUE(found.empty() || (raised && found == Files{{"/a", "a"}, {"/sub/b", "b"}}));
        io::remove_leftovers(folder.path());
        EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()),
                  found.empty() ? 0 : 1);
      });
}

TEST(Writes, MetricsAreWholeLinesAlsoWhenTheDiskIsFull) {
  const TemporaryFolder folder("writes");
  const std::string path = folder / "metrics.jsonl", first = R"({"step": 1})", second = R"({"step": 2})";
  fail_each_call(
      folder.path(), [&] { io::write_file(path, first + "\n"); },
      [&] {
        io::LineFile lines(path);
        lines.write_line(second);
        lines.sync();
      },
      [&](bool raised) {
        const std::string found = io::read_file(path);
        EXPECT_TRUE(found == first + "\n" + second + "\n" || (raised && found == first + "\n")) << found;
        io::LineFile lines(path);
        lines.write_line("3");
        EXPECT_EQ(io::read_file(path), found + "3\n");
      });
}

TEST(Writes, ACheckpointThatFailsLeavesTheOlderOneToGoOnFrom) {
  const TemporaryFolder inputs("writes");
  const std::string folder = inputs / "checkpoints";
  Decoder decoder(tiny_config(), DType::f32);
  Optimizer optimizer(decoder, {});
  TrainingState state;
  state.kind = "sft";
  const auto save = [&](int64_t step) {
    decoder.initialize(static_cast<uint64_t>(step));
    state.global_step = step;
    save_checkpoint(folder, state, decoder, optimizer, {});
  };
  save(1);
  const Files first = files_of(checkpoint_path(folder, 1));
  save(2);
  const Files second = files_of(checkpoint_path(folder, 2));
  fail_each_call(
      folder,
      [&] {
        io::remove_tree(folder);
        save(1);
      },
      [&] {
        save(2);
        remove_old_checkpoints(folder, 1);
      },
      [&](bool raised) {
        const std::vector<int64_t> steps = list_checkpoints(folder);
        ASSERT_FALSE(steps.empty());
        EXPECT_TRUE(raised || steps.back() == 2);
        for (const int64_t step : steps) {
          EXPECT_EQ(read_training_state(checkpoint_path(folder, step)).global_step, step);
          EXPECT_TRUE(files_of(checkpoint_path(folder, step)) == (step == 1 ? first : second)) << step;
        }
        io::remove_leftovers(folder);
        for (const auto& entry : fs::directory_iterator(folder)) {
          EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
        }
      });
}

// Runs of a process of their own: the exit code, and what it had to say in FOLDER/said.
class RunsWithFailures : public ::testing::TestWithParam<const char*> {
 protected:
  RunsWithFailures() { write_tiny_inputs(inputs_.path(), 4, 2, 4); }

  Arguments arguments(const std::string& run) const {
    const bool is_train = std::string(GetParam()) == "train";
    Arguments all = is_train ? tiny_train(inputs_.path(), run) : tiny_sft(inputs_.path(), run);
    all.erase(all.begin(), all.begin() + 2);  // the command and --quiet
    const std::string keep = is_train ? "trainer.max_actor_ckpt_to_keep=1" : "trainer.max_ckpt_to_keep=1";
    all = all + Arguments{"trainer.total_training_steps=2", "trainer.save_freq=1", keep};
    if (is_train) {
      all = all + Arguments{"actor_rollout_ref.rollout.n=2", "data.max_response_length=4", "trainer.test_freq=1",
                            "data.val_files=" + inputs_.path() + "/val.jsonl"};
    }
    return all;
  }

  int in_child(const std::string& run, const std::function<void()>& prepare) const {
    const pid_t child = ::fork();
    if (child == 0) {
      int code = 1;
      std::string said;
      try {
        prepare();
        std::vector<std::string> notes;
        const Arguments all = arguments(run);
        code = std::string(GetParam()) == "train" ? train_grpo(load_recipe("", all, notes), {false, true})
                                                  : train_sft(load_sft_recipe("", all, notes), {false, true});
      } catch (const Error& error) {
        code = error.exit_code();
        said = error.what();
      } catch (const std::exception& error) {
        said = error.what();
      }
      io::replace_system_calls(nullptr);
      io::write_file(inputs_ / "said", said);
      ::_exit(FailingCalls::reached() && code == 0 ? kDoneAllTheSame : code);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  static constexpr int kDoneAllTheSame = 100;

  TemporaryFolder inputs_{"failures"};
};

TEST_P(RunsWithFailures, ARunGoesOnFromTheLastGoodCheckpointToTheSameBits) {
  const std::string run = inputs_ / "run";
  ASSERT_EQ(in_child(run, [] {}), 0) << io::read_file(inputs_ / "said");
  const auto expected = bits_of(run);
  // every 89th call by turns of the four kinds; HONE_EVERY_WRITE=1 takes each, which lasts minutes
  const int64_t stride = std::getenv("HONE_EVERY_WRITE") != nullptr ? 1 : 89;
  int64_t call = 0, goes_on = 0;
  constexpr Failure kTurns[] = {Failure::error, Failure::cut, Failure::killed, Failure::full};
  while (true) {
    const Failure failure = kTurns[call % 4];
    SCOPED_TRACE(fmt::format("{} at call {}", name(failure), call));
    ASSERT_LT(call, 3000);
    io::remove_tree(run);
    int code = in_child(run, [&] { static const FailingCalls failing(failure, call); });
    const std::string said = io::read_file(inputs_ / "said");
    if (code == 0 && failure == Failure::error) break;
    if (failure == Failure::killed) {
      if (code == 137) io::write_file(inputs_ / "said", "");
      ASSERT_TRUE(code == 137 || code == 0) << said;
    } else if (code != 0 && code != kDoneAllTheSame) {
      ASSERT_EQ(code, 2) << said;
      expect_told(said, inputs_.path());
    }
    const std::string before = last_checkpoint(run);
    const Files kept = before.empty() ? Files{} : files_of(before);
    if (!before.empty()) {
      EXPECT_EQ(checkpoint_path(run + "/checkpoints", read_training_state(before).global_step), before);
      ++goes_on;
    }
    code = in_child(run, [] {});
    ASSERT_TRUE(code == 0 || code == 3) << code << io::read_file(inputs_ / "said");
    EXPECT_EQ(difference(expected, bits_of(run)), "");
    EXPECT_EQ(io::read_file(run + "/checkpoints/latest_checkpointed_iteration.txt"), "2\n");
    if (code == 3) {
      EXPECT_TRUE(files_of(before) == kept);
    }
    call += stride;
  }
  EXPECT_GT(call, 50);
  EXPECT_GE(goes_on, 1) << "failures after the first checkpoint";
}

INSTANTIATE_TEST_SUITE_P(Commands, RunsWithFailures, ::testing::Values("train", "sft"));

}  // namespace
}  // namespace hone::test
