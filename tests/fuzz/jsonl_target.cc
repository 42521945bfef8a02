// JSONL: every line that is not blank is a row or a fault, in order; rows written one a line are read again as they
// are.
#include <algorithm>

#include "core/error.h"
#include "fuzz/target.h"
#include "io/jsonl.h"

namespace hone::fuzz {
namespace {

void run(std::string_view text) {
  io::Faults faults;
  const std::vector<io::JsonRow> rows = io::parse_jsonl(text, "x.jsonl", faults);
  const auto num_lines = 1 + std::count(text.begin(), text.end(), '\n');
  FUZZ_CHECK(static_cast<int64_t>(rows.size() + faults.size()) <= num_lines, "more rows and faults than lines");
  FUZZ_CHECK(!rows.empty() || !faults.empty(), "no row is a fault");
  std::string again;
  int64_t last_line = 0;
  for (const io::JsonRow& row : rows) {
    FUZZ_CHECK(row.line > last_line && row.line <= num_lines, std::to_string(row.line));
    last_line = row.line;
    FUZZ_CHECK(row.value.is_object(), row.value.describe());
    again += row.value.dump() + "\n";
  }
  for (const std::string& fault : faults.list()) {
    behaviour(fault);
    FUZZ_CHECK(fault.starts_with("x.jsonl:"), fault);
  }
  behaviour(std::string("rows ") + static_cast<char>('a' + std::min<size_t>(rows.size(), 20)));
  io::Faults none;
  const std::vector<io::JsonRow> same = io::parse_jsonl(again, "again", none);
  FUZZ_CHECK(rows.empty() || none.empty(), again);
  FUZZ_CHECK(same.size() == rows.size(), again);
  for (size_t i = 0; i < rows.size(); ++i) FUZZ_CHECK(same[i].value == rows[i].value, again);
}

Material material() {
  const std::string row = R"({"data_source": "a", "prompt": "1+1=", "reward_model": {"ground_truth": "2"}})";
  return {
      {row + "\n" + row + "\n", "\xef\xbb\xbf" + row + "\r\n\r\n" + row, row + "\n\n" + row.substr(0, 30) + "\n" + row,
       "[1]\n2\n\"x\"\nnull\n{}\n", "", "\n\n\n", "{\"prompt\": \"\xf0\x9f\xa6\x99\"}\n",
       R"({"prompt": [{"role": "user", "content": "hi"}]})"
       "\n"},
      {"\n", "\r\n", "{}", "{\"a\": 1}\n", row, "\xef\xbb\xbf", " \t\r\n", "}{"},
      {},
      384};
}

}  // namespace

FUZZ_TARGET(run, material)

}  // namespace hone::fuzz
