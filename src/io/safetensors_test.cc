#include "io/safetensors.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "core/bf16.h"
#include "core/error.h"
#include "core/random.h"
#include "io/atomic_file.h"
#include "io/half.h"
#include "io/json.h"

namespace hone::io {
namespace {
namespace fs = std::filesystem;

class Safetensors : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "hone_tensors_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return join_path(folder_, name); }
  std::string error_of(const std::string& file) const {
    try {
      SafetensorsReader reader(path(file));
      for (const StoredTensor& tensor : reader.tensors()) read_floats(tensor);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  // A file of this header and this many bytes of data.
  std::string error_of_header(const std::string& header, size_t data_bytes) const {
    std::string text;
    for (int i = 0; i < 8; ++i) text += static_cast<char>(header.size() >> (8 * i));
    write_file(path("x.safetensors"), text + header + std::string(data_bytes, '\0'));
    return error_of("x.safetensors");
  }
  std::string folder_;
};

const std::vector<float> kValues = {1.0f, -2.5f, 3.14159274f, 0.0f, 65504.0f, 1e-7f};

void write_sample(const std::string& path) {
  SafetensorsWriter writer;
  const int64_t state[2] = {INT64_MIN, 7};
  writer.add("b.half", {6}, StoredType::f16, kValues.data());
  writer.add("c.full", {2, 3}, StoredType::f32, kValues.data());
  writer.add("a.brain", {3, 2}, StoredType::bf16, kValues.data());
  writer.add("empty", {0, 4}, StoredType::f32, kValues.data());
  writer.add("scalar", {}, StoredType::f32, kValues.data());
  writer.add_bytes("state", {2}, StoredType::i64, state);
  writer.set_metadata("step", "12");
  writer.write(path);
}

TEST_F(Safetensors, ComesBackToTheBit) {
  write_sample(path("m.safetensors"));
  const SafetensorsReader reader(path("m.safetensors"));
  EXPECT_EQ(read_floats(reader.at("c.full", {2, 3})), kValues);
  EXPECT_EQ(read_floats(reader.at("scalar", {})), std::vector<float>{1.0f});
  EXPECT_EQ(read_floats(reader.at("empty")), std::vector<float>{});
  for (size_t i = 0; i < kValues.size(); ++i) {
    EXPECT_EQ(read_floats(reader.at("a.brain"))[i], static_cast<float>(bf16(kValues[i])));
    EXPECT_EQ(read_floats(reader.at("b.half"))[i], half_to_float(float_to_half(kValues[i])));
  }
  int64_t state[2];
  read_bytes(reader.at("state"), StoredType::i64, state, sizeof state);
  EXPECT_EQ(state[0], INT64_MIN);
  EXPECT_THROW(read_bytes(reader.at("state"), StoredType::f32, state, sizeof state), Error);
  EXPECT_THROW(read_floats(reader.at("state")), Error);
  const std::vector<std::pair<std::string, std::string>> metadata = {{"format", "pt"}, {"step", "12"}};
  EXPECT_EQ(reader.metadata(), metadata);
  EXPECT_EQ(reader.tensors()[0].name, "state") << "widest elements first";

  const std::string bytes = read_file(path("m.safetensors"));
  EXPECT_EQ(static_cast<unsigned char>(bytes[0]) % 8, 0) << "data stands at a multiple of 8";
  write_sample(path("again.safetensors"));
  EXPECT_EQ(read_file(path("again.safetensors")), bytes);
}

TEST_F(Safetensors, ReadsShardsThroughTheirIndex) {
  SafetensorsWriter first, second;
  first.add("a", {2}, StoredType::f32, kValues.data());
  second.add("b", {3}, StoredType::f32, kValues.data());
  first.write(path("model-1.safetensors"));
  second.write(path("model-2.safetensors"));
  const auto write_index = [&](const std::string& map) {
    write_file(path("model.safetensors.index.json"), R"({"metadata": {"total_size": 20}, "weight_map": )" + map + "}");
  };
  write_index(R"({"a": "model-1.safetensors", "b": "model-2.safetensors"})");
  const SafetensorsReader reader(folder_);
  EXPECT_EQ(reader.at("b").size, 3);
  EXPECT_EQ(reader.find("c"), nullptr);

  write_index(R"({"a": "model-1.safetensors", "b": "model-3.safetensors"})");
  EXPECT_NE(error_of("").find("names the shard " + path("model-3.safetensors")), std::string::npos) << error_of("");
  write_index(R"({"a": "model-2.safetensors", "b": "model-1.safetensors"})");
  EXPECT_NE(error_of("").find("tensor a: expected in"), std::string::npos) << error_of("");
  write_index(R"({"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-2.safetensors"})");
  EXPECT_NE(error_of("").find("tensor c: expected in"), std::string::npos) << error_of("");
  write_index(R"({"a": "model-1.safetensors", "b": 3})");
  EXPECT_NE(error_of("").find("weight_map.b: expected the name of a file beside the index, found number 3"),
            std::string::npos)
      << error_of("");
  write_index(R"({"a": "../model-1.safetensors"})");
  EXPECT_NE(error_of("").find("beside the index"), std::string::npos) << error_of("");
}

TEST_F(Safetensors, DamagedFilesEndWithFileTensorExpectedAndFound) {
  write_sample(path("m.safetensors"));
  const std::string bytes = read_file(path("m.safetensors"));
  const auto error_of_bytes = [&](const std::string& text) {
    write_file(path("x.safetensors"), text);
    return error_of("x.safetensors");
  };
  EXPECT_NE(error_of_bytes(bytes.substr(0, bytes.size() - 30)).find("outside of the"), std::string::npos);
  EXPECT_NE(error_of_bytes(bytes.substr(0, bytes.size() / 2)).find("x.safetensors: "), std::string::npos);
  EXPECT_NE(error_of_bytes(bytes.substr(0, 7)).find("expected at least 8 bytes, found 7"), std::string::npos);
  EXPECT_NE(error_of_bytes("").find("expected at least 8 bytes, found 0"), std::string::npos);
  EXPECT_NE(error_of_bytes(bytes + "x").find("bytes of data, found"), std::string::npos);
  std::string longer = bytes;
  longer[2] = 1;
  EXPECT_NE(error_of_bytes(longer).find("a header of "), std::string::npos);
  longer[7] = '\xff';
  EXPECT_NE(error_of_bytes(longer).find("a header of "), std::string::npos);
  EXPECT_EQ(error_of("none.safetensors"), "cannot open " + path("none.safetensors") + ": No such file or directory");

  const SafetensorsReader reader(path("m.safetensors"));
  try {
    reader.at("c.full", {3, 3});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              path("m.safetensors") + ": tensor c.full: expected shape [3, 3], found [2, 3]");
  }
  EXPECT_THROW(reader.at("d"), Error);
}

TEST_F(Safetensors, HeadersThatDoNotAddUpAreRefused) {
  struct Case {
    const char* header;
    const char* what;
  };
  const Case cases[] = {
      {R"([])", "begins with {"},
      {R"({"a": 3})", "tensor a: expected an object"},
      {R"({"a": {"shape": [4], "data_offsets": [0, 16]}})", "expected a dtype"},
      {R"({"a": {"dtype": "F33", "shape": [4], "data_offsets": [0, 16]}})", "unknown dtype text \"F33\""},
      {R"({"a": {"dtype": "F32", "data_offsets": [0, 16]}})", "expected a shape"},
      {R"({"a": {"dtype": "F32", "shape": [-4], "data_offsets": [0, 16]}})", "expected a shape of sizes"},
      {R"({"a": {"dtype": "F32", "shape": [4.0], "data_offsets": [0, 16]}})", "expected a shape of sizes"},
      {R"({"a": {"dtype": "F32", "shape": [4611686018427387904, 4], "data_offsets": [0, 16]}})", "larger than any"},
      {R"({"a": {"dtype": "F32", "shape": [4611686018427387904], "data_offsets": [0, 16]}})", "data_offsets hold 16"},
      {R"({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0]}})", "expected two data_offsets"},
      {R"({"a": {"dtype": "F32", "shape": [4], "data_offsets": [16, 0]}})", "outside of"},
      {R"({"a": {"dtype": "F32", "shape": [4], "data_offsets": [-16, 0]}})", "outside of"},
      {R"({"a": {"dtype": "F32", "shape": [5], "data_offsets": [0, 20]}})", "outside of the 16 bytes"},
      {R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 16]}})", "expects 12 bytes, data_offsets hold 16"},
      {R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}})", "expected 12 bytes of data, found 16"},
      {R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [4, 16]}})", "expected data at 0, found it at 4 (gap)"},
      {R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]},
           "b": {"dtype": "F32", "shape": [2], "data_offsets": [8, 16]}})",
       "tensor b: expected data at 12, found it at 8 (overlap)"},
      {R"({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]},
           "a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}})",
       "key \"a\" comes twice"},
      {R"({"__metadata__": {"a": 3}, "a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}})",
       "expected text, found number 3"},
      {R"({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}   )", "no error"},
  };
  for (const Case& c : cases) {
    const std::string error = error_of_header(c.header, 16);
    EXPECT_NE(error.find(c.what), std::string::npos) << c.header << "\n" << error;
  }
}

