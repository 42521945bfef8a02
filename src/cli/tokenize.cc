// hone tokenize: text to ids and ids to text, as lines to read or as JSONL.
#include <charconv>
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
    std::string line;
    for (const int32_t id : ids) line += fmt::format("{}{}", line.empty() ? "" : " ", id);
    fmt::print("{}\n", line);
  }
}

int32_t check_id(int64_t id, const Tokenizer& tokenizer, const std::string& place) {
  if (id >= 0 && id < tokenizer.vocab_size()) return static_cast<int32_t>(id);
  throw Error(fmt::format("{}: id {} is outside the tokenizer's ids, [0, {})", place, id, tokenizer.vocab_size()));
}

// Numbers between white space or commas.
std::vector<int32_t> parse_ids(std::string_view text, const Tokenizer& tokenizer, const std::string& place) {
  constexpr std::string_view kBetween = " \t\r\n,[]";
  std::vector<int32_t> ids;
  for (size_t begin = 0; (begin = text.find_first_not_of(kBetween, begin)) != std::string_view::npos;) {
    const size_t size = std::min(text.find_first_of(kBetween, begin), text.size()) - begin;
    const std::string_view word = text.substr(begin, size);
    int64_t id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + size, id);
    if (error != std::errc() || end != word.data() + size) {
      throw Error(fmt::format("{}: expected an id, found '{}'", place, word), "ids are numbers between spaces");
    }
    ids.push_back(check_id(id, tokenizer, place));
    begin += size;
  }
  return ids;
}

std::vector<int32_t> read_ids(const io::JsonAt& list, const Tokenizer& tokenizer) {
  std::vector<int32_t> ids;
  for (const io::JsonAt& item : list.items()) ids.push_back(check_id(item.as_int(), tokenizer, item.where()));
  return ids;
}

int run_jsonl(const Tokenizer& tokenizer, const TokenizeArgs& args) {
  std::string line;
  for (int64_t number = 1; std::getline(std::cin, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const io::Json row = io::parse_json(line, "standard input", number);
    const io::JsonAt at(row, fmt::format("standard input:{}", number));
    if (args.decode) {
      const std::string text = tokenizer.decode(read_ids(at["ids"], tokenizer), !args.allow_special);
      fmt::print("{}\n", io::Json::object({{"text", text}}).dump());
    } else {
      print_ids(tokenizer.encode(at["text"].as_string(), args.allow_special), true);
    }
  }
  return 0;
}

}  // namespace

int run_tokenize(const TokenizeArgs& args) {
  const Tokenizer tokenizer = Tokenizer::load(args.tokenizer);
  if (args.jsonl && !args.texts.empty()) {
    throw Error("--jsonl reads lines of standard input, and texts are given too", "leave one of the two out");
  }
  if (args.jsonl) return run_jsonl(tokenizer, args);
  std::vector<std::string> texts = args.texts;
  if (texts.empty()) texts.emplace_back(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  if (!args.decode) {
    for (const std::string& text : texts) print_ids(tokenizer.encode(text, args.allow_special), false);
    return 0;
  }
  std::vector<int32_t> ids;  // of all arguments together, so that no quotes are needed
  for (const std::string& text : texts) {
    const auto more = parse_ids(text, tokenizer, args.texts.empty() ? "standard input" : "argument");
    ids.insert(ids.end(), more.begin(), more.end());
  }
  fmt::print("{}\n", tokenizer.decode(ids, !args.allow_special));
  return 0;
}

}  // namespace hone::cli
