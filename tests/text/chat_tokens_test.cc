// Case K3 and its relatives: which control ids a rendered conversation holds, for built-in formats and for templates of
// jinja2. Where Python or jinja2 is missing, the latter have to say so.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/jsonl.h"
#include "text/chat_template.h"
#include "workers/python.h"

namespace hone {
namespace {

// A folder with the tokenizer of Qwen3, whose texts may begin with <|endoftext|>.
class ModelFolder {
 public:
  explicit ModelFolder(bool prefix = false, const io::Json& config = io::Json::object()) {
    std::string name = (std::filesystem::temp_directory_path() / "hone_chat_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
    io::Json tokenizer = io::read_json(HONE_TEST_DATA "/qwen3/tokenizer.json");
    if (prefix) {
      tokenizer.set("post_processor", io::parse_json(R"({"type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [],
        "special_tokens": {"<|endoftext|>": {"id": "<|endoftext|>", "ids": [151643], "tokens": ["<|endoftext|>"]}}})",
                                                     "test"));
    }
    io::write_json(path_ + "/tokenizer.json", tokenizer);
    io::Json all = config;
    all.set("bos_token", "<|endoftext|>");
    io::write_json(path_ + "/tokenizer_config.json", all);
  }
  ~ModelFolder() { std::filesystem::remove_all(path_); }
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

bool python_has_jinja() {
  const ModelFolder folder;
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  try {
    ChatTemplate(folder.path(), "{{ 1 }}", tokenizer)
        .tokenize(io::parse_json(R"([{"role": "user", "content": ""}])", "test"), {});
    return true;
  } catch (const Error& error) {
    const std::string said = std::string(error.what()) + error.hint();
    EXPECT_NE(said.find("python3-jinja2"), std::string::npos) << said;
    return false;
  }
}

std::vector<std::string> control_tokens(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::vector<std::string> found;
  for (const int32_t id : ids) {
    if (tokenizer.is_special(id)) found.emplace_back(tokenizer.token_bytes(id));
  }
  return found;
}

std::vector<std::string> texts_of(const io::Json& list) {
  std::vector<std::string> texts;
  for (const io::Json& item : list.as_array()) texts.push_back(item.as_string());
  return texts;
}

TEST(ControlTokens, ComeFromTheTemplateAlone) {
  const bool jinja = python_has_jinja();
  io::Faults faults;
  const auto rows = io::read_jsonl(HONE_TEST_DATA "/chat/control_tokens.jsonl", faults);
  faults.raise_if_any("control_tokens");
  ASSERT_GE(rows.size(), 10u);
  for (const auto& [line, row] : rows) {
    SCOPED_TRACE(row.at("name").as_string());
    const std::string& source = row.at("template").as_string();
    if (!jinja && source.find('{') != std::string::npos) continue;
    const ModelFolder folder(row.find("prefix") != nullptr);
    const Tokenizer tokenizer = Tokenizer::load(folder.path());
    ChatOptions options;
    options.add_generation_prompt = true;
    if (const io::Json* tools = row.find("tools")) options.tools = *tools;
    try {
      const ChatTemplate chat(folder.path(), source, tokenizer);
      const ChatIds ids = chat.tokenize(row.at("messages"), options);
      ASSERT_EQ(row.find("error"), nullptr) << ids.text;
      EXPECT_EQ(control_tokens(tokenizer, ids.ids), texts_of(row.at("control")));
      EXPECT_EQ(tokenizer.decode(ids.ids, false), ids.text) << "nothing is lost";
    } catch (const Error& error) {
      ASSERT_NE(row.find("error"), nullptr) << error.what();
      EXPECT_NE(std::string(error.what()).find(row.at("error").as_string()), std::string::npos) << error.what();
    }
  }
}

TEST(ChatTemplate, HarmlessTextHasTheIdsOfTheWholeText) {
  const ModelFolder folder;
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  io::Faults faults;
  const auto rows = io::read_jsonl(HONE_TEST_DATA "/chat/conversations.jsonl", faults);
  int64_t compared = 0;
  for (const char* format : {"qwen2.5", "qwen3", "smollm2"}) {
    const ChatTemplate chat(folder.path(), format, tokenizer);
    for (const auto& [line, row] : rows) {
      const std::string text = row.dump();
      if (text.find("<|") != std::string::npos || text.find("continue") != std::string::npos) continue;
      ChatOptions options;
      if (const io::Json* tools = row.find("tools")) options.tools = *tools;
      try {
        const ChatIds ids = chat.tokenize(row.at("messages"), options);
        bool apart = false;  // an answer that begins with line ends is encoded apart from the scaffold before it
        for (const io::Json& message : row.at("messages").as_array()) {
          const io::Json* content = message.find("content");
          apart = apart || (content != nullptr && content->is_string() && content->as_string().starts_with("\n"));
        }
        if (apart) continue;
        EXPECT_EQ(ids.ids, tokenizer.encode(ids.text, true)) << ids.text;
        ++compared;
      } catch (const Error&) {
        continue;  // of a conversation that the format cannot say
      }
    }
  }
  EXPECT_GT(compared, 120);
}

// What the ids with loss say, in the order of the conversation.
std::string with_loss(const Tokenizer& tokenizer, const ChatIds& chat) {
  std::string text;
  for (size_t i = 0; i < chat.ids.size(); ++i) {
    if (chat.assistant[i] == 0) continue;
    if (i > 0 && chat.assistant[i - 1] == 0 && !text.empty()) text += " / ";
    text += tokenizer.decode(std::span(chat.ids).subspan(i, 1), false);
  }
  return text;
}

const char* kTwoTurns = R"([{"role": "system", "content": "s"}, {"role": "user", "content": "a"},
  {"role": "assistant", "content": "one"}, {"role": "user", "content": "c"}, {"role": "assistant", "content": "two"}])";

