#include <gtest/gtest.h>
#include <stdlib.h>

#include "config/config_test_cases.h"

namespace hone::config {
namespace {

TEST(References, KeepTheKindOrAreWrittenOut) {
  ::setenv("HONE_TEST_NAME", "7", 1);
  const Outcome o =
      run({"data.batch=${oc.env:HONE_TEST_NAME}", "data.limit=${data.batch}",
           "names.project=p-${data.limit}-${oc.env:HONE_NO_SUCH,none}", "data.files=['${names.project}']"});
  EXPECT_TRUE(o.faults.empty()) << o.faults[0];
  EXPECT_EQ(o.sample.limit, 7);
  EXPECT_EQ(o.sample.files[0], "p-7-none");
  ::setenv("HONE_TEST_KEY", "batch", 1);
  const std::pair<const char*, const char*> cases[] = {
      {"names.project=${HONE_TEST_NAME}", "7"},
      {"names.project=${.folder}x", nullptr},
      {"names.project=a${..data.batch}", "a8"},
      {"names.project=a${data.${HONE_TEST_KEY}}", "a8"},
      {"names.project=${oc.select:data.batch,3}", "8"},
      {"names.project=${oc.select:no.such,x}", "x"},
      {"names.project=a${oc.select:no.such}", "anull"},
      {"names.project=${oc.env:HONE_NO_SUCH,'a,b'}", "a,b"},
      {"names.project=${oc.env:HONE_NO_SUCH,}x", "nullx"},
      {"names.project='\\${data.batch}'", "${data.batch}"},
      {"names.project=${trainer.gpus}", "8"},
  };
  for (const auto& [argument, expected] : cases) {
    const Outcome one = run({argument});
    if (expected == nullptr) {
      EXPECT_FALSE(one.faults.empty()) << argument << ": a circle";
    } else {
      EXPECT_TRUE(one.faults.empty()) << argument << "\n" << one.faults[0];
      EXPECT_EQ(one.sample.project, expected) << argument;
    }
  }
  EXPECT_NE(run({"names.project=${HONE_NO_SUCH}"}).faults[0].find("names no key and no environment variable"),
            std::string::npos);
  EXPECT_NE(run({"names.project=${HONE_NO_SUCH:-x}"}).faults[0].find("here it is ${oc.env:HONE_NO_SUCH,x}"),
            std::string::npos);
  EXPECT_NE(run({"names.project=${....x}"}).faults[0].find("goes up beyond the top"), std::string::npos);
}

// nested(2, "${", "}", "x") is "${${x}}".
std::string nested(size_t levels, const std::string& open, const std::string& close, const std::string& inside = "") {
  std::string text;
  for (size_t i = 0; i < levels; ++i) text += open;
  text += inside;
  for (size_t i = 0; i < levels; ++i) text += close;
  return text;
}

TEST(References, WithinReferencesEnd) {
  EXPECT_EQ(run({"names.project=" + nested(100, "${oc.select:x,", "}", "1")}).sample.project, "1");
  for (const size_t levels : {size_t{101}, size_t{25'000}}) {
    const Outcome o = run({"names.project=" + nested(levels, "${", "}")});
    ASSERT_EQ(o.faults.size(), 2u) << levels << ", and names.folder, which names it";
    EXPECT_EQ(o.faults[0], "argument 2: names.project: values and references nested deeper than 100 levels");
  }
  std::vector<std::string> chain;  // each key names the next one from within a list in a list
  for (int i = 0; i < 40; ++i) chain.push_back(fmt::format("fsdp.k{}=[[${{fsdp.k{}}}]]", i, i + 1));
  chain.push_back("fsdp.k40=1");
  const Outcome o = run(chain);
  ASSERT_FALSE(o.faults.empty());
  EXPECT_EQ(o.faults[0], "argument 2: fsdp.k0: values and references nested deeper than 100 levels");
  EXPECT_EQ(o.faults.size(), 7u) << "from k7 on it is fewer";
}

// Each of twenty keys names the one before it twice: 2^20 look-ups for the last one, were there no bound.
TEST(References, ThatMultiplyEnd) {
  std::vector<std::string> texts = {"fsdp.k0="}, lists = {"fsdp.k0=1"};
  for (int i = 1; i <= 20; ++i) {
    texts.push_back(fmt::format("fsdp.k{0}=${{fsdp.k{1}}}${{fsdp.k{1}}}", i, i - 1));
    lists.push_back(fmt::format("fsdp.k{0}=[${{fsdp.k{1}}},${{fsdp.k{1}}}]", i, i - 1));
  }
  for (const std::vector<std::string>& arguments : {texts, lists}) {
    const Outcome o = run(arguments);
    ASSERT_EQ(o.faults.size(), 8u) << "from k13 on";
    EXPECT_EQ(o.faults[0], "argument 15: fsdp.k13: more than 10000 references");
  }
  std::vector<std::string> large = {"fsdp.k0=" + std::string(500'000, 'x'), "fsdp.k1=["};
  for (int i = 0; i < 200; ++i) large[1] += i == 0 ? "${fsdp.k0}" : ",${fsdp.k0}";
  large[1] += "]";
  EXPECT_EQ(run(large).faults, std::vector<std::string>{"argument 3: fsdp.k1: references to more than 67108864 bytes"});
}

}  // namespace
}  // namespace hone::config
