// hone generate: answers to prompts, as text or as JSON lines with ids and log-probs.
#include <algorithm>
#include <iostream>
#include <utility>

#include "cli/chat_arguments.h"
#include "cli/commands.h"
#include "cli/generate_rows.h"
#include "cli/sampling_arguments.h"
#include "core/error.h"
#include "io/json.h"
#include "loop/inference.h"

namespace hone::cli {

namespace {

// A conversation: JSON as it is, or what a user says after the system text.
io::Json messages_of(const std::string& text, const std::string& system) {
  const size_t first = text.find_first_not_of(" \t");
  if (first != std::string::npos && (text[first] == '{' || text[first] == '[')) {
    const io::Json given = io::parse_json(text, "prompt");
    if (!given.is_object()) return given;
    const io::Json* messages = given.find("messages");
    return messages != nullptr ? *messages : io::JsonAt(given, "prompt")["prompt"].value();
  }
  io::Json messages = io::Json::array();
  if (!system.empty()) messages.push_back(io::Json::object({{"role", "system"}, {"content", system}}));
  messages.push_back(io::Json::object({{"role", "user"}, {"content", text}}));
  return messages;
}

void fill_prompts(const GenerateArgs& args, const Tokenizer& tokenizer, std::vector<Prompt>& prompts) {
  if (!args.chat) {
    for (Prompt& prompt : prompts) {
      prompt.ids = tokenizer.encode(prompt.text, true);
      tokenizer.add_prefix(prompt.ids);
    }
    return;
  }
  const ChatTemplate chat(args.model, args.chat_template, tokenizer);
  ChatOptions options;
  options.add_generation_prompt = true;
  options.arguments = template_arguments(args.arguments, chat);
  for (Prompt& prompt : prompts) {
    try {
      ChatIds ids = chat.tokenize(messages_of(prompt.text, args.system), options);
      prompt.text = std::move(ids.text);
      prompt.ids = std::move(ids.ids);
    } catch (const Error& error) {
      throw Error(fmt::format("prompt {}: {}", prompt.line, error.what()), error.hint());
    }
  }
}

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
    prompts.push_back(std::move(prompt));
  }
  fill_prompts(args, tokenizer, prompts);
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
  if (!args.jsonl.empty()) return generate_rows(args);
  if (!args.chat && !(args.chat_template.empty() && args.arguments.empty())) {
    throw Error("--chat-template and --arg are for conversations", "add --chat, or take rows by --jsonl");
  }
  if (args.n < 1 || args.n > 1'000'000 || args.max_new_tokens.value_or(0) < 0) {
    throw Error("--n is 1 to 1000000, --max-new-tokens at least 0");
  }
  check_temperature(args.temperature);
  Tokenizer tokenizer = Tokenizer::load(args.model);
  const std::vector<Prompt> prompts = read_prompts(args, tokenizer);
  const int64_t limit = answer_limit(args.model, args.max_new_tokens, 128, prompts);
  Inference inference(args.model, std::move(tokenizer), args.dtype, args.threads,
                      std::clamp<int64_t>(args.n * static_cast<int64_t>(prompts.size()), 1, 64), prompts, limit,
                      args.speculative_tokens);
  if (!inference.end_note().empty()) fmt::print(stderr, "{}\n", inference.end_note());
  SamplingParams sampling;
  set_sampling(args.sampling, inference.tokenizer(), sampling);
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
      print_answer(t, *group.drawn.prompt,
                   text_before_stop(inference.tokenizer(), sampling.stops, sampling.min_new_tokens, t.response_ids),
                   args.json);
    }
  }
  return 0;
}

}  // namespace hone::cli