TEST(AssistantMask, CoversTheAnswersAndTheirEnds) {
  const ModelFolder folder;
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  const io::Json messages = io::parse_json(kTwoTurns, "test");
  for (const auto& [format, expected] : std::vector<std::pair<std::string, std::string>>{
           {"smollm2", "one<|im_end|> / two<|im_end|>"},
           {"qwen2.5", "one<|im_end|> / two<|im_end|>"},
           {"qwen3", "one<|im_end|> / <think>\n\n</think>\n\ntwo<|im_end|>"},
           {"qwen3-instruct-2507", "one<|im_end|> / two<|im_end|>"}}) {
    const ChatTemplate chat(folder.path(), format, tokenizer);
    ChatIds ids = chat.tokenize_for_training(messages, {});
    EXPECT_EQ(with_loss(tokenizer, ids), expected) << format;
    keep_last_turn(ids);
    EXPECT_EQ(with_loss(tokenizer, ids), expected.substr(expected.find(" / ") + 3)) << format;
  }
  const ChatTemplate qwen(folder.path(), "qwen2.5", tokenizer);
  const ChatIds call = qwen.tokenize_for_training(
      io::parse_json(R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "",
        "tool_calls": [{"name": "f", "arguments": {}}]}, {"role": "tool", "content": "b"}])",
                     "test"),
      {});
  EXPECT_EQ(with_loss(tokenizer, call), "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call><|im_end|>");
}

