#include "prompts/row_file.h"

#include "core/error.h"
#include "io/file.h"
#include "prompts/parquet_file.h"

namespace hone {

namespace {

// Whether the text of a .json file is one list.
bool is_list(std::string_view text) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '[';
}

void read_list(const std::string& text, const std::string& path, io::Faults& faults, const io::TakeRow& take) {
  io::Json list;
  try {
    list = io::parse_json(text, path);
  } catch (const Error& error) {
    faults.add(error.what());
    return;
  }
  int64_t number = 0;
  for (io::Json& item : list.array_items()) {
    ++number;
    if (item.is_object()) {
      take({number, std::move(item)});
    } else {
      faults.add(fmt::format("{}:{}: expected an object, found {}", path, number, item.describe()));
    }
  }
  if (number == 0) faults.add(fmt::format("{}: expected at least one row, found none", path));
}

}  // namespace

void read_rows(const std::string& path, io::Faults& faults, const io::TakeRow& take) {
  if (path.ends_with(".parquet")) return read_parquet(path, faults, take);
  if (!path.ends_with(".json")) return io::read_jsonl(path, faults, take);
  std::string text;
  try {
    text = io::read_file(path);
  } catch (const Error& error) {
    faults.add(error);
    return;
  }
  is_list(text) ? read_list(text, path, faults, take) : io::parse_jsonl(text, path, faults, take);
}

int64_t count_rows(const std::string& path) {
  if (path.ends_with(".parquet")) return count_parquet_rows(path);
  if (!path.ends_with(".json")) return io::count_jsonl_rows(path);
  const std::string text = io::read_file(path);
  if (!is_list(text)) return io::count_jsonl_rows(path);  // of lines
  return static_cast<int64_t>(io::parse_json(text, path).as_array().size());
}

}  // namespace hone
