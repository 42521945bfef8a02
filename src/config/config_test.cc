#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>

#include "config/config_test_cases.h"
#include "core/error.h"
#include "core/random.h"
#include "io/yaml.h"

namespace hone::config {
namespace {

TEST(Config, ArgumentsFindTheirFields) {
  const Outcome o =
      run({"+data.batch=3", "actor.optim.lr=3e-4", "actor.optim.betas=[0.5,0]", "data.files=['a b',c]", "data.limit=7",
           "data.limit=null", "++actor.high=1", "data.shuffle=False", "names.project=12", "data.batch=4"});
  EXPECT_TRUE(o.faults.empty()) << o.faults[0];
  EXPECT_EQ(o.sample.batch, 4);
  EXPECT_EQ(o.sample.lr, 3e-4);
  EXPECT_EQ(o.sample.betas, (std::vector<double>{0.5, 0}));
  EXPECT_EQ(o.sample.files, (std::vector<std::string>{"a b", "c"}));
  EXPECT_FALSE(o.sample.limit.has_value());
  EXPECT_EQ(o.sample.high, 1.0);
  EXPECT_FALSE(o.sample.shuffle);
  EXPECT_EQ(o.sample.folder, "runs/12/x") << "a default with a reference follows what it names";
}

TEST(Config, FaultsNamePlaceKeyExpectedAndFound) {
  struct Case {
    const char* argument;
    const char* fault;
  };
  const std::string zeros(320, '0');
  const std::string huge = "actor.high=1" + zeros, huge_in_list = "actor.optim.betas=[0.5,-1" + zeros + "]",
                    huge_integer = "data.batch=1" + zeros;
  const Case cases[] = {
      {"learnign_rate=3e-4", "unknown key; the nearest known one is actor.optim.lr"},
      {"actor.optim.learning_rat=1", "the nearest known one is actor.optim.lr"},
      {"data.batches=1", "the nearest known one is data.batch"},
      {"data.btach=1", "the nearest known one is data.batch"},
      {"trainer.gpu=1", "the nearest known one is trainer.gpus"},
      {"zzzzqqqq=1", "argument 2: zzzzqqqq: unknown key"},
      {"data=3", "data: expected a group of keys, found number 3"},
      {"data.batch=many", "argument 2: data.batch: expected integer, found text \"many\""},
      {"data.batch=3.0", "expected integer, found number 3.0"},
      {"data.batch=0", "expected at least 1, at most 1024, found number 0"},
      {"data.batch=null", "expected integer, found null"},
      {"data.shuffle=yes", "expected true or false, found text \"yes\""},
      {"actor.optim.lr=fast", "expected number, found text \"fast\""},
      {"actor.optim.lr=1", "expected at least 0, below 1, found number 1"},
      {"actor.optim.lr=.nan", "expected number, found text \".nan\""},
      {"actor.optim.betas=[0.5,x]", "expected list of numbers"},
      {"actor.optim.betas=0.5", "expected list of numbers"},
      {"actor.optim.betas=[0.5,1]", "expected at least 0, below 1, found number 1"},
      {"actor.mode=median", "expected one of mean, sum, found text \"median\": not there yet"},
      {"actor.high=0", "expected above 0, found number 0"},
      {"actor.kl=0.2", "actor.kl: 0.2 is refused: KL is off (neutral: 0.001 or 0)"},
      {"fsdp.offload=true", "is refused: a test of the closer rule"},
      {huge.c_str(), "actor.high: expected a number that a double can hold, found number 1000"},
      {huge_in_list.c_str(), "actor.optim.betas: expected a number that a double can hold, found number -1000"},
      {huge_integer.c_str(), "data.batch: expected an integer of 64 bits, found number 1000"},
      {"nonsense", "expected key=value, found nonsense"},
      {"=3", "expected key=value, found =3"},
      {"~data.batch=3", "~data.batch: expected to take back 3, found 8"},
      {"~data.btach", "argument 2: ~data.btach: unknown key; the nearest known one is data.batch"},
      {"data.files=[a", "argument 2: data.files: at character 3: [ has no closing ]"},
      {"data.files=a,b", "write [a,b] for a list"},
      {"trainer.gpus=all", "argument 2: trainer.gpus: expected integer, found text \"all\""},
      {"actor.kl=off", "actor.kl: expected number, found text \"off\""},
      {"data.batch=???", "a value has to be given"},
      {"names.project=${names.folder}", "leads back to itself"},
      {"names.project=${no.such}", "${no.such} names no key"},
      {"names.project=${oc.env:HONE_NO_SUCH}", "environment variable HONE_NO_SUCH is not set"},
      {"names.project=${now:%Y}", "only oc.env and oc.select are known"},
      {"names.project=${names", "has no closing brace"},
  };
  for (const Case& c : cases) {
    const Outcome o = run({c.argument});
    ASSERT_FALSE(o.faults.empty()) << c.argument;
    EXPECT_NE(o.faults[0].find(c.fault), std::string::npos) << c.argument << "\n" << o.faults[0];
  }
  EXPECT_EQ(run({"data.batch=x", "actor.mode=y", "nope=1"}, false).faults.size(), 4u) << "all at once, with the file";
}

TEST(Config, NeutralValuesAndKeysWithoutMeaningAreFine) {
  const Outcome o = run({"actor.kl=0", "actor.kl=0.0", "actor.kl=null", "actor.kl=0.001", "fsdp.offload=false",
                         "trainer.gpus=8", "fsdp.size=-1", "fsdp._target_=x.y", "data={}"});
  EXPECT_TRUE(o.faults.empty()) << o.faults[0];
  ASSERT_EQ(o.notes.size(), 2u);
  EXPECT_EQ(o.notes[0], "argument 7: trainer.gpus = 8 has no meaning here: one process uses every core");
}

TEST(Config, OldNamesAreTaken) {
  const Outcome o = run({"actor.optim.rate=0.5"});
  EXPECT_EQ(o.sample.lr, 0.5);
  EXPECT_EQ(o.notes, std::vector<std::string>{"argument 2: actor.optim.rate is called actor.optim.lr now"});
  EXPECT_EQ(run({"actor.optim.rate=0.5", "actor.optim.lr=0.25"}).faults.size(), 1u);
  EXPECT_TRUE(run({"actor.optim.rate=0.5", "actor.optim.lr=0.5"}).faults.empty()) << "one value is no contradiction";
  EXPECT_EQ(
      run({"actor.micro=4", "actor.micro_per_gpu=1"}).faults,
      std::vector<std::string>{"argument 2: actor.micro is the old name of actor.micro_per_gpu: set one of them"});
  EXPECT_TRUE(run({"actor.micro=null", "actor.micro_per_gpu=1"}).faults.empty());
}

TEST(Config, TildeTakesBackWhatWasSet) {
  EXPECT_EQ(run({"data.batch=3", "~data.batch"}).sample.batch, 8);
  EXPECT_EQ(run({"data.batch=3", "~data.batch=3", "data.limit=5"}).sample.limit, 5);
  EXPECT_EQ(run({"data.batch=3", "~data.batch", "data.batch=4"}).sample.batch, 4);
  const Outcome group = run({"actor.optim.lr=0.5", "actor.mode=sum", "~actor.optim", "names.project=x"});
  EXPECT_EQ(group.sample.lr, 1e-6);
  EXPECT_EQ(group.sample.mode, "sum");
  EXPECT_TRUE(run({"actor.optim.rate=0.5", "~actor.optim.rate"}).notes.size() == 1);
  EXPECT_EQ(run({"actor.kl=0.2", "~actor.kl"}).faults.size(), 0u) << "refused keys too";
  EXPECT_EQ(run({"~data.files"}).faults,
            std::vector<std::string>{"data.files: expected text or a list of texts, found none"});
}

TEST(Config, ObjectsSetTheKeysOfAGroup) {
  const Outcome o = run({"actor={optim: {lr: 0.5, betas: [0.1, 0.2]}, mode: sum}", "data={}"});
  EXPECT_TRUE(o.faults.empty()) << o.faults[0];
  EXPECT_EQ(o.sample.lr, 0.5);
  EXPECT_EQ(o.sample.mode, "sum");
  EXPECT_EQ(o.sample.betas, (std::vector<double>{0.1, 0.2}));
}

TEST(Config, FaultsOfValidationSayWhereTheValueIsFrom) {
  Sample sample;
  Schema schema = schema_of(sample);
  try {
    load(schema, "", {"data.files=a", "data.batch=7", ""}, [&](io::Faults& faults) {
      faults.add("data.batch = 7: expected an even number");
      faults.add("data.shuffle: not set by anyone");
    });
    FAIL();
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("argument 2: data.batch = 7: expected an even number"), std::string::npos) << what;
    EXPECT_NE(what.find("data.shuffle: not set"), std::string::npos) << what;
  }
}

// The field of a faulty value holds its default, of which there is nothing to say.
TEST(Config, AFaultyValueMakesNoOtherFaults) {
  const auto faults_with = [](const std::string& argument) -> std::vector<std::string> {
    Sample sample;
    Schema schema = schema_of(sample);
    try {
      load(schema, "", {"data.files=a", argument}, [&](io::Faults& faults) {
        faults.add("data.batch = 1: expected an even number");
        faults.add("actor.high: expected none, because data.batch is 1");
        faults.add("actor.mode: expected sum, because data.batch.size and old_data.batch are 1");
      });
    } catch (const io::FaultError& error) {
      return error.faults();
    }
    return {};
  };
  EXPECT_EQ(faults_with("data.batch=1").size(), 3u);
  for (const char* argument :
       {"data.batch=1.5", "data.batch=0", "data.batch=[", "data.batch=${no.such}", "data.bach=4"}) {
    const std::vector<std::string> faults = faults_with(argument);
    ASSERT_EQ(faults.size(), 2u) << argument << ": " << faults.back();
    EXPECT_NE(faults[0].find("argument 2: "), std::string::npos) << faults[0];
    EXPECT_TRUE(faults[1].starts_with("actor.mode: expected sum")) << faults[1];
  }
}

TEST(Config, OpenGroupsTakeAnyKeyThatCanBeReadAgain) {
  io::Json open = io::Json::object();
  Schema schema;
  schema.field("chat.arguments", &open, "Arguments.");
  const auto fault_of = [&](const std::string& argument) -> std::string {
    io::Faults faults;
    apply(schema, settings_of_arguments({argument}, faults), faults);
    return faults.empty() ? "" : faults.list()[0];
  };
  const std::string group = "chat.arguments.", place = "argument 1: " + group;
  EXPECT_EQ(fault_of(group + "a.b=[1]"), "");
  EXPECT_EQ(open.dump(), R"({"a": {"b": [1]}})");
  const auto path = [](size_t parts) {
    std::string text = "k";
    for (size_t i = 1; i < parts; ++i) text += ".k";
    return text;
  };
  const std::string deep = path(97), deeper = path(98), bottomless = path(30'000), longer(1001, 'k');
  EXPECT_EQ(fault_of(group + deep + "=[]"), "");
  EXPECT_EQ(fault_of(group + longer.substr(1) + "=1"), "");
  EXPECT_EQ(io::parse_yaml(effective_yaml(schema), "effective").tree, schema.tree());
  EXPECT_EQ(fault_of(group + deeper + "=[]"), place + deeper + ": expected at most 100 groups and lists in each other");
  EXPECT_EQ(fault_of(group + bottomless + "=1"), place + bottomless + ": expected a key of at most 1000 characters");
  EXPECT_EQ(fault_of(group + longer + "=1"), place + longer + ": expected a key of at most 1000 characters");
}

TEST(Config, PathsBeginInTheHomeFolder) {
  std::vector<std::string> files;
  std::string folder;
  Schema schema;
  schema.field("files", &files, "Files.").path();
  schema.field("folder", &folder, "Folder.").path();
  ::setenv("HOME", "/home/me", 1);
  EXPECT_EQ(schema.find("files")->assign(io::Json::array({"~/a", "b~/c", "~d"})), "");
  EXPECT_EQ(schema.find("folder")->assign("~"), "");
  EXPECT_EQ(files, (std::vector<std::string>{"/home/me/a", "b~/c", "~d"}));
  EXPECT_EQ(folder, "/home/me");
}

TEST(Config, FilesGiveLinesAndEffectiveYamlReadsBack) {
  const std::string path = ::testing::TempDir() + "/hone_config_test.yaml";
  const auto write = [&](const std::string& text) {
    FILE* file = std::fopen(path.c_str(), "wb");
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  };
  write("data:\n  files: [a.jsonl]\n  batch: text\nactor:\n  optim: {lr: 1e-4}\n  mood: sum\n");
  Sample sample;
  Schema schema = schema_of(sample);
  io::Faults faults;
  apply(schema, settings_of_file(path), faults);
  ASSERT_EQ(faults.list().size(), 2u);
  EXPECT_EQ(faults.list()[0], path + ":3: data.batch: expected integer, found text \"text\"");
  EXPECT_EQ(faults.list()[1], path + ":6: actor.mood: unknown key; the nearest known one is actor.mode");
  EXPECT_EQ(sample.lr, 1e-4);

  write("data:\n  batch: 3\ndata.batch: 4\n");
  try {
    settings_of_file(path);
    ADD_FAILURE() << "one key written in two ways is read";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), path + ": data.batch comes twice, once in its group and once with dots");
  }

