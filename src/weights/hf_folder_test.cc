#include "weights/hf_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "weights/hf_config.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

ModelConfig small_config(bool tied) {
  ModelConfig config;
  config.vocab_size = 23;
  config.hidden_size = 12;
  config.intermediate_size = 20;
  config.num_layers = 2;
  config.num_heads = 4;
  config.num_kv_heads = 2;
  config.head_dim = 6;
  config.max_position_embeddings = 64;
  config.rope_theta = 123456.5f;
  config.rms_norm_eps = 3e-5f;
  config.tie_word_embeddings = tied;
  return config;
}

class HfFolder : public ::testing::Test {
 protected:
  HfFolder() : folder_(fs::temp_directory_path() / ("hone-weights-" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~HfFolder() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  // A random model in a folder of that name.
  std::string save(const std::string& name, bool tied) const {
    fs::create_directories(path(name));
    Decoder decoder(small_config(tied), DType::f32);
    decoder.initialize(1);
    weights::save_model(decoder, path(name), "");
    return path(name);
  }
  static std::string error_of(const std::string& folder) {
    try {
      weights::load_decoder(folder, DType::f32);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
      EXPECT_FALSE(error.hint().empty()) << error.what();
      return error.what();
    }
    return "";
  }
  static void expect_error(const std::string& folder, const std::vector<std::string>& parts) {
    const std::string error = error_of(folder);
    for (const std::string& part : parts) EXPECT_NE(error.find(part), std::string::npos) << part << "\n" << error;
  }
  static void set_config(const std::string& folder, const std::string& key, io::Json value) {
    io::Json config = io::read_json(folder + "/config.json");
    config.set(key, std::move(value));
    io::write_json(folder + "/config.json", config);
  }
  // Writes the tensors that `keep` chooses of a folder to a file, the others not.
  template <class Keep>
  static void copy_tensors(const std::string& from, const std::string& to, const Keep& keep) {
    const io::SafetensorsReader reader(from);
    io::SafetensorsWriter writer;
    for (const io::StoredTensor& tensor : reader.tensors()) {
      if (keep(tensor.name)) writer.add_bytes(tensor.name, tensor.shape, tensor.type, tensor.data);
    }
    writer.write(to);
  }

  fs::path folder_;
};

bool same_bits(View<const float> a, View<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data, b.data, static_cast<size_t>(a.size()) * sizeof(float)) == 0;
}

void expect_same(const Decoder& a, const Decoder& b) {
  ASSERT_EQ(a.parameters().size(), b.parameters().size());
  for (size_t p = 0; p < a.parameters().size(); ++p) {
    EXPECT_TRUE(same_bits(a.parameters()[p].master(), b.parameters()[p].master()))
        << a.parameters()[p].pieces().front().name;
  }
}

TEST_F(HfFolder, WhatIsSavedComesBackToTheBitTensorByTensor) {
  for (const bool tied : {true, false}) {
    SCOPED_TRACE(tied);
    Decoder decoder(small_config(tied), DType::f32);
    decoder.initialize(9);
    float value = 0.1f;
    for (Parameter& parameter : decoder.parameters()) {
      for (int64_t i = 0; i < parameter.size(); ++i) parameter.master()[i] += value *= 1.0001f;  // all different
    }
    const std::string folder = save(tied ? "tied" : "untied", tied);
    weights::save_model(decoder, folder, "");
    expect_same(decoder, *weights::load_decoder(folder, DType::bf16));  // masters are float32 in any dtype
    const ModelConfig config = weights::load_config(folder), want = small_config(tied);
    EXPECT_EQ(config.rope_theta, want.rope_theta);
    EXPECT_EQ(config.rms_norm_eps, want.rms_norm_eps);
    EXPECT_EQ(config.tie_word_embeddings, tied);
    EXPECT_EQ(config.num_parameters(), want.num_parameters());
    // the published names, rows of fused parameters where they belong
    const io::SafetensorsReader file(folder);
    EXPECT_EQ(file.tensors().size(), 2u * 11u + 2u + (tied ? 0u : 1u));
    for (const Parameter& parameter : decoder.parameters()) {
      for (const Piece& piece : parameter.pieces()) {
        const std::vector<float> stored = io::read_floats(file.at(piece.name));
        EXPECT_TRUE(same_bits(View<const float>(stored.data(), static_cast<int64_t>(stored.size())),
                              parameter.master().slice_rows(piece.row, piece.rows)))
            << piece.name;
      }
    }
    EXPECT_EQ(file.at("model.layers.1.self_attn.k_proj.weight").shape, (std::vector<int64_t>{12, 12}));
    EXPECT_EQ(file.at("model.layers.0.mlp.up_proj.weight").shape, (std::vector<int64_t>{20, 12}));
  }
}

TEST_F(HfFolder, ShardsAreTheSameModelAsOneFile) {
  const std::string one = save("one", false), sharded = path("sharded");
  fs::create_directories(sharded);
  fs::copy(one + "/config.json", sharded + "/config.json");
  io::Json map = io::Json::object();
  const io::SafetensorsReader reader(one);
  for (size_t i = 0; i < reader.tensors().size(); ++i) {
    map.set(reader.tensors()[i].name, fmt::format("model-{}.safetensors", i % 3));
  }
  for (size_t shard = 0; shard < 3; ++shard) {
    const std::string name = fmt::format("model-{}.safetensors", shard);
    copy_tensors(one, sharded + "/" + name,
                 [&](const std::string& tensor) { return map.at(tensor).as_string() == name; });
  }
  io::Json index = io::Json::object();
  index.set("weight_map", map);
  io::write_json(sharded + "/model.safetensors.index.json", index);
  expect_same(*weights::load_decoder(one, DType::f32), *weights::load_decoder(sharded, DType::f32));
  fs::remove(sharded + "/model-1.safetensors");
  expect_error(sharded, {"model-1.safetensors"});
}

TEST_F(HfFolder, BrokenFilesEndBeforeAnyComputeWithFileExpectedAndFound) {
  const std::string folder = save("model", true), file = folder + "/model.safetensors";
  const std::string whole = io::read_file(file);
  io::write_file(file, whole.substr(0, whole.size() / 2));
  expect_error(folder, {file});
  io::write_file(file, whole.substr(0, 7));
  expect_error(folder, {file, "7"});
  std::string long_header = whole;
  long_header[5] = 1;  // a header of 2^40 bytes
  io::write_file(file, long_header);
  expect_error(folder, {file});
  fs::remove(file);
  expect_error(folder, {folder});
}

TEST_F(HfFolder, TensorsThatDoNotFitAreAllNamedInOneGo) {
  const std::string folder = save("model", true);
  set_config(folder, "hidden_size", 16);
  expect_error(folder, {"model.embed_tokens.weight: expected shape [23, 16], found [23, 12]",
                        "model.layers.1.mlp.down_proj.weight: expected shape [16, 20], found [12, 20]",
                        "model.norm.weight: expected shape [16], found [12]"});
  set_config(folder, "hidden_size", 12);
  set_config(folder, "num_hidden_layers", 3);
  expect_error(folder, {"tensor model.layers.2.self_attn.q_proj.weight [24, 12] is missing"});
  set_config(folder, "num_hidden_layers", 1);
  expect_error(folder, {"tensor model.layers.1.self_attn.q_norm.weight is not part of the model"});
}

TEST_F(HfFolder, AnAbsentHeadIsFineWhenTiedAndRefusedWhenNot) {
  const std::string tied = save("tied", true);
  EXPECT_EQ(error_of(tied), "");
  set_config(tied, "tie_word_embeddings", false);
  expect_error(tied, {"lm_head.weight [23, 12] is missing"});
  set_config(tied, "tie_word_embeddings", true);
  // a spare head that equals the table is fine, another one would be another model
  const std::string untied = save("untied", false);
  set_config(untied, "tie_word_embeddings", true);
  expect_error(untied, {"lm_head.weight differs from the embedding although tie_word_embeddings is true"});
  const auto decoder = weights::load_decoder(tied, DType::f32);
  const io::SafetensorsReader reader(tied);
  io::SafetensorsWriter writer;
  for (const io::StoredTensor& tensor : reader.tensors()) {
    writer.add_bytes(tensor.name, tensor.shape, tensor.type, tensor.data);
  }
  writer.add("lm_head.weight", {23, 12}, io::StoredType::f32, decoder->parameters().front().master().data);
  writer.write(untied + "/model.safetensors");
  expect_same(*decoder, *weights::load_decoder(untied, DType::f32));
}

TEST_F(HfFolder, WhatWouldComputeSomethingElseIsRefusedByName) {
  const std::string folder = save("model", true);
  const std::string config = io::read_file(folder + "/config.json");
  const struct {
    const char* key;
    io::Json value;
    const char* fault;
  } cases[] = {
      {"architectures", io::Json::array({"LlamaForCausalLM"}), "architectures: expected Qwen3ForCausalLM, found Llama"},
      {"hidden_act", "gelu", "hidden_act: expected silu, found text \"gelu\""},
      {"attention_bias", true, "attention_bias: true is not there yet"},
      {"use_sliding_window", true, "use_sliding_window: true is not there yet"},
      {"layer_types", io::Json::array({"full_attention", "sliding_attention"}), "layer_types: expected full_attention"},
      {"rope_scaling", io::Json::object({{"rope_type", "yarn"}, {"factor", 4.0}}), "rope_type: expected default"},
      {"rope_parameters", io::Json::object({{"rope_type", "llama3"}}), "rope_type: expected default"},
      {"rope_theta", -1.0, "rope_theta: expected a number above 0"},
      {"num_key_value_heads", 3, "num_attention_heads: expected a multiple of num_key_value_heads, found 4 and 3"},
      {"head_dim", 5, "head_dim: expected an even number"},
      {"vocab_size", "many", "vocab_size: expected a positive integer, found text \"many\""},
      {"hidden_size", 0, "hidden_size: expected a positive integer, found"},
      {"tie_word_embeddings", 1, "tie_word_embeddings: expected true or false"},
      {"num_hidden_layers", nullptr, "num_hidden_layers: missing"},
  };
  for (const auto& c : cases) {
    io::write_file(folder + "/config.json", config);
    set_config(folder, c.key, c.value);
    expect_error(folder, {c.fault, folder + "/config.json"});
  }
  io::write_file(folder + "/config.json", config);
  EXPECT_EQ(error_of(folder), "");
}

}  // namespace
}  // namespace hone
