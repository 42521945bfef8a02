// configs.json: metadata of published files, the config.json that stands for it, and what is changed in it elsewhere:
// `metadata` and `config` are put over those of the model (null takes a key away), `divisors` is rope_freqs.weight.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "io/gguf.h"
#include "models/rope.h"
#include "support/tiny_model.h"
#include "weights/gguf_config.h"
#include "weights/hf_config.h"

namespace hone::test {
namespace {

using io::Json;

Json with_changes(Json object, const Json& changes) {
  for (const auto& [key, value] : changes.as_object()) {
    std::erase_if(object.object_members(), [&k = key](const Json::Member& member) { return member.key == k; });
    if (!value.is_null()) object.set(key, value);
  }
  return object;
}

std::string sorted_dump(Json object) {
  std::sort(object.object_members().begin(), object.object_members().end(),
            [](const Json::Member& a, const Json::Member& b) { return a.key < b.key; });
  return object.dump();
}

// As a file has it: floats.
Json as_in_file(Json metadata) {
  for (auto& [key, value] : metadata.object_members()) {
    if (value.kind() == Json::Kind::number) value = double{value.as_float()};
  }
  return metadata;
}

// What a file of a row of the table holds.
struct Foreign {
  Foreign(const Json& model, const Json& row) {
    content.metadata = as_in_file(with_changes(model.at("metadata"), row.at("metadata")));
    for (const auto& [name, shape] : model.at("tensors").as_object()) {
      io::GgufTensor tensor;
      tensor.name = name;
      for (const Json& extent : shape.as_array()) tensor.shape.push_back(extent.as_int());
      tensor.cols = tensor.shape.back();
      tensor.rows = tensor.shape.size() > 1 ? tensor.shape.front() : 1;
      content.tensors.push_back(tensor);
    }
    const Json* list = row.find("divisors") != nullptr ? row.find("divisors") : model.find("divisors");
    if (list == nullptr) return;
    for (const Json& divisor : list->as_array()) divisors.push_back(divisor.as_float());
    const auto size = static_cast<int64_t>(divisors.size());
    const auto* data = reinterpret_cast<const uint8_t*>(divisors.data());
    content.tensors.push_back({"rope_freqs.weight", io::GgmlType::f32, {size}, 1, size, data});
  }
  // As a file, whose matrices have one row: that is enough for a fault of the metadata.
  void write(const std::string& path) const {
    io::GgufWriter writer;
    for (const auto& [key, value] : content.metadata.as_object()) writer.set(key, value);
    for (const io::GgufTensor& tensor : content.tensors) {
      writer.add(tensor.name, {1, tensor.cols}, io::GgmlType::f32, [&tensor](int64_t, float* out) {
        std::fill_n(out, tensor.cols, 0.0f);
        if (tensor.data != nullptr) io::read_ggml_row(tensor.type, tensor.data, tensor.cols, out);
      });
    }
    writer.write(path);
  }
  std::vector<float> divisors;
  io::GgufContent content;
};

class GgufConfigs : public ::testing::Test {
 protected:
  const Json table_ = io::read_json(HONE_TEST_DATA "/configs.json");
};

TEST_F(GgufConfigs, AreThoseOfTheModelsFolder) {
  for (const Json& row : table_.at("accepted").as_array()) {
    SCOPED_TRACE(row.dump());
    const Json& model = table_.at("models").at(row.at("model").as_string());
    const Foreign file(model, row);
    try {
      const Json config = weights::config_of_gguf(file.content, "x.gguf");
      EXPECT_EQ(sorted_dump(config), sorted_dump(with_changes(model.at("config"), row.at("config"))));
      weights::parse_config(config, "x.gguf");
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

// Of all that a file holds, and as a model's configuration is read, without what a tokenizer is made of.
TEST_F(GgufConfigs, OfWhatIsNotComputedAreRefusedByName) {
  const TemporaryFolder folder("gguf-refused");
  const std::string path = folder / "x.gguf";
  for (const Json& row : table_.at("refused").as_array()) {
    SCOPED_TRACE(row.dump());
    const Foreign file(table_.at("models").at(row.at("model").as_string()), row);
    file.write(path);
    for (const bool is_read : {false, true}) {
      std::string found;
      try {
        const Json config = is_read ? weights::read_config_json(path) : weights::config_of_gguf(file.content, path);
      } catch (const Error& error) {
        found = error.what();
      }
      EXPECT_TRUE(found.starts_with(path + ": ")) << found;
      EXPECT_NE(found.find(row.at("error").as_string()), std::string::npos) << found;
    }
  }
}

// Either the frequencies are the same to the bit, or nothing is written.
TEST(GgufLlama3, ScalingThatIsWrittenIsReadAndOtherIsRefused) {
  const TemporaryFolder folder("gguf-rope");
  int written = 0, refused = 0;
  for (const auto& [factor, low, high, length] : {std::tuple{32.0, 1.0, 4.0, 8192.0},
                                                  {8.0, 1.0, 4.0, 8192.0},
                                                  {10.1, 1.0, 4.0, 2048.0},
                                                  {1.0, 1.0, 4.0, 8192.0},
                                                  {8.0, 1.0, 4.0, 5000.0},  // no power of two
                                                  {8.0, 1.0, 4.0, 8.0},     // shorter than those looked for
                                                  {8.0, 1.0, 4.0, 0x1p25},  // no frequency slow enough
                                                  {8.0, 2.0, 4.0, 8192.0},  // other bounds
                                                  {8.0, 1.0, 8.0, 8192.0},
                                                  {0.5, 1.0, 4.0, 8192.0}}) {
    SCOPED_TRACE(fmt::format("{} {} {} {}", factor, low, high, length));
    ModelConfig config = tiny_families()[2].second;
    ASSERT_EQ(config.family, Family::llama);
    config.head_dim = 64;
    config.rope_theta = 500000;
    config.rope_scaling = {.form = RopeScaling::Form::llama3, .factor = factor, .original_length = length};
    config.rope_scaling.low_freq_factor = low;
    config.rope_scaling.high_freq_factor = high;
    io::GgufWriter writer;
    try {
      weights::add_config_to_gguf(writer, config, io::GgmlType::f32, "m");
    } catch (const Error& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with("m: rope_scaling: expected")) << error.what();
      ++refused;
      continue;
    }
    writer.add("token_embd.weight", {config.vocab_size, config.hidden_size}, io::GgmlType::f32,
               [&](int64_t, float* out) { std::fill_n(out, config.hidden_size, 0.0f); });
    writer.write(folder / "m.gguf");
    EXPECT_EQ(rotary_frequencies(weights::load_config(folder / "m.gguf")), rotary_frequencies(config));
    ++written;
  }
  EXPECT_EQ(written, 4);
  EXPECT_EQ(refused, 6);
}

}  // namespace
}  // namespace hone::test
