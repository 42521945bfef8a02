#include "io/faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "io/file.h"

namespace hone::io {
namespace {

TEST(Faults, OfManyInOneFileTheOthersAreStillSeen) {
  Faults faults;
  for (int line = 1; line <= 300; ++line) faults.add(fmt::format("data.jsonl:{}: prompt is missing", line));
  faults.add("config.json: vocab_size: missing");
  faults.add("data.jsonl:301:7: cut in half");
  try {
    faults.raise_if_any("the data");
    FAIL() << "no error";
  } catch (const FaultError& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.faults().size(), 302u);
    EXPECT_TRUE(message.starts_with("the data: 302 faults\n  data.jsonl:1: prompt is missing\n")) << message;
    EXPECT_NE(message.find("\n  data.jsonl: and 251 more"), std::string::npos) << message;
    EXPECT_NE(message.find("\n  config.json: vocab_size: missing"), std::string::npos) << message;
    EXPECT_EQ(message.find("301:7"), std::string::npos) << message;
    const size_t at = message.find("all of them: ");
    ASSERT_NE(at, std::string::npos) << message;
    const std::string path = message.substr(at + 13), all = read_file(path);
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 302);
    EXPECT_NE(all.find("data.jsonl:301:7: cut in half\n"), std::string::npos);
    std::filesystem::remove(path);
  }
}

TEST(Faults, ListsOfChecksBecomeOneAndTextOfTheWorldStaysInItsLine) {
  Faults inner, outer;
  inner.add("a.json: one");
  inner.add("a.json: two\x1b[2J");
  try {
    inner.raise_if_any("inner");
  } catch (const Error& error) {
    outer.add(error);
  }
  outer.add(Error("cannot open b", "fetch it"));
  EXPECT_EQ(outer.list(), (std::vector<std::string>{"a.json: one", "a.json: two\\x1b[2J", "cannot open b (fetch it)"}));
  try {
    outer.raise_if_any("all");
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "all: 3 faults\n  a.json: one\n  a.json: two\\x1b[2J\n  cannot open b (fetch it)");
  }
}

}  // namespace
}  // namespace hone::io
