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
#include "models/rope.h"
#include "weights/hf_config.h"
#include "weights/model_test_cases.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

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
    Decoder decoder(small_config(Family::qwen3, tied), DType::f32);
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
    EXPECT_TRUE(same_bits(a.parameters()[p].values().view(), b.parameters()[p].values().view()))
        << a.parameters()[p].pieces().front().name;
  }
}

TEST_F(HfFolder, WhatIsSavedComesBackToTheBitTensorByTensor) {
  for (const bool tied : {true, false}) {
    SCOPED_TRACE(tied);
    Decoder decoder(small_config(Family::qwen3, tied), DType::f32);
    decoder.initialize(9);
    float value = 0.1f;
    for (Parameter& parameter : decoder.parameters()) {
      for (int64_t i = 0; i < parameter.size(); ++i)
        parameter.set(i, parameter.get(i) + (value *= 1.0001f));  // all different
    }
    const std::string folder = save(tied ? "tied" : "untied", tied);
    weights::save_model(decoder, folder, "");
    expect_same(decoder, *weights::load_decoder(folder, DType::bf16));  // floats in any dtype
    EXPECT_TRUE(weights::load_config(folder) == small_config(Family::qwen3, tied));
    // the published names, rows of fused parameters where they belong
    const io::SafetensorsReader file(folder);
    EXPECT_EQ(file.tensors().size(), 2u * 11u + 2u + (tied ? 0u : 1u));
    for (const Parameter& parameter : decoder.parameters()) {
      const Buffer<float> values = parameter.values();
      for (const Piece& piece : parameter.pieces()) {
        const std::vector<float> stored = io::read_floats(file.at(piece.name));
        EXPECT_TRUE(same_bits(View<const float>(stored.data(), static_cast<int64_t>(stored.size())),
                              values.view(parameter.rows(), parameter.cols()).slice_rows(piece.row, piece.rows)))
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

// One tiny model of each family, biases and scaled rotations included.
std::vector<std::pair<std::string, ModelConfig>> families() {
  ModelConfig qwen3 = small_config(Family::qwen3, true), qwen2 = qwen3, llama = small_config(Family::qwen3, false);
  qwen2.family = Family::qwen2;
  qwen2.qk_norm = false;
  qwen2.qkv_bias = true;
  qwen2.rope_scaling = {.form = RopeScaling::Form::yarn, .factor = 4.0, .original_length = 16.0};
  qwen2.rope_scaling.attention_factor = 1.25;
  llama.family = Family::llama;
  llama.qk_norm = false;
  llama.qkv_bias = llama.o_bias = llama.mlp_bias = true;
  llama.rope_scaling = {.form = RopeScaling::Form::llama3, .factor = 8.0, .original_length = 32.0};
  llama.pad_token_id = 5;
  return {{"qwen3", qwen3}, {"qwen2", qwen2}, {"llama", llama}};
}

TEST_F(HfFolder, EveryFamilyComesBackToTheBitFromEveryStoredForm) {
  for (const auto& [family, config] : families()) {
    for (const io::StoredType type : {io::StoredType::f32, io::StoredType::bf16, io::StoredType::f16}) {
      SCOPED_TRACE(family + " " + io::name(type));
      Decoder decoder(config, DType::f32);
      decoder.initialize(4);
      const std::string stored = path(family + io::name(type)), exported = stored + "-exported";
      fs::create_directories(stored);
      fs::create_directories(exported);
      weights::save_model(decoder, stored, "");
      const io::SafetensorsReader reader(stored);
      io::SafetensorsWriter writer;
      for (const io::StoredTensor& tensor : reader.tensors()) {
        writer.add(tensor.name, tensor.shape, type,
                   [&](int64_t begin, int64_t size, float* out) { io::read_floats(tensor, begin, size, out); });
      }
      const std::string rounded = stored + "/rounded.safetensors";
      writer.write(rounded);
      fs::rename(rounded, stored + "/model.safetensors");
      // what is stored, in float32, is what is exported, tensor by tensor
      weights::save_model(*weights::load_decoder(stored, DType::f32), exported, stored);
      const io::SafetensorsReader from(stored), to(exported);
      ASSERT_EQ(from.tensors().size(), to.tensors().size());
      for (const io::StoredTensor& tensor : from.tensors()) {
        EXPECT_EQ(to.at(tensor.name).type, io::StoredType::f32);
        EXPECT_EQ(to.at(tensor.name).shape, tensor.shape);
        EXPECT_EQ(io::read_floats(tensor), io::read_floats(to.at(tensor.name))) << tensor.name;
      }
      const ModelConfig back = weights::load_config(exported);
      EXPECT_EQ(back.num_parameters(), config.num_parameters());
      EXPECT_EQ(rotary_frequencies(back), rotary_frequencies(config));
      EXPECT_EQ(rotary_attention_factor(back), rotary_attention_factor(config));
      EXPECT_EQ(back.pad_token_id, config.pad_token_id);
      EXPECT_EQ(io::read_json(exported + "/config.json").at("torch_dtype").as_string(), "float32");
    }
  }
}

TEST_F(HfFolder, AnExportKeepsTheKeysOfItsSource) {
  const std::string folder = save("model", true), exported = path("exported");
  fs::create_directories(exported);
  set_config(folder, "torch_dtype", "bfloat16");
  set_config(folder, "transformers_version", "4.51.0");
  set_config(folder, "bos_token_id", 7);
  set_config(folder, "a_key_of_its_own", io::Json::array({1, "two", nullptr}));
  weights::save_model(*weights::load_decoder(folder, DType::f32), exported, folder);
  io::Json want = io::read_json(folder + "/config.json");
  want.set("torch_dtype", "float32");
  EXPECT_EQ(io::read_json(exported + "/config.json").dump(), want.dump());
}

TEST_F(HfFolder, LoadingPacksWhatPublishingPacks) {
  const std::string folder = save("model", true);
  for (const kernels::cpu::Target& target : kernels::cpu::all_targets()) {
    if (!target.supported()) continue;
    for (const DType dtype : {DType::f32, DType::bf16}) {
      kernels::Context loading(3, target), publishing(1, target);
      const auto loaded = weights::load_decoder(loading, folder, dtype);
      const auto sampling = weights::load_decoder(loading, folder, dtype, DecoderUse::sample);
      const auto published = weights::load_decoder(publishing, folder, dtype);
      published->publish(publishing, 0);
      for (size_t p = 0; p < loaded->parameters().size(); ++p) {
        const kernels::PackedMatrix& a = loaded->parameters()[p].forward();
        const kernels::PackedMatrix& b = published->parameters()[p].forward();
        ASSERT_EQ(a.size_bytes(), b.size_bytes());
        if (a.size_bytes() == 0) continue;
        EXPECT_EQ(std::memcmp(a.data.data(), b.data.data(), static_cast<size_t>(a.data.size_bytes())), 0)
            << target.name << " " << loaded->parameters()[p].pieces().front().name;
        const kernels::PackedMatrix& c = sampling->parameters()[p].forward();
        EXPECT_EQ(std::memcmp(c.data.data(), b.data.data(), static_cast<size_t>(b.data.size_bytes())), 0)
            << target.name;
        EXPECT_TRUE(loaded->parameters()[p].exact());
        EXPECT_EQ(sampling->parameters()[p].exact(), p == 0 || dtype == DType::f32) << "the embedding alone is read";
      }
    }
  }
}

TEST_F(HfFolder, ASpareHeadMustBeTheTable) {
  const std::string tied = save("tied", true), untied = save("untied", false);
  set_config(untied, "tie_word_embeddings", true);
  expect_error(untied, {"lm_head.weight: expected the values of model.embed_tokens.weight", "tie_word_embeddings"});
  const auto decoder = weights::load_decoder(tied, DType::f32);
  const io::SafetensorsReader reader(tied);
  io::SafetensorsWriter writer;
  for (const io::StoredTensor& tensor : reader.tensors()) {
    writer.add_bytes(tensor.name, tensor.shape, tensor.type, tensor.data);
  }
  const Buffer<float> table = decoder->parameters().front().values();
  writer.add("lm_head.weight", {23, 12}, io::StoredType::f32, table.data());
  writer.write(untied + "/model.safetensors");
  expect_same(*decoder, *weights::load_decoder(untied, DType::f32));
}

}  // namespace
}  // namespace hone