  const Outcome o = run({"actor.optim.lr=0.1", "actor.high=3", "names.project='a: b'", "data.limit=null"});
  write(o.yaml);
  Sample again;
  Schema second = schema_of(again);
  io::Faults none;
  apply(second, settings_of_file(path), none);
  EXPECT_TRUE(none.empty()) << none.list()[0];
  EXPECT_EQ(effective_yaml(second), o.yaml);
  std::remove(path.c_str());
}

TEST(Config, DifferencesAreThoseThatChangeResults) {
  Sample sample;
  Schema schema = schema_of(sample);
  const io::Json saved = schema.tree();
  io::Faults faults;
  const auto set = [&](const std::vector<std::string>& arguments) {
    apply(schema, settings_of_arguments(arguments, faults), faults);
  };
  set({"names.project=other", "data.files=b.jsonl", "data.limit=3", "trainer.gpus=4"});
  EXPECT_EQ(schema.differences(saved), std::vector<std::string>());
  set({"data.batch=9", "actor.optim.lr=2e-6"});
  EXPECT_TRUE(faults.empty());
  EXPECT_EQ(schema.differences(saved),
            (std::vector<std::string>{"data.batch: saved 8, now 9", "actor.optim.lr: saved 1e-06, now 2e-06"}));
}

TEST(Config, HelpShowsEveryKey) {
  Sample sample;
  const Schema schema = schema_of(sample);
  const std::string markdown = help_markdown(schema);
  for (const Field& field : schema.fields()) EXPECT_NE(markdown.find("`" + field.key() + "`"), std::string::npos);
  EXPECT_NE(markdown.find("At most so many \\| rows."), std::string::npos);
  EXPECT_NE(markdown.find("`fsdp.*`"), std::string::npos);
  EXPECT_EQ(help_text(schema, "actor.high"),
            "actor.high (number or null, above 0; honoured; default null; changes results)\n    High. Has an effect "
            "when mode is mean.\n");
}

TEST(Config, MutatedArgumentsNeverCrash) {
  const RandomKey key{11, Stream::test};
  const std::vector<std::string> seeds = {"data.files=['a',\"b\"]", "actor.optim.lr=${data.batch}",
                                          "+data.limit={a: 1}", "names.project=${oc.env:X,y}"};
  for (uint32_t round = 0; round < 3000; ++round) {
    std::string text = seeds[round % seeds.size()];
    for (uint32_t i = 0; i < 3; ++i) {
      const size_t at = random_below(key, round, 0, i, static_cast<uint32_t>(text.size()));
      if (random_below(key, round, 1, i, 2) == 0) {
        text[at] = "[]{}$:=.'\",~+x"[random_below(key, round, 2, i, 14)];
      } else {
        text.insert(at, 1, static_cast<char>(random_below(key, round, 3, i, 256)));
      }
    }
    run({text});
  }
}

}  // namespace
}  // namespace hone::config
