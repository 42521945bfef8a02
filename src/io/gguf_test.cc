// Broken and hostile GGUF files end with their fault, before a byte beyond them is read or memory is taken for a number
// that they name.
#include "io/gguf.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>

#include "core/error.h"

namespace hone::io {
namespace {

template <class T>
std::string little(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}
std::string text(const std::string& value) { return little(uint64_t{value.size()}) + value; }
std::string head(uint64_t num_tensors, uint64_t num_keys) {
  return "GGUF" + little(uint32_t{3}) + little(num_tensors) + little(num_keys);
}
std::string key(const std::string& name, uint32_t type, const std::string& value) {
  return text(name) + little(type) + value;
}
std::string tensor(const std::string& name, const std::vector<uint64_t>& extents, uint32_t type, uint64_t offset) {
  std::string info = text(name) + little(static_cast<uint32_t>(extents.size()));
  for (const uint64_t extent : extents) info += little(extent);
  return info + little(type) + little(offset);
}
// With 256 bytes of data at the usual place.
std::string file(const std::string& keys, uint64_t num_keys, const std::string& tensors, uint64_t num_tensors) {
  std::string bytes = head(num_tensors, num_keys) + keys + tensors;
  bytes.resize((bytes.size() + 31) / 32 * 32);
  return bytes + std::string(256, '\0');
}

std::string gguf_error(const std::string& bytes) {
  try {
    parse_gguf({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "x.gguf");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

constexpr uint32_t kU8 = 0, kU32 = 4, kString = 8, kList = 9, kF32 = 0, kQ8 = 8;

TEST(Gguf, WholeFilesAreReadWithShapesOutermostFirst) {
  const std::string bytes = file(key("a", kU32, little(uint32_t{7})) + key("b", kString, text("x")), 2,
                                 tensor("t", {4, 3, 2}, kF32, 0) + tensor("q", {32, 2}, kQ8, 96), 2);
  const GgufContent content = parse_gguf({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "x.gguf");
  EXPECT_EQ(content.metadata, Json::object({{"a", 7}, {"b", "x"}}));
  ASSERT_EQ(content.tensors.size(), 2u);
  EXPECT_EQ(content.tensors[0].shape, (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(content.tensors[0].rows, 6);
  EXPECT_EQ(content.tensors[0].cols, 4);
  EXPECT_EQ(content.tensors[1].data - content.tensors[0].data, 96);
}

TEST(Gguf, BrokenFilesAreNamedWithTheirFault) {
  const std::string alignment = key("general.alignment", kU32, little(uint32_t{48}));
  const std::vector<std::pair<std::string, std::string>> cases{
      {"GGML....", "expected a GGUF file"},
      {"GG", "expected a GGUF file"},
      {"GGUF" + little(uint32_t{1}), "expected version 2 or 3, found 1"},
      {"GGUF" + little(uint32_t{0x03000000}), "expected version 2 or 3"},  // big-endian
      {"GGUF" + little(uint32_t{3}) + "ab", "number of tensors of 8 bytes"},
      {head(0, uint64_t{1} << 60), "the number of keys to fit the file"},
      {head(uint64_t{1} << 63, 0), "the number of tensors to fit the file"},
      {file(key("k", kString, little(uint64_t{1} << 40)), 1, "", 0), "a text to fit the file"},
      {file(key("k", kList, little(kU8) + little(uint64_t{1} << 62)), 1, "", 0),
       "the length of a list to fit the file"},
      {file(key("k", 99, ""), 1, "", 0), "a type of metadata below 13, found 99"},
      {file(key("k", kString, text("\xff")), 1, "", 0), "a text in UTF-8"},
      {file(key("k", kU8, "a") + key("k", kU8, "b"), 2, "", 0), "found \"k\" twice"},
      {file(alignment, 1, "", 0), "general.alignment to be a power of two, found number 48"},
      {file("", 0, tensor("t", {4}, kF32, 0) + tensor("t", {4}, kF32, 32), 2), "found t twice"},
      {file("", 0, tensor("t", {4}, 11, 0), 1), "found Q3_K"},
      {file("", 0, tensor("t", {4}, 1000, 0), 1), "found type 1000"},
      {file("", 0, tensor("t", {33}, kQ8, 0), 1), "rows of a multiple of 32 for Q8_0, found 33"},
      {file("", 0, tensor("t", {0}, kF32, 0), 1), "found an extent of 0"},
      {file("", 0, tensor("t", {1, 1, 1, 1, 1}, kF32, 0), 1), "at most 4 dimensions, found 5"},
      {file("", 0, tensor("t", {uint64_t{1} << 32, uint64_t{1} << 32}, kF32, 0), 1), "a size that can be"},
      {file("", 0, tensor("t", {uint64_t{1} << 61}, kF32, 0), 1), "a size that can be"},
      {file("", 0, tensor("t", {65}, kF32, 0), 1), "expected 260 bytes at a multiple of 32 within 256 bytes"},
      {file("", 0, tensor("t", {4}, kF32, 256), 1), "within 256 bytes of data, found them at 256"},
      {file("", 0, tensor("t", {4}, kF32, ~uint64_t{31}), 1), "within 256 bytes of data"},
      {file("", 0, tensor("t", {4}, kF32, 8), 1), "at a multiple of 32"},
      {file("", 0, tensor("a", {16}, kF32, 32) + tensor("b", {16}, kF32, 64), 2),
       "tensor b: expected after the 64 bytes"},
      {file("", 0, tensor("a", {4}, kF32, 32) + tensor("b", {4}, kF32, 32), 2),
       "expected after the 16 bytes of tensor"},
  };
  for (const auto& [bytes, fault] : cases) {
    const std::string error = gguf_error(bytes);
    EXPECT_NE(error.find(fault), std::string::npos) << fault << ": " << error;
    EXPECT_TRUE(error.starts_with("x.gguf: ")) << error;
  }
  std::string nested = little(kU8) + little(uint64_t{0});
  for (int i = 0; i < 5; ++i) nested = little(kList) + little(uint64_t{1}) + nested;
  EXPECT_NE(gguf_error(file(key("k", kList, nested), 1, "", 0)).find("nested at most"), std::string::npos);
}

GgufContent without_lists(const std::string& bytes) {
  return parse_gguf({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "x.gguf", GgufLists::pass_over);
}

TEST(Gguf, ListsThatArePassedOverHaveToFitAndWhatFollowsIsRead) {
  const std::string texts = little(kString) + little(uint64_t{2}) + text("x") + text("\xff");
  const std::string numbers = little(kU32) + little(uint64_t{3}) + std::string(12, 'n');
  const std::string lists = key("tokenizer.texts", kList, texts) + key("tokenizer.numbers", kList, numbers) +
                            key("tokenizer.nested", kList, little(kList) + little(uint64_t{2}) + numbers + texts);
  const std::string whole = file(lists + key("a", kU32, little(uint32_t{7})), 4, tensor("t", {64}, kF32, 0), 1);
  const GgufContent content = without_lists(whole);
  EXPECT_EQ(content.metadata, Json::object({{"a", 7}}));
  EXPECT_EQ(content.tensors.size(), 1u);
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_THROW(without_lists(whole.substr(0, size)), Error) << size;
  EXPECT_THROW(without_lists(file(key("tokenizer.k", kList, little(kU32) + little(uint64_t{1} << 62)), 1, "", 0)),
               Error);
  std::string deep = little(kU8) + little(uint64_t{0});
  for (int i = 0; i < 5; ++i) deep = little(kList) + little(uint64_t{1}) + deep;
  EXPECT_THROW(without_lists(file(key("tokenizer.k", kList, deep), 1, "", 0)), Error);
}

TEST(Gguf, ListsOfOtherKeysThanATokenizersAreAlwaysKept) {
  const std::string list = little(kU32) + little(uint64_t{2}) + little(uint32_t{4}) + little(uint32_t{2});
  const std::string bytes =
      file(key("llama.attention.head_count_kv", kList, list) + key("tokenizer.x", kList, list), 2, "", 0);
  EXPECT_EQ(without_lists(bytes).metadata, Json::object({{"llama.attention.head_count_kv", Json::array({4, 2})}}));
}

TEST(Gguf, AFileCutAnywhereIsAnError) {
  const std::string whole = file(key("a", kList, little(kString) + little(uint64_t{2}) + text("x") + text("yz")), 1,
                                 tensor("t", {32, 2}, kF32, 0), 1);
  EXPECT_EQ(gguf_error(whole), "");
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(gguf_error(whole.substr(0, size)), "") << size;
}

// Of every type, out of bytes that are any: a part that begins or ends within a block is that of the whole, to the bit.
TEST(Gguf, PartsOfRowsAreThoseOfTheWhole) {
  for (uint32_t number = 0; number < 64; ++number) {
    const GgmlForm* form = find_ggml_form(number);
    if (form == nullptr) continue;
    const int64_t size = form->elements == 1 ? 201 : 3 * form->elements;
    std::vector<uint8_t> bytes(static_cast<size_t>(size / form->elements * form->bytes));
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(37 * i + 11);
    std::vector<float> whole(static_cast<size_t>(size)), part(static_cast<size_t>(size));
    read_ggml_row(form->type, bytes.data(), size, whole.data());
    for (const int64_t begin : {int64_t{0}, int64_t{1}, form->elements, size / 2 + 3}) {
      for (int64_t count = 0; begin + count <= size; ++count) {
        std::fill(part.begin(), part.end(), -1.0f);
        read_ggml_elements(form->type, bytes.data(), begin, count, part.data());
        ASSERT_EQ(std::memcmp(part.data(), whole.data() + begin, static_cast<size_t>(count) * sizeof(float)), 0)
            << form->name << " " << begin << " " << count;
        ASSERT_TRUE(count == size || part[static_cast<size_t>(count)] == -1.0f) << form->name << " " << begin;
      }
    }
  }
}

class GgufWriting : public ::testing::Test {
 protected:
  ~GgufWriting() override { std::filesystem::remove(path_); }
  const std::string path_ = (std::filesystem::temp_directory_path() / fmt::format("hone-{}.gguf", ::getpid())).string();
};

TEST_F(GgufWriting, MetadataAndTensorsAreReadBack) {
  GgufWriter writer;
  const Json metadata = Json::object({{"flag", true},
                                      {"size", int64_t{1} << 31},
                                      {"less", -5},
                                      {"text", "é"},
                                      {"number", 0.1f},
                                      {"ids", Json::array({1, 2})},
                                      {"empty", Json::array()},
                                      {"texts", Json::array({"a", "b c"})}});
  for (const auto& [name, value] : metadata.as_object()) writer.set(name, value);
  const auto row_of = [](int64_t row, float* out) {
    for (int i = 0; i < 32; ++i) out[i] = static_cast<float>(row) + 0.25f * static_cast<float>(i - 16);
  };
  writer.add("m", {3, 32}, GgmlType::f32, row_of);
  writer.add("q", {3, 32}, GgmlType::q8_0, row_of);
  writer.add("z", {32}, GgmlType::q8_0, [](int64_t, float* out) { std::fill_n(out, 32, 1e-42f); });
  writer.write(path_);
  const GgufReader reader(path_);
  EXPECT_EQ(reader.metadata().at("number").as_float(), 0.1f);
  for (const auto& [name, value] : metadata.as_object()) {
    if (name == "number") continue;
    EXPECT_EQ(reader.metadata().at(name), value) << name;
  }
  std::vector<float> exact(32), read(32);
  for (int64_t row = 0; row < 3; ++row) {
    row_of(row, exact.data());
    const GgufTensor &m = *reader.find("m"), &q = *reader.find("q");
    read_ggml_row(m.type, m.data + row * 128, 32, read.data());
    EXPECT_EQ(read, exact);
    read_ggml_row(q.type, q.data + row * 34, 32, read.data());
    for (int i = 0; i < 32; ++i) EXPECT_NEAR(read[i], exact[i], 6.0 / 254 + 6.0 / 2048);
  }
  read_ggml_row(GgmlType::q8_0, reader.find("z")->data, 32, read.data());  // less than its scale can be
  EXPECT_EQ(read, std::vector<float>(32));
  EXPECT_EQ(reader.find("none"), nullptr);
}

TEST_F(GgufWriting, ANumberThatATypeCannotHoldIsRefusedAndLeavesNoFile) {
  for (const auto& [type, value] : {std::pair{GgmlType::f16, 65536.0f},
                                    {GgmlType::q8_0, 1e8f},
                                    {GgmlType::bf16, std::numeric_limits<float>::infinity()},
                                    {GgmlType::f32, std::numeric_limits<float>::quiet_NaN()}}) {
    GgufWriter writer;
    writer.add("t", {32}, type, [v = value](int64_t, float* out) { std::fill_n(out, 32, v); });
    EXPECT_THROW(writer.write(path_), Error) << value;
    EXPECT_FALSE(exists(path_));
  }
}

}  // namespace
}  // namespace hone::io
