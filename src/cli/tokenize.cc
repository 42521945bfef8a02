// hone tokenize: text to ids, as lines of numbers or as JSONL.
#include <iostream>
#include <iterator>

#include "cli/commands.h"
#include "core/error.h"
#include "io/json.h"
#include "text/tokenizer.h"

namespace hone::cli {

namespace {

void print_ids(const std::vector<int32_t>& ids, bool jsonl) {
  if (jsonl) {
    io::Json::Array list(ids.begin(), ids.end());
    fmt::print("{}\n", io::Json::object({{"ids", io::Json(std::move(list))}}).dump());
  } else {
    for (size_t i = 0; i < ids.size(); ++i) fmt::print("{}{}", i == 0 ? "" : " ", ids[i]);
    fmt::print("\n");
  }
}

int run_jsonl(const Tokenizer& tokenizer, bool allow_special) {
  std::string line;
  for (int64_t number = 1; std::getline(std::cin, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const io::Json row = io::parse_json(line, "standard input", number);
    print_ids(
        tokenizer.encode(io::JsonAt(row, fmt::format("standard input:{}", number))["text"].as_string(), allow_special),
        true);
  }
  return 0;
}

}  // namespace

int run_tokenize(const TokenizeArgs& args) {
  const Tokenizer tokenizer = Tokenizer::load(args.tokenizer);
  if (args.jsonl) return run_jsonl(tokenizer, args.allow_special);
  if (args.texts.empty()) {
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    print_ids(tokenizer.encode(text, args.allow_special), false);
  }
  for (const std::string& text : args.texts) print_ids(tokenizer.encode(text, args.allow_special), false);
  return 0;
}

}  // namespace hone::cli