TEST(AssistantMask, OfTemplatesOfJinja) {
  if (!python_has_jinja()) return;  // looked at above: the message says what to install
  const ModelFolder folder;
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  const io::Json messages = io::parse_json(kTwoTurns, "test");
  const std::string open = "{% for m in messages %}<|im_start|>{{ m.role }}\n",
                    prompt = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  const auto loss = [&](const std::string& source) {
    return with_loss(tokenizer, ChatTemplate(folder.path(), source, tokenizer).tokenize_for_training(messages, {}));
  };
  EXPECT_EQ(loss(open + "{{ m.content }}<|im_end|>\n{% endfor %}" + prompt), "one<|im_end|> / two<|im_end|>");
  EXPECT_EQ(loss(open +
                 "{% if m.role == 'assistant' %}{%- generation %}{{ m.content }}<|im_end|>{% endgeneration -%}"
                 "{% else %}{{ m.content }}<|im_end|>{% endif %}\n{% endfor %}" +
                 prompt),
            "one<|im_end|> / two<|im_end|>");
  // a template that drops earlier answers
  EXPECT_THROW(loss(open + "{{ m.content if loop.last else '' }}<|im_end|>\n{% endfor %}" + prompt), Error);
  // nothing can be rendered before the first message: where an answer begins that comes first cannot be told
  const auto loss_of = [&](const std::string& source, const char* conversation, bool last_turn_only) -> std::string {
    const ChatTemplate chat(folder.path(), source, tokenizer);
    try {
      return with_loss(tokenizer, chat.tokenize_for_training(io::parse_json(conversation, "test"), {}, last_turn_only));
    } catch (const Error& error) {
      return std::string(error.what()) + "; " + error.hint();
    }
  };
  const char *first = R"([{"role": "assistant", "content": "one"}, {"role": "user", "content": "a"}])",
             *both = R"([{"role": "assistant", "content": "one"}, {"role": "user", "content": "a"},
                         {"role": "assistant", "content": "two"}])";
  const std::string plain = open + "{{ m.content }}<|im_end|>\n{% endfor %}" + prompt,
                    blocks = open + "{% generation %}{{ m.content }}<|im_end|>{% endgeneration %}\n{% endfor %}";
  const std::string refused =
      "messages[0]: an answer that comes first: the chat template does not tell where it begins; use a template with "
      "{% generation %} blocks, or begin with the user";
  for (const bool last_turn_only : {false, true}) EXPECT_EQ(loss_of(plain, first, last_turn_only), refused);
  EXPECT_EQ(loss_of(plain, both, false), refused);
  EXPECT_EQ(loss_of(plain, both, true), "two<|im_end|>") << "the first one carries no loss";
  EXPECT_EQ(loss_of(blocks, first, false), "one<|im_end|> / a<|im_end|>");
  EXPECT_EQ(loss_of("qwen2.5", both, false), "one<|im_end|> / two<|im_end|>") << "a built-in format tells";
  EXPECT_EQ(loss_of("qwen2.5", both, true), "two<|im_end|>");
  // one that prints no opening of a turn
  EXPECT_EQ(loss("{% for m in messages %}{{ m.content }}<|im_end|>{% endfor %}"), "one<|im_end|> / two<|im_end|>");
}

TEST(ChatTemplate, IsFoundInTheFolder) {
  const io::Json list = io::parse_json(R"({"chat_template": [{"name": "default", "template": "a{{ 1 }}"},
    {"name": "tool_use", "template": "b{{ 1 }}"}]})",
                                       "test");
  const ModelFolder folder(false, list);
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  const ChatTemplate named(folder.path(), "", tokenizer);
  EXPECT_TRUE(named.exists());
  EXPECT_EQ(named.describe(), folder.path() + "/tokenizer_config.json, by jinja2");
  if (python_has_jinja()) {
    const io::Json hi = io::parse_json(R"([{"role": "user", "content": ""}])", "test");
    ChatOptions options;
    EXPECT_EQ(named.tokenize(hi, options).text, "a1");
    options.tools = io::Json::array();
    EXPECT_EQ(named.tokenize(hi, options).text, "b1");
  }
  io::write_file(folder.path() + "/chat_template.jinja", "c{{ 1 }}");
  EXPECT_EQ(ChatTemplate(folder.path(), "", tokenizer).describe(), folder.path() + "/chat_template.jinja, by jinja2");
  io::write_file(folder.path() + "/other.txt", "d{{ 1 }}");
  EXPECT_EQ(ChatTemplate(folder.path(), folder.path() + "/other.txt", tokenizer).describe(),
            folder.path() + "/other.txt, by jinja2");
  EXPECT_EQ(ChatTemplate(folder.path(), "qwen3", tokenizer).describe(), "qwen3, built in (the format you named)");
  const ModelFolder base;
  EXPECT_FALSE(ChatTemplate(base.path(), "", tokenizer).exists());
}

