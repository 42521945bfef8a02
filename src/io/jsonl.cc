#include "io/jsonl.h"

#include <algorithm>

#include "core/error.h"
#include "io/file.h"

namespace hone::io {

std::vector<JsonRow> parse_jsonl(std::string_view text, const std::string& name, Faults& faults) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.substr(0, kMark.size()) == kMark) text.remove_prefix(kMark.size());
  std::vector<JsonRow> rows;
  const size_t faults_before = faults.list().size();
  int64_t line_number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line_number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      Json value = parse_json(line, name, line_number);
      if (value.is_object()) {
        rows.push_back({line_number, std::move(value)});
      } else {
        faults.add(fmt::format("{}:{}: expected an object, found {}", name, line_number, value.describe()));
      }
    } catch (const Error& error) {
      faults.add(error.what());
    }
  }
  if (rows.empty() && faults.list().size() == faults_before) {
    faults.add(fmt::format("{}: expected at least one row, found none", name));
  }
  return rows;
}

std::vector<JsonRow> read_jsonl(const std::string& path, Faults& faults) {
  std::string text;
  try {
    text = read_file(path);
  } catch (const Error& error) {  // a fault among the others: the next file is looked at all the same
    faults.add(error);
    return {};
  }
  return parse_jsonl(text, path, faults);
}

}  // namespace hone::io
