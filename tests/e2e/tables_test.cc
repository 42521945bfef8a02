// Behaviour tables through the binary: rows of data (d1), lengths of prompts (p1), weight files (f1), resuming (s1).
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "io/atomic_file.h"
#include "io/safetensors.h"
#include "io/system_calls.h"
#include "support/case_table.h"
#include "support/tiny_run.h"
#include "text/tokenizer.h"

namespace hone::test {
namespace {

const char* const kGood = R"({"data_source":"hone/arithmetic","prompt":"1+1=","reward_model":{"ground_truth":"02"}})";

std::string row_of(const std::string& prompt) {
  io::Json row = io::Json::object({{"data_source", "hone/arithmetic"}, {"prompt", prompt}});
  row.set("reward_model", io::Json::object({{"ground_truth", "02"}}));
  return row.dump() + "\n";
}

// `text` is the file, with GOOD for a good row, EMOJI for one with emoji, HALF for half a row.
TEST(Tables, D1FaultsOfRowsAreListedBeforeTheModelIsLoaded) {
  const TemporaryFolder folder("d1");
  write_tiny_inputs(folder.path());
  const std::string emoji =
      R"({"data_source":"hone/arithmetic","prompt":"1+1=","extra_info":{"🦙":"👩‍🚀"},"reward_model":{"ground_truth":"02"}})";
  for (const io::Json& row : load_cases("d1_rows")) {
    SCOPED_TRACE(row.at("name").as_string());
    std::string text = replace_all(row.at("text").as_string(), "GOOD", kGood);
    text = replace_all(replace_all(text, "EMOJI", emoji), "HALF", std::string(kGood).substr(0, 40));
    io::write_file(folder / "data.jsonl", text);
    Arguments arguments = tiny_train(folder.path(), folder / "run");
    const Result result =
        run_hone(folder.path(), arguments + Arguments{"--check", "data.train_files=" + (folder / "data.jsonl")});
    expect_result(row, result);
    EXPECT_FALSE(io::exists(folder / "run")) << "a check leaves nothing behind";
  }
}

// `prompts` of one id a character, LONG is ten limits long; `fed` are the prompts as they were sampled from.
TEST(Tables, P1LengthsAreMeasuredOnTheIdsThatAreFed) {
  const TemporaryFolder folder("p1");
  write_tiny_inputs(folder.path());
  for (const io::Json& row : load_cases("p1_lengths")) {
    SCOPED_TRACE(row.at("name").as_string());
    io::remove_tree(folder / "run");
    const int64_t limit = row.at("limit").as_int();
    std::string text;
    for (const std::string& prompt : texts_of(row, "prompts")) {
      text += row_of(prompt == "LONG" ? std::string(static_cast<size_t>(10 * limit) - 1, '1') + "=" : prompt);
    }
    io::write_file(folder / "data.jsonl", text);
    const std::vector<std::string> fed = texts_of(row, "fed");
    Arguments arguments = tiny_train(folder.path(), folder / "run") + texts_of(row, "options");
    std::erase(arguments, "--quiet");
    arguments = arguments + Arguments{"data.train_files=" + (folder / "data.jsonl"),
                                      fmt::format("data.max_prompt_length={}", limit),
                                      fmt::format("data.train_batch_size={}", std::max<size_t>(fed.size(), 1)),
                                      "actor_rollout_ref.actor.ppo_mini_batch_size=1",
                                      "data.shuffle=false",
                                      "trainer.total_training_steps=1",
                                      "trainer.save_freq=-1",
                                      "trainer.rollout_data_dir=" + (folder / "run/rollouts")};
    if (fed.empty()) arguments.push_back("--check");
    expect_result(row, run_hone(folder.path(), arguments));
    if (fed.empty()) continue;
    std::istringstream lines(io::read_file(folder / "run/rollouts/1.jsonl"));
    const Tokenizer tokenizer = Tokenizer::load(folder / "model");
    size_t number = 0;
    for (std::string line; std::getline(lines, line); ++number) {
      const io::Json sample = io::parse_json(line, "1.jsonl");
      std::vector<int32_t> ids;
      for (const io::Json& id : sample.at("prompt_ids").as_array()) ids.push_back(static_cast<int32_t>(id.as_int()));
      ASSERT_LT(number / 3, fed.size());
      EXPECT_EQ(tokenizer.decode(ids, false), fed[number / 3]) << "three answers a prompt";
    }
    EXPECT_EQ(number, 3 * fed.size());
  }
}

// One change of the weight file: `resize` (a share, a size, or bytes more or less), `length` announced for the header,
// `replace` in the header, `index` (a weight map; all tensors are in the named file when its one name is empty),
// `config` keys, `make` something else under the file's name.
void damage(const std::string& model, const io::Json& row) {
  const std::string path = model + "/model.safetensors";
  std::string bytes = io::read_file(path);
  if (const io::Json* resize = row.find("resize")) {
    const double value = resize->as_double();
    const auto size = static_cast<double>(bytes.size());
    bytes.resize(static_cast<size_t>(value < 0 || value == 1  ? size + value
                                     : value < 1 && value > 0 ? size * value
                                                              : value));
    io::write_file(path, bytes);
  }
  if (const io::Json* length = row.find("length")) {
    const int64_t value = length->as_int();
    std::memcpy(bytes.data(), &value, 8);
    io::write_file(path, bytes);
  }
  if (row.find("replace") != nullptr) {
    const std::vector<std::string> pair = texts_of(row, "replace");
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    std::string header = bytes.substr(8, length);
    const size_t at = header.find(pair[0]);
    ASSERT_NE(at, std::string::npos) << header;
    header.replace(at, pair[0].size(), pair[1]);
    const uint64_t changed = header.size();
    std::string front(8, '\0');
    std::memcpy(front.data(), &changed, 8);
    io::write_file(path, front + header + bytes.substr(8 + length));
  }
  if (const io::Json* index = row.find("index")) {
    io::Json map = *index;
    const io::Json* whole = index->find("");
    std::string shard = whole == nullptr ? "part.safetensors" : whole->as_string();
    if (whole != nullptr) {
      map = io::Json::object();
      const io::SafetensorsReader reader(path);
      for (const io::StoredTensor& tensor : reader.tensors()) map.set(tensor.name, shard);
    } else if (index->as_object().empty()) {
      map.set("model.norm.weight", shard);
    }
    io::write_json(path + ".index.json", io::Json::object({{"weight_map", map}}));
    std::filesystem::rename(path, model + "/" + shard);
  }
  if (const io::Json* config = row.find("config")) {
    io::Json all = io::read_json(model + "/config.json");
    for (const io::Json::Member& member : config->as_object()) all.set(member.key, member.value);
    io::write_json(model + "/config.json", all);
  }
  if (const io::Json* make = row.find("make")) {
    io::remove_tree(path);
    if (make->as_string() == "folder") io::make_folders(path);
    if (make->as_string() == "pipe") {
      ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    }
    if (make->as_string() == "loop") std::filesystem::create_symlink("model.safetensors", path);
  }
}

TEST(Tables, F1DamagedWeightsEndBeforeAnyCompute) {
  const TemporaryFolder folder("f1");
  write_tiny_inputs(folder.path());
  for (const io::Json& row : load_cases("f1_weights")) {
    SCOPED_TRACE(row.at("name").as_string());
    const std::string model = folder / "damaged";
    io::remove_tree(model);
    std::filesystem::copy(folder / "model", model);
    damage(model, row);
    const Result result =
        run_hone(folder.path(), {"generate", "--model", model, "--max-new-tokens", "2", "--threads", "1", "1+1="});
    expect_result(row, result);
    if (result.code != 0) {
      EXPECT_EQ(result.out, "") << "nothing was computed";
    }
  }
}

// `steps` are commands one after another on one run folder of 10 rows, batch 4, 3 epochs: `options` beside those,
// `kill_after` so many metrics lines, `data` other rows, `kind` another command. At the end all is as undisturbed.
TEST(Tables, S1ARunThatWasDisturbedEndsInTheSameBits) {
  const TemporaryFolder folder("s1");
  write_tiny_inputs(folder.path());
  std::map<std::string, std::map<std::string, std::string>> expected;
  const auto command = [&](const std::string& kind, const std::string& run) {
    Arguments arguments = kind == "train" ? tiny_train(folder.path(), run) : tiny_sft(folder.path(), run);
    if (kind == "sft") arguments = arguments + Arguments{"optim.lr_scheduler=constant", "optim.lr_warmup_steps=0"};
    return arguments + Arguments{"trainer.total_epochs=3", "trainer.save_freq=1"};
  };
  for (const std::string kind : {"train", "sft"}) {
    ASSERT_EQ(run_hone(folder.path(), command(kind, folder / kind)).code, 0);
    expected[kind] = bits_of(folder / kind);
    EXPECT_EQ(list_checkpoints(folder / (kind + "/checkpoints")).size(), 6u) << "two batches of four an epoch";
    // other data: fewer rows, other rows, the same in another order
    const std::string name = kind == "train" ? "/train.jsonl" : "/sft.jsonl",
                      text = io::read_file(folder.path() + name);
    const size_t first = text.find('\n') + 1;
    for (const auto& [other, rows] : std::map<std::string, std::string>{
             {"shorter", text.substr(first)}, {"turned", text.substr(first) + text.substr(0, first)}}) {
      io::make_folders(folder / other);
      io::write_file((folder / other) + name, rows);
    }
  }
  io::make_folders(folder / "other");
  write_task(folder / "other", make_arithmetic({.digits = 1, .sizes = {10, 4, 10}, .seed = 7}));

  for (const io::Json& row : load_cases("s1_resume")) {
    SCOPED_TRACE(row.at("name").as_string());
    const std::string run = folder / "disturbed", kind = row.at("kind").as_string();
    io::remove_tree(run);
    for (const io::Json& step : row.at("steps").as_array()) {
      const io::Json* other_kind = step.find("kind");
      const std::string now = other_kind == nullptr ? kind : other_kind->as_string();
      Arguments arguments = command(now, run) + texts_of(step, "options");
      if (const io::Json* data = step.find("data")) {
        arguments.push_back("data.train_files=" + (folder / data->as_string()) +
                            (now == "train" ? "/train.jsonl" : "/sft.jsonl"));
      }
      if (const io::Json* kill_after = step.find("kill_after")) {
        Command process(folder.path(), arguments);
        process.wait_until([&] {
          if (!io::exists(run + "/metrics.jsonl")) return false;
          const std::string lines = io::read_file(run + "/metrics.jsonl");
          return std::count(lines.begin(), lines.end(), '\n') >= kill_after->as_int();
        });
        process.send(SIGKILL);
        EXPECT_TRUE(process.wait() == 1000 + SIGKILL || process.wait() == 0) << process.err();
      } else {
        expect_result(step, run_hone(folder.path(), arguments));
      }
    }
    EXPECT_EQ(difference(expected[kind], bits_of(run)), "");
  }
}

}  // namespace
}  // namespace hone::test
