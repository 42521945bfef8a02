// Safetensors: the file format of Hugging Face checkpoints. Reader of one file or of shards under an index, by memory
// map with every bound checked before a byte is used; writer of one file. Values are read as float from F32, BF16 and
// F16. Left out: element types below one byte, writing shards.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/faults.h"
#include "io/file.h"
#include "io/json.h"

namespace hone::io {

enum class StoredType { boolean, u8, i8, f8_e5m2, f8_e4m3, i16, u16, f16, bf16, i32, u32, f32, f64, i64, u64 };
int64_t size_bytes(StoredType type);
const char* name(StoredType type);  // as in the header: "F32"

struct StoredTensor {
  std::string name;
  StoredType type = StoredType::f32;
  std::vector<int64_t> shape;
  int64_t size = 0;               // elements
  const uint8_t* data = nullptr;  // little-endian, row-major, perhaps unaligned; lives as long as the reader
  std::string file;               // where it stands, for messages
  int64_t size_bytes() const { return size * io::size_bytes(type); }
};
// "[2, 3]"
std::string shape_text(const std::vector<int64_t>& shape);

// What a file of that name holds, every bound checked. The tensors point into `bytes`. Raises Error.
struct SafetensorsContent {
  std::vector<StoredTensor> tensors;  // in header order
  std::vector<std::pair<std::string, std::string>> metadata;
};
SafetensorsContent parse_safetensors(std::span<const uint8_t> bytes, const std::string& name);
// An index: tensor and file beside the index, in its order. Entries at fault are in `faults`, with an empty file here.
// Raises Error when the whole is no index.
std::vector<std::pair<std::string, std::string>> parse_safetensors_index(const Json& index, const std::string& name,
                                                                         Faults& faults);

class SafetensorsReader {
 public:
  // `path`: a .safetensors file, a .index.json file, or a folder with model.safetensors or
  // model.safetensors.index.json. Raises Error with file, tensor, expected and found.
  explicit SafetensorsReader(const std::string& path);

  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const { return metadata_; }  // of a single file
  const StoredTensor* find(const std::string& name) const;
  const StoredTensor& at(const std::string& name) const;  // Error when absent
  // The same, with an Error when the shape is another.
  const StoredTensor& at(const std::string& name, const std::vector<int64_t>& shape) const;
  // After the last read: raises Error when a file was written or replaced meanwhile.
  void check_unchanged() const;

 private:
  void open_file(const std::string& path);
  void open_index(const std::string& path);

  std::string path_;
  std::vector<MappedFile> maps_;
  std::vector<StoredTensor> tensors_;
  std::unordered_map<std::string, size_t> by_name_;
  std::vector<std::pair<std::string, std::string>> metadata_;
};

// Elements [begin, begin + size) as float, exact for F32, BF16 and F16; Error for other types.
void read_floats(const StoredTensor& tensor, int64_t begin, int64_t size, float* out);
std::vector<float> read_floats(const StoredTensor& tensor);
// The same of elements that lie anywhere; the type must be one of the three.
void read_floats(StoredType type, const uint8_t* data, int64_t size, float* out);
// All elements as they are stored; the tensor must have this type and exactly size_bytes bytes.
void read_bytes(const StoredTensor& tensor, StoredType type, void* out, int64_t size_bytes);

// Collects tensors, then writes them in one go. Data is looked at in write(), not before.
class SafetensorsWriter {
 public:
  // Gives elements [begin, begin + size) of a tensor as floats.
  using Source = std::function<void(int64_t begin, int64_t size, float* out)>;
  // Stored as f32, bf16 or f16, rounded to nearest even.
  void add(const std::string& name, std::vector<int64_t> shape, StoredType type, Source source);
  void add(const std::string& name, std::vector<int64_t> shape, StoredType type, const float* data);
  // Stored as they are.
  void add_bytes(const std::string& name, std::vector<int64_t> shape, StoredType type, const void* data);
  void set_metadata(const std::string& key, const std::string& value);  // "format": "pt" is there already

  // Atomic and deterministic: by descending element size, then by name, data aligned to 8 bytes.
  void write(const std::string& path) const;

 private:
  struct Entry {
    std::string name;
    std::vector<int64_t> shape;
    StoredType type;
    int64_t size;
    Source source;
    const void* data;
  };
  void add_entry(Entry entry);
  std::vector<Entry> entries_;
  std::vector<std::pair<std::string, std::string>> metadata_{{"format", "pt"}};
};

}  // namespace hone::io
