// Parquet files as rows: what the Python program makes of them, with a stand-in for pyarrow (always) and with pyarrow
// itself (where it is installed), and case D1 through the binary.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "core/error.h"
#include "prompts/prompt_set.h"
#include "prompts/row_file.h"
#include "support/command.h"
#include "support/fake_pyarrow.h"
#include "support/python.h"
#include "support/tiny_run.h"
#include "workers/worker.h"

namespace hone::test {
namespace {

// An environment variable for the time of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

class Parquet : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_python()) GTEST_SKIP() << kNoPython;
  }
  std::string write(const std::string& name, const std::string& expression) {
    io::write_file(folder_ / name, expression);
    return folder_ / name;
  }
  std::vector<io::JsonRow> read(const std::string& path) {
    std::vector<io::JsonRow> rows;
    faults_ = {};
    read_rows(path, faults_, [&](io::JsonRow&& row) { rows.push_back(std::move(row)); });
    return rows;
  }
  std::string refusal(const std::string& path) {
    try {
      read(path);
    } catch (const workers::WorkerError& error) {
      return std::string(error.what()) + " | " + error.hint();
    }
    return "none";
  }

  TemporaryFolder folder_{"parquet"};
  Variable modules_{"PYTHONPATH", write_fake_pyarrow(folder_.path())};
  io::Faults faults_;
};

TEST_F(Parquet, ValuesBecomeJson) {
  const auto rows = read(write("a.parquet", R"([[{
      "text": "\u00e9 \U0001f999 \"x\"", "none": None, "yes": True, "whole": 9007199254740993, "half": 0.5,
      "nan": float("nan"), "infinite": float("inf"), "struct": {"a": {"b": [1, {"c": None}]}}, "list": [],
      "map": [("k", 1), ("l", 2)], "bytes": b"\x00\xff", "day": datetime.date(2024, 2, 29),
      "money": decimal.Decimal("1.10")}]])"));
  ASSERT_TRUE(faults_.empty()) << faults_.list()[0];
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].line, 1);
  EXPECT_EQ(rows[0].value.dump(),
            "{\"text\": \"\u00e9 \U0001f999 \\\"x\\\"\", \"none\": null, \"yes\": true, \"whole\": 9007199254740993, "
            "\"half\": 0.5, \"nan\": null, \"infinite\": null, \"struct\": {\"a\": {\"b\": [1, {\"c\": null}]}}, "
            "\"list\": [], \"map\": {\"k\": 1, \"l\": 2}, \"bytes\": \"AP8=\", \"day\": \"2024-02-29\", "
            "\"money\": \"1.10\"}");
}

TEST_F(Parquet, RowsComeInOrderThroughAllPiecesAndRowGroups) {
  // 6 MB of JSON: several pieces; a group ends in mid-piece, and one is empty
  const std::string path =
      write("a.parquet", R"([[], [{"n": n, "x": "y" * 6000} for n in range(700)], [{"n": 700 + n} for n in range(300)],
                             [], [{"n": 1000 + n, "x": "y" * 6000} for n in range(300)]])");
  const auto rows = read(path);
  EXPECT_TRUE(faults_.empty());
  ASSERT_EQ(rows.size(), 1300u);
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].value.at("n").as_int(), static_cast<int64_t>(i));
    ASSERT_EQ(rows[i].line, static_cast<int64_t>(i) + 1);
  }
  EXPECT_EQ(count_rows(path), 1300);
}

TEST_F(Parquet, ARowThatCannotBeReadIsAFaultAmongTheOthers) {
  const auto rows = read(write("a.parquet", R"([[{"n": 0}, "no UTF-8", {"n": 2}], [{"n": "\ud800"}, {"n": 4}]])"));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[2].line, 5);
  ASSERT_EQ(faults_.size(), 2u);
  EXPECT_EQ(faults_.list()[0], (folder_ / "a.parquet") + ":2: ValueError: no UTF-8");
  EXPECT_NE(faults_.list()[1].find("a.parquet:4: UnicodeEncodeError"), std::string::npos) << faults_.list()[1];
}

TEST_F(Parquet, FilesThatAreNoneAndEmptyOnesAreFaults) {
  EXPECT_TRUE(read(folder_ / "none.parquet").empty());
  ASSERT_EQ(faults_.size(), 1u);
  EXPECT_NE(faults_.list()[0].find("none.parquet: "), std::string::npos) << faults_.list()[0];
  read(write("text.parquet", "PAR no"));
  EXPECT_EQ(faults_.size(), 1u);
  read(write("empty.parquet", "[[]]"));
  ASSERT_EQ(faults_.size(), 1u);
  EXPECT_NE(faults_.list()[0].find("expected at least one row, found none"), std::string::npos);
}

