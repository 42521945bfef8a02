#include "bench/tokenize.h"

#include <time.h>

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

// By the clock, and of the processor: on a busy machine the latter is what one core needs.
struct Time {
  double seconds = 0, cpu_seconds = 0;
};

struct Figures {
  size_t text_bytes = 0, ids = 0;
  Time encode, decode, load;
};

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Time measure_time(int repetitions, const std::function<void()>& body) {
  std::vector<double> seconds, cpu_seconds;
  for (int i = 0; i < repetitions; ++i) {
    const double start = thread_seconds();
    seconds.push_back(seconds_of(body));
    cpu_seconds.push_back(thread_seconds() - start);
  }
  return {median(seconds), median(cpu_seconds)};
}

std::string json_of(const Figures& f, const Options& options, size_t texts) {
  io::Json line = io::Json::object({{"name", "tokenize"}, {"threads", 1}});
  line.set("tokenizer", options.tokenizer.empty() ? "made" : options.tokenizer);
  line.set("text", options.text.empty() ? "made" : options.text);
  line.set("texts", static_cast<int64_t>(texts));
  line.set("text_bytes", static_cast<int64_t>(f.text_bytes));
  line.set("ids", static_cast<int64_t>(f.ids));
  line.set("load_seconds", f.load.seconds);
  line.set("load_cpu_seconds", f.load.cpu_seconds);
  const auto set_speed = [&](const std::string& what, const Time& spent) {
    line.set(what + "_seconds", spent.seconds);
    line.set(what + "_cpu_seconds", spent.cpu_seconds);
    line.set(what + "_mb_per_s", static_cast<double>(f.text_bytes) / spent.seconds * 1e-6);
    line.set(what + "_mb_per_cpu_s", static_cast<double>(f.text_bytes) / spent.cpu_seconds * 1e-6);
  };
  set_speed("encode", f.encode);
  set_speed("decode", f.decode);
  return line.dump();
}

std::string text_of(const Figures& f, size_t texts) {
  const auto megabytes = static_cast<double>(f.text_bytes) * 1e-6;
  return fmt::format(
      "tokenize     x1: {} texts, {:.2f} MB, {} ids; encode {:.1f} MB/s ({:.1f} of processor time), decode {:.1f} MB/s "
      "({:.1f}), tokenizer read in {:.0f} ms ({:.0f})",
      texts, megabytes, f.ids, megabytes / f.encode.seconds, megabytes / f.encode.cpu_seconds,
      megabytes / f.decode.seconds, megabytes / f.decode.cpu_seconds, f.load.seconds * 1e3, f.load.cpu_seconds * 1e3);
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
  f.load = measure_time(options.repetitions, load);
  f.encode = measure_time(options.repetitions, [&] {
    for (size_t t = 0; t < texts.size(); ++t) ids[t] = tokenizer.encode(texts[t], false);
  });
  size_t decoded_bytes = 0;
  f.decode = measure_time(options.repetitions, [&] {
    decoded_bytes = 0;
    for (const auto& row : ids) decoded_bytes += tokenizer.decode(row, false).size();
  });
  HONE_CHECK(decoded_bytes > 0, "{} bytes of text", decoded_bytes);
  for (const auto& row : ids) f.ids += row.size();
  options.print(options.json ? json_of(f, options, texts.size()) : text_of(f, texts.size()));
  return 0;
}

}  // namespace hone::bench
