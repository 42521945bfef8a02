// hone chat: a conversation in the terminal. Lines are what the user says; /clear, /system TEXT and /quit are commands.
// Ctrl-C stops an answer; twice, or where there is none, it leaves. Works without a terminal: lines in, answers out.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <utility>

#include "cli/chat_arguments.h"
#include "cli/commands.h"
#include "cli/sampling_arguments.h"
#include "core/error.h"
#include "loop/inference.h"
#include "loop/interrupt.h"
#include "text/chat_template.h"

namespace hone::cli {

namespace {

io::Json message(const char* role, const std::string& content) {
  return io::Json::object({{"role", role}, {"content", content}});
}

class Chat {
 public:
  explicit Chat(const ChatArgs& args)
      : args_(args),
        inference_(args.model, Tokenizer::load(args.model), args.dtype, args.threads,
                   [&](const ModelConfig& config, DType) {
                     EngineOptions options;
                     context_ = std::min<int64_t>(config.max_position_embeddings, args.max_model_len);
                     options.max_num_seqs = 1;
                     options.num_kv_blocks = context_ / kernels::kKvBlock + 2;
                     options.record_steps = true;
                     return options;
                   }),
        template_(args.model, args.chat_template, inference_.tokenizer()) {
    options_.add_generation_prompt = true;
    options_.arguments = template_arguments(args.arguments, template_);
    set_sampling(args.sampling, inference_.tokenizer(), sampling_);
    sampling_.temperature = static_cast<float>(args.temperature);
    sampling_.end_ids = inference_.end_ids();
    sampling_.key = {args.seed, Stream::validation};
    sampling_.valid_vocab = inference_.tokenizer().vocab_size();
    if (!inference_.end_note().empty()) fmt::print(stderr, "{}\n", inference_.end_note());
    clear(args.system);
  }

  void clear(const std::string& system) {
    system_ = system;
    messages_ = io::Json::array();
    if (!system.empty()) messages_.push_back(message("system", system));
  }
  void clear() { clear(std::string(system_)); }

  // Prints the answer to what the user says as it comes. What does not fit takes nothing: the conversation stays.
  void say(const std::string& text) {
    io::Json conversation = messages_;
    conversation.push_back(message("user", text));
    Prompt prompt;
    prompt.file = "conversation";
    prompt.ids = template_.tokenize(conversation, options_).ids;
    const int64_t left = context_ - std::ssize(prompt.ids);
    if (left < 1) {
      throw Error(fmt::format("the conversation has {} tokens, the context is {}", prompt.ids.size(), context_),
                  "/clear begins a new one; --max-model-len makes the context longer");
    }
    sampling_.max_new_tokens = std::min(left, args_.max_new_tokens.value_or(left));
    const std::string answer = draw(prompt);
    conversation.push_back(message("assistant", answer));
    messages_ = std::move(conversation);
  }

 private:
  std::string draw(const Prompt& prompt) {
    Engine& engine = inference_.engine();
    const Interrupt interrupt("");
    StopText search(inference_.tokenizer(), sampling_.stops, sampling_.min_new_tokens);
    std::string answer;
    const auto show = [&](std::string piece) {
      answer += piece;
      fmt::print("{}", piece);
      std::fflush(stdout);
    };
    engine.add({&prompt, draw_}, 1, sampling_);
    bool found = false;
    while (engine.has_work()) {
      const bool stops = interrupt.requested();
      if (stops) engine.abort(draw_);
      engine.step();
      for (const StepId& step : stops ? std::span<const StepId>() : engine.step_ids()) {
        std::string piece;
        if (step.finish != FinishReason::end) found = search.push(step.id, &piece);
        show(std::move(piece));
      }
    }
    std::string rest;
    if (!found) search.finish(&rest);
    show(rest + "\n");
    answer.pop_back();
    engine.take_finished();
    ++draw_;
    return answer;
  }

  const ChatArgs& args_;
  int64_t context_ = 0;
  Inference inference_;
  ChatTemplate template_;
  ChatOptions options_;
  SamplingParams sampling_;
  std::string system_;
  io::Json messages_;
  uint64_t draw_ = 0;
};

// False: the user leaves.
bool obey(const std::string& line, Chat& chat) {
  if (line == "/quit" || line == "/exit") return false;
  if (line == "/clear") {
    chat.clear();
  } else if (line == "/system" || line.starts_with("/system ")) {
    chat.clear(line.size() > 8 ? line.substr(8) : "");
  } else {
    fmt::print(stderr, "/clear begins a new conversation, /system TEXT one with this system text, /quit leaves\n");
  }
  return true;
}

}  // namespace

int run_chat(const ChatArgs& args) {
  check_temperature(args.temperature);
  if (args.max_new_tokens.value_or(1) < 1) throw Error("--max-new-tokens: expected at least 1");
  if (args.max_model_len < 2) throw Error("--max-model-len: expected at least 2");
  Chat chat(args);
  const bool is_terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  for (std::string line;;) {
    if (is_terminal) fmt::print("> ");
    std::fflush(stdout);
    if (!std::getline(std::cin, line)) break;
    if (line.empty()) continue;
    if (line.front() == '/') {
      if (!obey(line, chat)) break;
      continue;
    }
    try {
      chat.say(line);
    } catch (const Error& error) {
      if (error.exit_code() != 2) throw;
      fmt::print(stderr, "{}\n{}\n", error.what(), error.hint());
    }
  }
  return 0;
}

}  // namespace hone::cli