TEST_F(Parquet, WhatIsMissingIsNamedWithTheCommandThatInstallsIt) {
  const std::string path = write("a.parquet", "[[{}]]");
  io::write_file(folder_ / "modules/pyarrow/__init__.py", "raise ModuleNotFoundError('none', name='pyarrow')\n");
  std::string said = refusal(path);
  for (const char* part :
       {"a.parquet: ", "pyarrow is missing in the Python that runs it", "pip install", "pyarrow", "HONE_PYTHON"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << " in " << said;
  }
  const Variable python("HONE_PYTHON", "/nonexistent/python");
  said = refusal(path);
  EXPECT_NE(said.find("the Python worker for Parquet files"), std::string::npos) << said;
  EXPECT_NE(said.find("install Python 3"), std::string::npos) << said;
}

// Case D1, of rows in a Parquet file: all faults in one go, with file and row, before the model is loaded.
TEST_F(Parquet, D1FaultsOfRowsAreListedAsThoseOfJsonl) {
  write_tiny_inputs(folder_.path());
  const std::string good = R"({"data_source": "hone/arithmetic", "prompt": "1+1=",
                               "reward_model": {"ground_truth": "02"}, "extra_info": {"x": "\U0001f999"}})";
  const auto check = [&](const std::string& rows) {
    const std::string path = write("d1.parquet", "[[" + rows + "]]");
    return run_hone(folder_.path(),
                    tiny_train(folder_.path(), folder_ / "run") + Arguments{"--check", "data.train_files=" + path});
  };
  const Result fine = check(good + "," + good + "," + good + "," + good);
  EXPECT_EQ(fine.code, 0) << fine.err;
  EXPECT_NE(fine.out.find("checked: "), std::string::npos) << fine.out;
  const Result bad = check(good + R"(,
      {"data_source": "hone/arithmetic", "prompt": "1+2=", "reward_model": {}},
      {"data_source": "hone/arithmetic", "prompt": "1+2=", "reward_model": {"ground_truth": None}},
      {"data_source": "hone/arithmetic", "prompt": 5, "reward_model": {"ground_truth": "05"}},
      {"data_source": "no/such", "prompt": "1+4=", "reward_model": {"ground_truth": "05"}},
      "a row of broken bytes",
      {"data_source": None, "prompt": "1+4=", "reward_model": {"ground_truth": "05"}})");
  EXPECT_EQ(bad.code, 2);
  for (const char* part : {"d1.parquet:2: reward_model.ground_truth is missing",
                           "d1.parquet:3: reward_model.ground_truth: expected text or an object, found null",
                           "d1.parquet:4: prompt: expected text, found number 5", "d1.parquet:5: no scorer for data",
                           "d1.parquet:6: ValueError: a row of broken bytes", "d1.parquet:7: data_source: expected"}) {
    EXPECT_NE(bad.err.find(part), std::string::npos) << part << " in\n" << bad.err;
  }
  EXPECT_EQ(bad.err.find("d1.parquet:1:"), std::string::npos);
}

// A file of pyarrow's own, as datasets and pandas write it: nested columns, dictionaries, several row groups.
TEST(RealParquet, RowsAreThoseThatWereWritten) {
  const std::string python = python_with_pyarrow();
  if (python.empty()) {
    GTEST_SKIP() << "pyarrow is optional, from PyPI alone, and not installed: `tools/setup.sh ci` installs it, and "
                    "HONE_NEED_PYTHON=1 makes this a failure";
  }
  const Variable interpreter("HONE_PYTHON", python);
  const TemporaryFolder folder("real_parquet");
  io::write_file(folder / "make.py", R"(
import pyarrow as pa, pyarrow.parquet as pq, sys
rows = [{"data_source": "openai/gsm8k", "prompt": [{"role": "user", "content": "%d \u00e9 \U0001f999" % n}],
         "reward_model": {"style": "rule", "ground_truth": str(n)}, "images": [b"\x00\xff"], "half": n / 2,
         "extra_info": {"index": n, "none": None if n % 2 else "x"}} for n in range(1000)]
table = pa.Table.from_pylist(rows)
table = table.set_column(0, "data_source", table["data_source"].dictionary_encode())
pq.write_table(table, sys.argv[1], row_group_size=300, compression="snappy")
)");
  const std::string path = folder / "a.parquet";
  ASSERT_EQ(std::system((python + " " + (folder / "make.py") + " " + path).c_str()), 0);
  io::Faults faults;
  std::vector<io::Json> rows;
  read_rows(path, faults, [&](io::JsonRow&& row) { rows.push_back(std::move(row.value)); });
  ASSERT_TRUE(faults.empty()) << faults.list()[0];
  ASSERT_EQ(rows.size(), 1000u);
  EXPECT_EQ(count_rows(path), 1000);
  const io::Json& row = rows[701];  // the order of fields in a struct is that of pyarrow's version
  EXPECT_EQ(row.at("data_source").as_string(), "openai/gsm8k");
  EXPECT_EQ(row.at("prompt").as_array().at(0).at("content").as_string(), "701 \u00e9 \U0001f999");
  EXPECT_EQ(row.at("prompt").as_array().at(0).at("role").as_string(), "user");
  EXPECT_EQ(row.at("reward_model").at("ground_truth").as_string(), "701");
  EXPECT_EQ(row.at("images").dump(), "[\"AP8=\"]");
  EXPECT_EQ(row.at("half").as_double(), 350.5);
  EXPECT_EQ(row.at("extra_info").at("index").as_int(), 701);
  EXPECT_TRUE(row.at("extra_info").at("none").is_null());
  io::write_file(folder / "cut.parquet", io::read_file(path).substr(0, 5000));
  read_rows(folder / "cut.parquet", faults, [](io::JsonRow&&) {});
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_NE(faults.list()[0].find("cut.parquet: "), std::string::npos) << faults.list()[0];
}

}  // namespace
}  // namespace hone::test
