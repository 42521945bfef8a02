#include "config/override.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "io/yaml.h"

namespace hone::config {
namespace {

TEST(Override, ValuesAreReadAsHydraReadsThem) {
  const std::pair<const char*, const char*> cases[] = {
      // argument, value as flow YAML
      {"k=1", "1"},
      {"k=-1", "-1"},
      {"k=1e-6", "1e-06"},
      {"k=0.", "0.0"},
      {"k=1.0", "1.0"},
      {"k=null", "null"},
      {"k=Null", "null"},
      {"k=True", "true"},
      {"k=false", "false"},
      {"k=", "\"\""},
      {"k=''", "\"\""},
      {"k= a b ", "\"a b\""},
      {"+k=1", "1"},
      {"++k=1", "1"},
      {"k=text", "text"},
      {"k=/a/b-c_d.e", "/a/b-c_d.e"},
      {"k=Qwen/Qwen2.5-0.5B", "Qwen/Qwen2.5-0.5B"},
      {"k=a=b", "\"a=b\""},
      {"k=s3://a?b=c&d", "\"s3://a?b=c&d\""},
      {"k='1'", "\"1\""},
      {"k=\"true\"", "\"true\""},
      {"k='a,b'", "\"a,b\""},
      {"k='[a]'", "\"[a]\""},
      {"k='it\\'s'", "\"it's\""},
      {"k=\"say \\\"x\\\"\"", "\"say \\\"x\\\"\""},
      {"k='a\\\\'", "\"a\\\\\""},
      {"k='a\\n'", "\"a\\\\n\""},
      {"k=[]", "[]"},
      {"k=[a]", "[a]"},
      {"k=[a,b]", "[a, b]"},
      {"k=[ a , b ]", "[a, b]"},
      {"k=['a b',\"c,d\"]", "[\"a b\", \"c,d\"]"},
      {"k=[1,2.5,null,True]", "[1, 2.5, null, true]"},
      {"k=[[1,2],[3]]", "[[1, 2], [3]]"},
      {"k=[{a: 1},{a: 2}]", "[{a: 1}, {a: 2}]"},
      {"k={}", "{}"},
      {"k={a: 1}", "{a: 1}"},
      {"k={a:1,b:{c:[x,y]}}", "{a: 1, b: {c: [x, y]}}"},
      {"k={'a b': 'c'}", "{\"a b\": c}"},
      {"k=${a.b}", "\"${a.b}\""},
      {"k=${oc.env:X,[1,2]}", "\"${oc.env:X,[1,2]}\""},
      {"k=[${a},${oc.env:B,c}]", "[\"${a}\", \"${oc.env:B,c}\"]"},
      {"k={a: ${b}}", "{a: \"${b}\"}"},
      {"k=x-${a.${b}}-y", "\"x-${a.${b}}-y\""},
  };
  for (const auto& [argument, value] : cases) {
    const Override o = parse_override(argument);
    EXPECT_EQ(o.key, "k");
    EXPECT_FALSE(o.remove);
    EXPECT_EQ(io::flow_yaml(o.value), value) << argument;
  }
}

TEST(Override, TildeTakesBack) {
  const Override plain = parse_override("~a.b");
  EXPECT_TRUE(plain.remove);
  EXPECT_FALSE(plain.has_value);
  EXPECT_EQ(plain.key, "a.b");
  const Override with_value = parse_override("~a.b=3");
  EXPECT_TRUE(with_value.remove && with_value.has_value);
  EXPECT_EQ(with_value.value, io::Json(3));
}

TEST(Override, FaultsSayWhatAndWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"nonsense", "expected key=value, found nonsense"},
      {"=3", "expected key=value"},
      {"+=3", "expected key=value"},
      {"+++k=3", "expected key=value"},
      {"~", "expected key=value"},
      {"a b=3", "expected key=value"},
      {".a=3", "expected a key such as a.b.c"},
      {"a..b=3", "expected a key such as a.b.c"},
      {"k=a,b", "k: at character 2: a comma outside of [ ]: write [a,b] for a list, 'a,b' in quotes for a text"},
      {"k=[a", "k: at character 3: [ has no closing ]"},
      {"k=[a,", "[ has no closing ]"},
      {"k=[a,,b]", "an empty item of a list"},
      {"k=[a,]", "an empty item of a list"},
      {"k=[a]b", "text after the value: b"},
      {"k='a'b", "text after the value: b"},
      {"k='a", "a quote that is not closed"},
      {"k={a}", "expected : after the key a"},
      {"k={a: 1", "{ has no closing }"},
      {"k={a: 1, a: 2}", "key a comes twice"},
      {"k={: 1}", "expected a key"},
      {"k=\xff", "bytes that are not UTF-8"},
  };
  for (const auto& [argument, fault] : cases) {
    try {
      parse_override(argument);
      ADD_FAILURE() << argument;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(fault), std::string::npos) << argument << "\n" << error.what();
    }
  }
  EXPECT_THROW(parse_override("k=" + std::string(1000, '[')), Error) << "not the stack";
}

}  // namespace
}  // namespace hone::config
