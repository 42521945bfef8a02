// GGUF: the file format of llama.cpp and Ollama, versions 2 and 3, little-endian. Reader of one file by memory map with
// every bound checked before a byte is used; writer of one file. Left out: files in several parts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.h"
#include "io/gguf_blocks.h"
#include "io/json.h"

namespace hone::io {

// Whether a model's path is that of a GGUF file: its name ends with .gguf.
bool is_gguf(const std::string& path);

struct GgufTensor {
  std::string name;
  GgmlType type = GgmlType::f32;
  std::vector<int64_t> shape;     // outermost first, as Hugging Face has it: the file has it the other way round
  int64_t rows = 1, cols = 1;     // cols: the last extent, along which blocks lie; rows: all others
  const uint8_t* data = nullptr;  // row after row; lives as long as the bytes
};

// Whether lists under keys that begin with "tokenizer." are kept: a vocabulary is some hundred thousand texts, which a
// configuration does without. All others are: a size that is a list, one for each layer, has to be seen.
enum class GgufLists { keep, pass_over };

// What a file holds. The metadata is an object in file order; numbers are integers or doubles, a missing alignment 32.
struct GgufContent {
  Json metadata = Json::object();
  std::vector<GgufTensor> tensors;  // in file order

  const GgufTensor* find(std::string_view name) const;  // nullptr when absent
};
// `name` is what errors call the file. Raises Error: no GGUF, a version beyond 2 and 3, a key or tensor twice, a tensor
// of a type that is not read (gguf_blocks.h), text that is no UTF-8, data over one another or beyond the end. Lists
// that are passed over have to fit, what is in them is not looked at.
GgufContent parse_gguf(std::span<const uint8_t> bytes, const std::string& name, GgufLists lists = GgufLists::keep);

class GgufReader {
 public:
  explicit GgufReader(const std::string& path, GgufLists lists = GgufLists::keep);

  const GgufContent& content() const { return content_; }
  const Json& metadata() const { return content_.metadata; }
  const std::vector<GgufTensor>& tensors() const { return content_.tensors; }
  const GgufTensor* find(std::string_view name) const { return content_.find(name); }
  // After the last read: raises Error when the file was written or replaced meanwhile.
  void check_unchanged() const { map_.check_unchanged(); }

 private:
  MappedFile map_;
  GgufContent content_;
};

// Collects metadata and tensors, then writes them in one go (version 3, alignment 32).
class GgufWriter {
 public:
  // Gives one row as floats.
  using Source = std::function<void(int64_t row, float* out)>;
  // Integers are stored as u32 (i64 where they do not fit; in lists i32), numbers as f32, lists by their first element.
  void set(const std::string& key, Json value);
  // Stored as f32, f16, bf16 or q8_0; `shape` outermost first.
  void add(const std::string& name, std::vector<int64_t> shape, GgmlType type, Source source);
  // Atomic and deterministic, in the order of the calls. Raises Error for a value that its type cannot hold.
  // `check` is called once all is read, before the file appears.
  void write(const std::string& path, const std::function<void()>& check = {}) const;

 private:
  struct Entry {
    std::string name;
    std::vector<int64_t> shape;
    GgmlType type;
    int64_t rows, cols;
    Source source;
  };
  Json metadata_ = Json::object();
  std::vector<Entry> entries_;
};

}  // namespace hone::io
