// A GGUF file: what is accepted lies inside the file, and every row of it can be read; a configuration or a tokenizer
// in its metadata is one or an error.
#include "core/error.h"
#include "fuzz/target.h"
#include "io/gguf.h"
#include "text/gguf_tokenizer.h"
#include "text/tokenizer_file.h"
#include "weights/gguf_config.h"
#include "weights/hf_config.h"

namespace hone::fuzz {
namespace {

void check_tokenizer(const io::Json& metadata) {
  try {
    text::tokenizer_config_of_gguf(metadata, "x.gguf");
    text::generation_config_of_gguf(metadata, "x.gguf");
    text::parse_tokenizer(text::tokenizer_json_of_gguf(metadata, "x.gguf"), "x.gguf");
    behaviour("a tokenizer");
  } catch (const Error& error) {
    behaviour(error.what());
    FUZZ_CHECK(std::string_view(error.what()).starts_with("x.gguf"), error.what());
  }
}

void check_config(const io::GgufContent& content) {
  try {
    const ModelConfig config = weights::parse_config(weights::config_of_gguf(content, "x.gguf"), "x.gguf");
    behaviour("a configuration");
    FUZZ_CHECK(config.num_layers > 0 && config.head_dim > 0 && config.rope_scaling.factor > 0, "sizes above 0");
  } catch (const Error& error) {
    behaviour(error.what());
    FUZZ_CHECK(std::string_view(error.what()).find("x.gguf: ") != std::string_view::npos, error.what());
  }
}

void run(std::string_view input) {
  const auto* const data = reinterpret_cast<const uint8_t*>(input.data());
  io::GgufContent content;
  try {
    content = io::parse_gguf({data, input.size()}, "x.gguf");
  } catch (const Error& error) {
    behaviour(error.what());
    FUZZ_CHECK(std::string_view(error.what()).starts_with("x.gguf"), error.what());
    return;
  }
  // without the lists of its tokenizer it is the same file
  const io::GgufContent less = io::parse_gguf({data, input.size()}, "x.gguf", io::GgufLists::pass_over);
  FUZZ_CHECK(less.tensors.size() == content.tensors.size(), "tensors");
  for (const auto& [key, value] : content.metadata.as_object()) {
    const bool is_list = value.is_array(), is_passed_over = is_list && key.starts_with("tokenizer.");
    const io::Json* found = less.metadata.find(key);
    FUZZ_CHECK((found == nullptr) == is_passed_over, key);
    if (found == nullptr) continue;
    FUZZ_CHECK(is_list ? found->as_array().size() == value.as_array().size() : *found == value, key);
  }
  check_tokenizer(content.metadata);
  check_config(content);
  for (const io::GgufTensor& tensor : content.tensors) {
    const io::GgmlForm& form = io::ggml_form(tensor.type);
    behaviour(std::string("accepted ") + form.name);
    const int64_t row_bytes = tensor.cols / form.elements * form.bytes;
    FUZZ_CHECK(tensor.data >= data && tensor.data + tensor.rows * row_bytes <= data + input.size(), tensor.name);
    std::vector<float> row(static_cast<size_t>(tensor.cols));
    for (int64_t r = 0; r < tensor.rows; ++r) {
      io::read_ggml_row(tensor.type, tensor.data + r * row_bytes, tensor.cols, row.data());
    }
  }
}

template <class T>
std::string number(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}
std::string text(const std::string& value) { return number(uint64_t{value.size()}) + value; }

std::string file(const std::string& keys, uint64_t num_keys, const std::string& tensors, uint64_t num_tensors) {
  std::string head =
      std::string("GGUF") + number(uint32_t{3}) + number(num_tensors) + number(num_keys) + keys + tensors;
  head.resize((head.size() + 31) / 32 * 32);
  return head + std::string(512, '\x3f');
}
std::string tensor(const char* name, uint64_t cols, uint64_t rows, uint32_t type, uint64_t offset) {
  return text(name) + number(uint32_t{2}) + number(cols) + number(rows) + number(type) + number(offset);
}
std::string key(const char* name, uint32_t type, const std::string& value) { return text(name) + number(type) + value; }

void repair(std::string& input) {
  if (input.size() < 8) return;
  input.replace(0, 8, std::string("GGUF") + number(uint32_t{3}));
}

std::string tokenizer_keys() {
  const std::string texts = number(uint32_t{8}), three = number(uint64_t{3});
  return key("tokenizer.ggml.model", 8, text("gpt2")) + key("tokenizer.ggml.pre", 8, text("llama-bpe")) +
         key("tokenizer.ggml.tokens", 9, texts + three + text("a") + text("aa") + text("<|eot_id|>")) +
         key("tokenizer.ggml.token_type", 9,
             number(uint32_t{5}) + three + number(int32_t{1}) + number(int32_t{1}) + number(int32_t{3})) +
         key("tokenizer.ggml.merges", 9, texts + number(uint64_t{1}) + text("a a")) +
         key("tokenizer.ggml.bos_token_id", 4, number(uint32_t{2})) + key("tokenizer.ggml.add_bos_token", 7, "\1") +
         key("tokenizer.chat_templates", 9, texts + number(uint64_t{1}) + text("t")) +
         key("tokenizer.chat_template.t", 8, text("{}"));
}

std::string config_keys() {
  std::string keys = key("general.architecture", 8, text("llama"));
  for (const auto& [name, size] : {std::pair{"llama.context_length", 64},
                                   {"llama.embedding_length", 8},
                                   {"llama.block_count", 1},
                                   {"llama.feed_forward_length", 8},
                                   {"llama.attention.head_count", 2},
                                   {"llama.rope.dimension_count", 4},
                                   {"llama.attention.sliding_window", 64}}) {
    keys += key(name, 4, number(static_cast<uint32_t>(size)));
  }
  return keys + key("llama.attention.layer_norm_rms_epsilon", 6, number(1e-5f)) +
         key("llama.rope.scaling.type", 8, text("yarn")) + key("llama.rope.scaling.factor", 6, number(2.0f));
}

Material material() {
  const std::string list = number(uint32_t{8}) + number(uint64_t{2}) + text("a") + text("b");
  return {
      {file("", 0, tensor("a", 4, 2, 0, 0) + tensor("b", 32, 2, 8, 32), 2),
       file(key("general.architecture", 8, text("llama")) + key("n", 4, number(uint32_t{7})), 2,
            tensor("k", 256, 1, 14, 0), 1),
       file(key("list", 9, list) + key("general.alignment", 4, number(uint32_t{32})) + key("f", 6, number(1.5f)), 3,
            tensor("q", 32, 3, 2, 0) + tensor("r", 32, 1, 7, 64), 2),
       file(tokenizer_keys(), 9, "", 0), file(config_keys(), 11, tensor("token_embd.weight", 4, 2, 0, 0), 1),
       file(config_keys(), 11, tensor("token_embd.weight", 4, 2, 0, 0) + tensor("rope_freqs.weight", 2, 1, 0, 32), 2),
       file(key("tokenizer.nested", 9, number(uint32_t{9}) + number(uint64_t{1}) + list), 1, "", 0), "GGUF"},
      {number(uint64_t{1} << 40), number(uint64_t{32}), number(uint32_t{9}), number(uint32_t{12}), text("a"),
       number(uint64_t{0}), number(uint32_t{30}), text("general.alignment"), text("linear"), text("none")},
      repair};
}

}  // namespace

FUZZ_TARGET(run, material)

}  // namespace hone::fuzz
