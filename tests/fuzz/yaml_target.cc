// YAML: what is accepted, written in flow form, is read again to an equal tree; lines lie inside the text.
#include <algorithm>

#include "core/error.h"
#include "fuzz/target.h"
#include "io/yaml.h"

namespace hone::fuzz {
namespace {

void run(std::string_view text) {
  io::Yaml yaml;
  try {
    yaml = io::parse_yaml(text, "x.yaml");
  } catch (const Error& error) {
    behaviour(error.what());
    FUZZ_CHECK(std::string_view(error.what()).starts_with("x.yaml:"), error.what());
    return;
  }
  behaviour(std::string("accepted") + static_cast<char>('a' + static_cast<int>(yaml.tree.kind())));
  FUZZ_CHECK(io::find_broken_utf8(text) == std::string_view::npos, "broken UTF-8 was accepted");
  const auto num_lines = 1 + std::count_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; });
  for (const auto& [path, line] : yaml.lines) FUZZ_CHECK(line >= 1 && line <= num_lines, path);
  const std::string flow = io::flow_yaml(yaml.tree);
  FUZZ_CHECK(flow.find('\n') == std::string::npos, flow);
  FUZZ_CHECK(io::parse_yaml(flow, "flow").tree == yaml.tree, flow);
}

Material material() {
  return {
      {"data:\n  train_files: [a.jsonl, 'b c.jsonl']\n  seed: 1\ntrainer:\n  lr: 1e-4  # comment\n",
       "a: &x {b: 1, c: [true, null, ~]}\nd: *x\n", "text: |\n  two\n  lines\nfolded: >-\n  one\n  line\n",
       "- 010\n- 0x1f\n- .nan\n- 1_000\n- +5\n- -0\n- yes\n- 12:30\n- 1e309\n", "a: \"\\n\\u00e9\\\"\"\nb: 'it''s'\n",
       "? a\n: 1\n", "a: 1\na: 2\n", "--- \na: 1\n...\n", "<<: {a: 1}\n", "!tag x", "%YAML 1.2\n---\na: b\n", "",
       "\xef\xbb\xbf"
       "a: 1\n",
       "a:\n\t- b\n", "{a: {a: {a: [[[]]]}}}", "a: ${b.c}\nb: ${oc.env:HOME,x}\n"},
      {": ", "- ",     "? ",  "\n",  "\n  ", "[",   "]",  "{",        "}",           ",", "&x ",
       "*x", "!!str ", "|",   ">",   "'",    "\"",  "#",  "---\n",    "...\n",       "%", "<<: ",
       "~",  "null",   "\\x", "\\u", "\\U",  "0o7", "\t", "\xc2\x85", "\xe2\x80\xa8"},
      {},
      1024,
      {{"[", "]"}, {"{a: ", "}"}, {"- ", ""}, {"? ", ""}, {"&x [*x, ", "]"}}};
}

}  // namespace

FUZZ_TARGET(run, material)

}  // namespace hone::fuzz