TEST_F(Safetensors, MutatedFilesNeverCrash) {
  write_sample(path("m.safetensors"));
  const std::string bytes = read_file(path("m.safetensors"));
  const auto length = static_cast<uint32_t>(bytes.size());
  const RandomKey key{3, Stream::test};
  int refused = 0;
  for (uint32_t round = 0; round < 600; ++round) {
    std::string text = bytes;
    const uint32_t changes = 1 + random_below(key, round, 0, 0, 3);
    for (uint32_t i = 0; i < changes; ++i) {
      const size_t at = random_below(key, round, 1, i, length) % text.size();
      text[at] = static_cast<char>(random_below(key, round, 2, i, 2) == 0 ? random_below(key, round, 3, i, 256)
                                                                          : '0' + random_below(key, round, 4, i, 10));
    }
    if (random_below(key, round, 5, 0, 4) == 0) text.resize(1 + random_below(key, round, 6, 0, length));
    // Not write_file: the disk need not be waited for here.
    FILE* file = std::fopen(path("x.safetensors").c_str(), "wb");
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
    refused += error_of("x.safetensors") != "no error";
  }
  EXPECT_GT(refused, 200);
}

// Every value of 16 bits, from a place that is not aligned.
TEST(Half, EveryHalfAndEveryBf16IsReadExactly) {
  std::vector<uint8_t> bytes(1 + 2 * 65536);
  for (uint32_t i = 0; i < 65536; ++i) {
    bytes[1 + 2 * i] = static_cast<uint8_t>(i);
    bytes[2 + 2 * i] = static_cast<uint8_t>(i >> 8);
  }
  const auto half = [](uint32_t bits) {
    const uint32_t exponent = bits >> 10 & 31u, fraction = bits & 0x3ffu, sign = (bits & 0x8000u) << 16;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
    const float magnitude = exponent == 0
                                ? std::ldexp(static_cast<float>(fraction), -24)
                                : std::ldexp(static_cast<float>(fraction | 0x400u), static_cast<int>(exponent) - 25);
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  };
  for (const StoredType type : {StoredType::f16, StoredType::bf16}) {
    StoredTensor tensor{
        .name = "all", .type = type, .shape = {65536}, .size = 65536, .data = bytes.data() + 1, .file = ""};
    std::vector<float> got(65536);
    read_floats(tensor, 0, 7, got.data());
    read_floats(tensor, 7, 65536 - 7, got.data() + 7);
    for (uint32_t i = 0; i < 65536; ++i) {
      const float want = type == StoredType::f16 ? half(i) : std::bit_cast<float>(i << 16);
      ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(want)) << name(type) << " " << i;
    }
  }
}

TEST(Half, RoundsToNearestEvenAndBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = half_to_float(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(value))));
      continue;
    }
    ASSERT_EQ(float_to_half(value), bits);
    // Halfway to the next magnitude goes to the even one, anything beyond to the next.
    if ((bits & 0x7fffu) >= 0x7bffu) continue;
    const float next = half_to_float(static_cast<uint16_t>(bits + 1));
    const float middle = value + (next - value) / 2;
    ASSERT_EQ(float_to_half(middle), bits % 2 == 0 ? bits : bits + 1) << value;
    ASSERT_EQ(float_to_half(std::nextafter(middle, next)), bits + 1) << value;
    ASSERT_EQ(float_to_half(std::nextafter(middle, value)), bits) << value;
  }
  EXPECT_EQ(float_to_half(65519.99f), 0x7bffu);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00u);
  EXPECT_EQ(float_to_half(-1e30f), 0xfc00u);
}

}  // namespace
}  // namespace hone::io
