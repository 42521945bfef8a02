#include "bench/tokenize.h"

#include "bench/timing.h"
#include "bench/word_problems.h"
#include "core/error.h"
#include "io/file.h"
#include "io/jsonl.h"
#include "text/tokenizer.h"
#include "text/tokenizer_file.h"

namespace hone::bench {

namespace {

constexpr int64_t kMadeTextBytes = 4'000'000;

// Every text of a JSONL file, one for each text field; of another file its lines.
std::vector<std::string> read_texts(const std::string& path) {
  std::vector<std::string> texts;
  if (path.ends_with(".jsonl")) {
    io::Faults faults;
    for (const io::JsonRow& row : io::read_jsonl(path, faults)) {
      for (const auto& [key, value] : row.value.as_object()) {
        if (value.is_string()) texts.push_back(value.as_string());
      }
    }
    faults.raise_if_any("the text cannot be used as it is");
  } else {
    const std::string text = io::read_file(path);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
      texts.push_back(text.substr(begin, end - begin));
      begin = end;
    }
  }
  if (texts.empty()) throw Error(fmt::format("{}: there is no text", path));
  return texts;
}

struct Figures {
  size_t text_bytes = 0, ids = 0;
  double encode_seconds = 0, decode_seconds = 0, load_seconds = 0;
};

std::string json_of(const Figures& f, const Options& options, size_t texts) {
  io::Json line = io::Json::object({{"name", "tokenize"}, {"threads", 1}});
  line.set("tokenizer", options.tokenizer.empty() ? "made" : options.tokenizer);
  line.set("text", options.text.empty() ? "made" : options.text);
  line.set("texts", static_cast<int64_t>(texts));
  line.set("text_bytes", static_cast<int64_t>(f.text_bytes));
  line.set("ids", static_cast<int64_t>(f.ids));
  line.set("load_seconds", f.load_seconds);
  line.set("encode_seconds", f.encode_seconds);
  line.set("decode_seconds", f.decode_seconds);
  line.set("encode_mb_per_s", static_cast<double>(f.text_bytes) / f.encode_seconds * 1e-6);
  line.set("decode_mb_per_s", static_cast<double>(f.text_bytes) / f.decode_seconds * 1e-6);
  return line.dump();
}

std::string text_of(const Figures& f, size_t texts) {
  const auto megabytes = static_cast<double>(f.text_bytes) * 1e-6;
  return fmt::format(
      "tokenize     x1: {} texts, {:.2f} MB, {} ids; encode {:.1f} MB/s, decode {:.1f} MB/s, tokenizer read in {:.0f} "
      "ms",
      texts, megabytes, f.ids, megabytes / f.encode_seconds, megabytes / f.decode_seconds, f.load_seconds * 1e3);
}

}  // namespace

int run_tokenize(const Options& options) {
  const auto texts = options.text.empty() ? make_word_problems(kMadeTextBytes) : read_texts(options.text);
  const io::Json made = options.tokenizer.empty() ? train_word_problem_tokenizer() : io::Json();
  const auto load = [&] {
    return options.tokenizer.empty() ? Tokenizer(text::parse_tokenizer(made, "made"))
                                     : Tokenizer::load(options.tokenizer);
  };
  const Tokenizer tokenizer = load();
  Figures f;
  for (const std::string& text : texts) f.text_bytes += text.size();
  std::vector<std::vector<int32_t>> ids(texts.size());
  const auto time = [&](const std::function<void()>& body) {
    return medians_by_turns(options.repetitions, [] {}, body, {}, {}).ours;
  };
  f.load_seconds = time(load);
  f.encode_seconds = time([&] {
    for (size_t t = 0; t < texts.size(); ++t) ids[t] = tokenizer.encode(texts[t], false);
  });
  size_t decoded_bytes = 0;
  f.decode_seconds = time([&] {
    decoded_bytes = 0;
    for (const auto& row : ids) decoded_bytes += tokenizer.decode(row, false).size();
  });
  HONE_CHECK(decoded_bytes > 0, "{} bytes of text", decoded_bytes);
  for (const auto& row : ids) f.ids += row.size();
  options.print(options.json ? json_of(f, options, texts.size()) : text_of(f, texts.size()));
  return 0;
}

}  // namespace hone::bench