TEST(ChatTemplate, ArgumentsThatItDoesNotLookAtAreNamed) {
  const ModelFolder folder;
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  const io::Json given = io::parse_json(R"({"enable_thinking": false, "enable_thinkng": 1})", "test");
  const ChatTemplate qwen(folder.path(), "qwen3", tokenizer);
  EXPECT_EQ(qwen.unused_arguments(given),
            (std::vector<std::string>{
                "enable_thinkng: the chat template does not look at it (it looks at enable_thinking)"}));
  if (!python_has_jinja()) return;
  const ChatTemplate other(folder.path(), "{{ enable_thinking }}", tokenizer);
  EXPECT_EQ(other.unused_arguments(given),
            (std::vector<std::string>{"enable_thinkng: the chat template does not look at it"}));
  const std::string deep = "{{ " + std::string(3000, '(') + "x" + std::string(3000, ')') + " }}";
  for (const auto& [source, expected] : std::vector<std::pair<std::string, std::string>>{
           {"{% if %}", "the chat template is broken at line 1"},
           {"a\n{{ x | nofilter }}", "the chat template is broken at line 2: No filter named 'nofilter'"},
           {"a\n{{ x is notest }}", "the chat template is broken at line 2: No test named 'notest'"},
           {deep, "nested too deeply"}}) {
    try {
      ChatTemplate(folder.path(), source, tokenizer).unused_arguments(given);
      ADD_FAILURE() << source;
    } catch (const workers::WorkerError& error) {
      ADD_FAILURE() << "the process died: " << error.what();
    } catch (const Error& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with(expected)) << error.what();
    }
  }
}

TEST(PythonWorker, TellsWhatGoesWrongAndGoesOn) {
  if (!python_has_jinja()) return;
  workers::Worker worker(workers::python_worker("the worker of the test"));
  const auto error_of = [&](const char* operation, const io::Json& question) -> std::string {
    try {
      workers::ask_python(worker, operation, question, 10);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(error_of("no_such_operation", io::Json::object()),
            "the Python worker fails: KeyError: 'no_such_operation'");
  EXPECT_EQ(error_of("chat_variables", io::Json::object()), "the Python worker fails: KeyError: 'template'");
  // newer Pythons read no integer of more than 4,300 digits
  const io::Json big = io::Json::object({{"template", "a"}, {"n", io::Json::big_integer(std::string(5000, '1'))}});
  EXPECT_EQ(error_of("chat_variables", big).find("ended with"), std::string::npos) << error_of("chat_variables", big);
  EXPECT_EQ(error_of("chat_variables", io::Json::object({{"template", "a"}})), "none");
  EXPECT_EQ(worker.num_starts(), 1);
}

TEST(ChatTemplate, ABadTemplateEndsInAMessage) {
  if (!python_has_jinja()) return;
  const ModelFolder folder;
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  const io::Json hi = io::parse_json(R"([{"role": "user", "content": "a"}])", "test");
  const auto error_of = [&](const std::string& source) -> std::string {
    ChatOptions options;
    options.seconds = 2;
    const ChatTemplate chat(folder.path(), source, tokenizer);
    try {
      return "none: " + chat.tokenize(hi, options).text.substr(0, 100);
    } catch (const Error& error) {
      // and the next conversation is served all the same, by this template or a new process
      return error.what();
    }
  };
  const std::string endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
  const auto began = std::chrono::steady_clock::now();
  EXPECT_NE(error_of(endless).find("gave no answer within"), std::string::npos) << error_of(endless);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20)) << "two tries of 2 s";
  for (const auto& [source, expected] : std::vector<std::pair<std::string, std::string>>{
           {"{% for a in range(99999) %}{{ 'x' * 99999 }}{% endfor %}", "prints more than 4194304 characters"},
           {"{{ 'x' * 1000000000 }}", "memory"},
           {"a\n{{ raise_exception('roles must alternate') }}", "at line 2: roles must alternate"},
           {"a\n\n{{ messages[0].content + 1 }}", "fails at line 3: TypeError"},
           {"{% if %}", "broken at line 1"},
           {"{{ 1 | nofilter }}", "broken at line 1: No filter named 'nofilter'"},
           {"{{ messages.append(1) }}", "fails at line 1: SecurityError"},
           {"{{ ''.__class__.__mro__ }}", "fails at line 1: SecurityError"},
           {"{{ cycler.__init__.__globals__.os.system('true') }}", "fails at line 1"},
           {"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "fails"},
           {"{% include 'x' %}", "fails"}}) {
    const std::string said = error_of(source);
    EXPECT_NE(said.find(expected), std::string::npos) << source << "\n" << said;
  }
}

}  // namespace
}  // namespace hone
