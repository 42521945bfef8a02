#include "io/jsonl.h"

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "io/file.h"

namespace hone::io {

namespace {

// Calls see(number, line) for each line that is not blank.
template <class See>
void each_line(std::string_view text, const See& see) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.substr(0, kMark.size()) == kMark) text.remove_prefix(kMark.size());
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) see(number, line);
  }
}

// The object of a line, or a fault.
std::optional<Json> object_of(std::string_view line, const std::string& name, int64_t number, Faults& faults) {
  try {
    Json value = parse_json(line, name, number);
    if (value.is_object()) return value;
    faults.add(fmt::format("{}:{}: expected an object, found {}", name, number, value.describe()));
  } catch (const Error& error) {
    faults.add(error.what());
  }
  return {};
}

}  // namespace

void parse_jsonl(std::string_view text, const std::string& name, Faults& faults, const TakeRow& take) {
  int64_t num_lines = 0;
  each_line(text, [&](int64_t number, std::string_view line) {
    ++num_lines;
    if (std::optional<Json> value = object_of(line, name, number, faults)) take({number, std::move(*value)});
  });
  if (num_lines == 0) faults.add(fmt::format("{}: expected at least one row, found none", name));
}

void read_jsonl(const std::string& path, Faults& faults, const TakeRow& take) {
  std::string text;
  try {
    text = read_file(path);
  } catch (const Error& error) {  // a fault among the others: the next file is looked at all the same
    faults.add(error);
    return;
  }
  parse_jsonl(text, path, faults, take);
}

std::vector<JsonRow> parse_jsonl(std::string_view text, const std::string& name, Faults& faults) {
  std::vector<JsonRow> rows;
  parse_jsonl(text, name, faults, [&](JsonRow&& row) { rows.push_back(std::move(row)); });
  return rows;
}

std::vector<JsonRow> read_jsonl(const std::string& path, Faults& faults) {
  std::vector<JsonRow> rows;
  read_jsonl(path, faults, [&](JsonRow&& row) { rows.push_back(std::move(row)); });
  return rows;
}

int64_t count_jsonl_rows(const std::string& path) {
  int64_t num_rows = 0;
  each_line(read_file(path), [&](int64_t, std::string_view) { ++num_rows; });
  return num_rows;
}

}  // namespace hone::io
