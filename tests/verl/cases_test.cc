// Recipes with a fault, or at the edge of one, as users type them: cases/*.txt, each line with an exit code and what is
// said. They run as far as `--check` goes, before any model is loaded.
#include <gtest/gtest.h>

#include <sstream>

#include "support/tiny_run.h"

namespace hone::test {
namespace {

struct Case {
  int code;
  Arguments arguments;
  std::string said;
};

std::vector<Case> cases(const std::string& name) {
  std::vector<Case> all;
  std::istringstream text(io::read_file(HONE_TEST_DATA "/cases/" + name));
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("#")) continue;
    const size_t first = line.find(" | "), second = line.find(" | ", first + 3);
    Case one{std::stoi(line), {}, line.substr(second + 3)};
    std::istringstream words(line.substr(first + 3, second - first - 3));
    for (std::string word; words >> word;) one.arguments.push_back(word);
    all.push_back(std::move(one));
  }
  return all;
}

void expect_cases(const std::string& name, size_t at_least, const Arguments& base, const TemporaryFolder& folder) {
  const std::vector<Case> all = cases(name);
  EXPECT_GE(all.size(), at_least);
  for (const Case& one : all) {
    const Result result = run_hone(folder.path(), base + Arguments{"--check"} + one.arguments);
    const std::string said = result.out + result.err;
    EXPECT_EQ(result.code, one.code) << one.said << "\n" << said;
    EXPECT_NE(said.find(one.said), std::string::npos) << one.said << "\n" << said;
    EXPECT_FALSE(io::exists(folder / "run")) << "nothing is written";
  }
}

TEST(Cases, C1RecipesWithAFault) {
  const TemporaryFolder folder("c1");
  write_tiny_inputs(folder.path(), 10);
  expect_cases("c1.txt", 10, tiny_train(folder.path(), folder / "run") + Arguments{"trainer.total_epochs=3"}, folder);
}

TEST(Cases, P2LengthsBeyondTheContext) {
  const TemporaryFolder folder("p2");
  write_tiny_inputs(folder.path(), 10);
  const Arguments wide = {"actor_rollout_ref.actor.ppo_max_token_len_per_gpu=400"};
  expect_cases("p2.txt", 10, tiny_train(folder.path(), folder / "run") + wide, folder);
  expect_cases("p2_sft.txt", 3, tiny_sft(folder.path(), folder / "run") + Arguments{"data.max_token_len_per_gpu=1000"},
               folder);
}

// Of a whole file of faults, all are listed, with their lines.
TEST(Cases, AllFaultsOfARecipeAreListedTogether) {
  const TemporaryFolder folder("faults");
  io::write_file(folder / "recipe.yaml",
                 "data:\n  train_files: a.jsonl\n  train_batch_size: many\ntrainer:\n  nnodes: two\n  save_frq: 3\n"
                 "actor_rollout_ref:\n  model:\n    path: m\n  rollout:\n    n: 1\n");
  const Result result = run_hone(folder.path(), {"train", folder / "recipe.yaml", "algorithm.use_pf_ppo=true"});
  EXPECT_EQ(result.code, 2);
  for (const char* fault :
       {"recipe.yaml:3: data.train_batch_size: expected integer", "recipe.yaml:5: trainer.nnodes: expected integer",
        "recipe.yaml:6: trainer.save_frq: unknown key; the nearest known one is trainer.save_freq",
        "recipe.yaml:11: actor_rollout_ref.rollout.n = 1: expected at least 2",
        "argument 2: algorithm.use_pf_ppo: true is refused", "5 faults"}) {
    EXPECT_NE(result.err.find(fault), std::string::npos) << fault << "\n" << result.err;
  }
}

TEST(Cases, TheProgramTellsItsOptions) {
  const TemporaryFolder folder("help");
  const auto out = [&](const Arguments& arguments) {
    const Result result = run_hone(folder.path(), arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  };
  const std::string all = out({"train", "--help-config"});
  has(all, "data.shuffle (true or false; honoured; default true; changes results)");
  has(all, "trainer.nnodes (integer; accepted; verl's default 1)");
  has(all, "actor_rollout_ref.actor.use_token_level_loss (true or false; refused unless true)");
  has(all, " accepted without a meaning here, ");
  const std::string optim = out({"train", "--help-config", "actor_rollout_ref.actor.optim"});
  has(optim, "actor_rollout_ref.actor.optim.betas");
  EXPECT_EQ(optim.find("data.shuffle"), std::string::npos);
  has(out({"train", "--help-config", "Warm-Up"}), "lr_warmup_steps_ratio");
  has(out({"sft", "--help-config", "data.max_length"}),
      "data.max_length (integer, at least 2; honoured; default 1024;");
  has(out({"explain", "trainer.nnodes"}), "No effect: one process");
  has(out({"explain", "actor_rollout_ref.actor.use_token_level_loss"}), "refused unless true");
  has(out({"explain", "hydra.run.dir"}), "there is no Hydra");
  const std::string list = out({"train", "--list-config"});
  has(list, "honoured data.train_files\n");
  has(list, "accepted trainer.nnodes\n");
  has(list, "refused algorithm.use_pf_ppo\n");
  EXPECT_EQ(run_hone(folder.path(), {"train", "--help-config", "zzzzz"}).code, 2);
}

TEST(Cases, TheEffectiveOptionsArePrintedAndReadBack) {
  const TemporaryFolder folder("print");
  const Arguments base = {"train", "data.train_files=a.jsonl", "actor_rollout_ref.model.path=m",
                          "actor_rollout_ref.rollout.n=4", "trainer.nnodes=2"};
  const Result first = run_hone(folder.path(), base + Arguments{"--print-config"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.out.find("    n: 4\n"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("  apply_chat_template_kwargs: {}\n"), std::string::npos) << "null would differ on resume";
  EXPECT_NE(first.err.find("trainer.nnodes = 2 has no meaning here"), std::string::npos) << first.err;
  io::write_file(folder / "again.yaml", first.out);
  const Result second = run_hone(folder.path(), {"train", folder / "again.yaml", "--cfg", "job"});
  EXPECT_EQ(second.out, first.out) << second.err;
  EXPECT_EQ(run_hone(folder.path(), base + Arguments{"--print-config", "data.sed=1"}).code, 2);
}

}  // namespace
}  // namespace hone::test
