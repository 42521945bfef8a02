// hone generate: answers to prompts, as text or as JSON lines with ids and log-probs.
#include <algorithm>
#include <iostream>

#include "cli/commands.h"
#include "core/error.h"
#include "io/json.h"
#include "loop/inference.h"

namespace hone::cli {

namespace {

std::vector<Prompt> read_prompts(const GenerateArgs& args, const Tokenizer& tokenizer) {
  std::vector<std::string> texts = args.prompts;
  if (texts.empty()) {
    for (std::string line; std::getline(std::cin, line);) texts.push_back(line);
  }
  std::vector<Prompt> prompts;
  for (const std::string& text : texts) {
    Prompt prompt;
    prompt.text = text;
    prompt.file = "prompt";
    prompt.line = static_cast<int64_t>(prompts.size()) + 1;
    prompt.ids = tokenizer.encode(text, true);
    tokenizer.add_prefix(prompt.ids);
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

void print_answer(const Trajectory& t, const Prompt& prompt, const std::string& text, bool json) {
  if (!json) {
    fmt::print("{}\n", text);
    return;
  }
  io::Json line = io::Json::object();
  line.set("prompt", prompt.text);
  line.set("text", text);
  line.set("finish_reason", name(t.finish));
  line.set("ids", io::Json::Array(t.response_ids.begin(), t.response_ids.end()));
  line.set("logprobs", io::Json::Array(t.logprobs.begin(), t.logprobs.end()));
  fmt::print("{}\n", line.dump());
}

}  // namespace

int run_generate(const GenerateArgs& args) {
  if (args.n < 1 || args.n > 1'000'000 || args.max_new_tokens.value_or(0) < 0) {
    throw Error("--n is 1 to 1000000, --max-new-tokens at least 0");
  }
  check_temperature(args.temperature);
  const std::vector<Prompt> prompts = read_prompts(args, Tokenizer::load(args.model));
  const int64_t limit = answer_limit(args.model, args.max_new_tokens, 128, prompts);
  Inference inference(args.model, args.dtype, args.threads,
                      std::clamp<int64_t>(args.n * static_cast<int64_t>(prompts.size()), 1, 64), prompts, limit);
  if (!inference.end_note().empty()) fmt::print(stderr, "{}\n", inference.end_note());
  SamplingParams sampling;
  sampling.temperature = static_cast<float>(args.temperature);
  sampling.max_new_tokens = limit;
  sampling.end_ids = inference.end_ids();
  sampling.key = {args.seed, Stream::validation};
  sampling.valid_vocab = inference.tokenizer().vocab_size();
  for (size_t p = 0; p < prompts.size(); ++p) {
    inference.engine().add({&prompts[p], p}, static_cast<int>(args.n), sampling);
  }
  for (const Group& group : inference.engine().run_all()) {
    for (const Trajectory& t : group.trajectories) {
      print_answer(t, *group.drawn.prompt, inference.tokenizer().decode(t.response_ids, true), args.json);
    }
  }
  return 0;
}

}  // namespace hone::cli
