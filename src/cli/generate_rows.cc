#include "cli/generate_rows.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "cli/chat_arguments.h"
#include "cli/sampling_arguments.h"
#include "core/error.h"
#include "io/file.h"
#include "io/jsonl.h"
#include "io/line_file.h"
#include "loop/answer_mark.h"
#include "loop/inference.h"
#include "loop/progress.h"
#include "prompts/data_hash.h"
#include "prompts/row_file.h"
#include "serve/sampling_fields.h"
#include "weights/hf_config.h"

namespace hone::cli {

namespace {

struct Row {
  Prompt prompt;
  serve::SamplingRequest request;
  io::Json id;
  std::string mark;  // of what decides the answers: a resumed run knows its rows by it
};

std::string mark_of(const Row& row, const std::string& model, uint64_t seed) {
  const SamplingParams& s = row.request.sampling;
  DataHash hash;
  hash.add(fmt::format("{} {} {} {} {} {} {}", row.request.n, s.max_new_tokens, s.temperature, s.min_new_tokens,
                       s.ignore_eos, row.request.seed.value_or(seed), s.stops.size()));
  hash.add(mark_of_filter(s.filter));
  hash.add(model);
  for (const std::vector<int32_t>& ids : {row.prompt.ids, s.stop_ids, s.end_ids}) hash.add(ids);
  for (const std::string& stop : s.stops) hash.add(stop);
  return fmt::format("{:016x}", hash.value());
}

void read_row(const io::JsonRow& json, const Tokenizer& tokenizer, const ChatTemplate& chat, const ChatOptions& options,
              Row& row) {
  for (const auto& [name, value] : json.value.as_object()) {
    if (serve::take_sampling_field(name, value, row.request)) continue;
    if (name == "id") {
      row.id = value;
    } else if (name == "prompt" && value.is_string()) {
      row.prompt.ids = tokenizer.encode(value.as_string(), true);
      tokenizer.add_prefix(row.prompt.ids);
    } else if (name == "messages") {
      row.prompt.ids = chat.tokenize(value, options).ids;
    } else {
      throw Error(fmt::format("{}: expected \"prompt\" (a text) or \"messages\", \"id\" and fields of sampling", name));
    }
  }
  if ((json.value.find("prompt") != nullptr) == (json.value.find("messages") != nullptr)) {
    throw Error("expected \"prompt\" or \"messages\"");
  }
  if (row.prompt.ids.empty()) throw Error("the prompt has no tokens");
  serve::check_sampling_fields(row.request, tokenizer.vocab_size());
  if (row.request.sampling.temperature == 0 && row.request.n > 1) {
    throw Error("n: answers at temperature 0 are all the same");
  }
}

std::vector<Row> read_requests(const GenerateArgs& args, const Tokenizer& tokenizer,
                               const std::vector<int32_t>& end_ids) {
  const ChatTemplate chat(args.model, args.chat_template, tokenizer);
  ChatOptions options;
  options.add_generation_prompt = true;
  options.arguments = template_arguments(args.arguments, chat);
  Row base;
  base.request.n = args.n;
  set_sampling(args.sampling, tokenizer, base.request.sampling);
  base.request.sampling.temperature = static_cast<float>(args.temperature);
  base.request.sampling.end_ids = end_ids;
  base.request.sampling.valid_vocab = tokenizer.vocab_size();
  const int64_t context = weights::load_config(args.model).max_position_embeddings;
  const std::string model = mark_of_model(args.model, args.dtype);
  std::vector<Row> rows;
  io::Faults faults;
  read_rows(args.jsonl, faults, [&](io::JsonRow&& json) {
    Row row = base;
    row.prompt.file = args.jsonl;
    row.prompt.line = json.line;
    try {
      read_row(json, tokenizer, chat, options, row);
      const std::optional<int64_t> wanted = row.request.max_tokens ? row.request.max_tokens : args.max_new_tokens;
      row.request.sampling.max_new_tokens = answer_limit(context, wanted, 128, std::ssize(row.prompt.ids));
    } catch (const Error& error) {
      faults.add(fmt::format("{}:{}: {}", args.jsonl, json.line, error.what()));
      return;
    }
    row.mark = mark_of(row, model, args.seed);
    rows.push_back(std::move(row));
  });
  faults.raise_if_any("the rows cannot be used as they are");
  return rows;
}

std::string line_of(size_t index, const Row& row, const Group& group, const Tokenizer& tokenizer) {
  io::Json line = io::Json::object({{"index", static_cast<int64_t>(index)}});
  if (!row.id.is_null()) line.set("id", row.id);
  line.set("request", row.mark);
  io::Json answers = io::Json::array();
  for (const Trajectory& t : group.trajectories) {
    const std::string text =
        text_before_stop(tokenizer, row.request.sampling.stops, row.request.sampling.min_new_tokens, t.response_ids);
    io::Json answer = io::Json::object({{"text", text}, {"finish_reason", name(t.finish)}});
    answer.set("ids", io::Json::Array(t.response_ids.begin(), t.response_ids.end()));
    answer.set("logprobs", io::Json::Array(t.logprobs.begin(), t.logprobs.end()));
    answers.push_back(std::move(answer));
  }
  line.set("answers", std::move(answers));
  return line.dump();
}

// The rows that the output has already; what follows them is cut off. Raises Error when it has others.
size_t num_done(const GenerateArgs& args, const std::vector<Row>& rows) {
  if (!io::exists(args.output)) return 0;
  if (!std::filesystem::is_regular_file(args.output) || std::filesystem::equivalent(args.output, args.jsonl)) {
    throw Error(fmt::format("--output: {} is the input, or no regular file", args.output), "name a new file");
  }
  size_t done = 0;
  io::cut_back_to(args.output, [&](std::string_view line) {
    bool is_other = false;
    try {
      const io::Json row = io::parse_json(line, args.output, static_cast<int64_t>(done) + 1);
      is_other = row.at("index").as_int() != static_cast<int64_t>(done) || done >= rows.size() ||
                 row.at("request").as_string() != rows[done].mark;
    } catch (const Error&) {
      is_other = true;
    }
    if (is_other) {
      throw Error(fmt::format("{}:{}: is no answer to row {} of {} with these options", args.output, done + 1, done,
                              args.jsonl),
                  "name a new file, or the rows and options of then");
    }
    ++done;
    return true;
  });
  return done;
}

}  // namespace

int generate_rows(const GenerateArgs& args) {
  if (args.output.empty()) throw Error("--jsonl needs --output FILE");
  if (args.n < 1 || args.n > serve::kMaxAnswers) throw Error(fmt::format("--n is 1 to {}", serve::kMaxAnswers));
  check_temperature(args.temperature);
  Tokenizer tokenizer = Tokenizer::load(args.model);
  const EndIds end_ids = find_end_ids(args.model, tokenizer);
  std::vector<Row> rows = read_requests(args, tokenizer, end_ids.ids);
  const size_t first = num_done(args, rows);
  if (first > 0) fmt::print(stderr, "{} of {} rows are in {} already\n", first, rows.size(), args.output);
  io::LineFile output(args.output);
  if (first == rows.size()) return 0;
  int64_t longest = 0, most_answers = 1;
  for (const Row& row : rows) {
    longest = std::max(longest, std::ssize(row.prompt.ids) + row.request.sampling.max_new_tokens);
    most_answers = std::max(most_answers, row.request.n);
  }
  const int64_t answers = std::min<int64_t>(64, most_answers * std::ssize(rows));
  Inference inference(args.model, std::move(tokenizer), args.dtype, args.threads, answers, {}, longest,
                      args.speculative_tokens);
  if (!inference.end_note().empty()) fmt::print(stderr, "{}\n", inference.end_note());
  Engine& engine = inference.engine();
  Progress progress("generate", std::ssize(rows));
  std::map<size_t, Group> finished;  // those before which another one is missing
  size_t added = first, written = first;
  while (written < rows.size()) {
    // So many ahead that the engine is full; memory does not grow with the file.
    for (; added < rows.size() && added < written + 4 * static_cast<size_t>(answers) && engine.num_waiting() < answers;
         ++added) {
      Row& row = rows[added];
      SamplingParams sampling = row.request.sampling;
      sampling.tokenizer = &inference.tokenizer();
      sampling.key = {row.request.seed.value_or(args.seed), Stream::validation};
      if (row.request.seed) sampling.key_draw = 0;
      engine.add({&row.prompt, added}, static_cast<int>(row.request.n), sampling);
    }
    engine.step();
    for (Group& group : engine.take_finished()) finished[group.drawn.draw] = std::move(group);
    for (; finished.contains(written); ++written) {
      output.write_line(line_of(written, rows[written], finished[written], inference.tokenizer()));
      finished.erase(written);
    }
    progress.update(static_cast<int64_t>(written));
  }
  return 0;
}

}  // namespace hone::cli
