#include "io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "core/bf16.h"
#include "core/error.h"
#include "io/half.h"
#include "io/json.h"

namespace hone::io {
namespace {

constexpr int64_t kLargestHeader = 100'000'000;

struct TypeRow {
  StoredType type;
  const char* name;
  int64_t size_bytes;
};
constexpr TypeRow kTypes[] = {
    {StoredType::boolean, "BOOL", 1},    {StoredType::u8, "U8", 1},           {StoredType::i8, "I8", 1},
    {StoredType::f8_e5m2, "F8_E5M2", 1}, {StoredType::f8_e4m3, "F8_E4M3", 1}, {StoredType::i16, "I16", 2},
    {StoredType::u16, "U16", 2},         {StoredType::f16, "F16", 2},         {StoredType::bf16, "BF16", 2},
    {StoredType::i32, "I32", 4},         {StoredType::u32, "U32", 4},         {StoredType::f32, "F32", 4},
    {StoredType::f64, "F64", 8},         {StoredType::i64, "I64", 8},         {StoredType::u64, "U64", 8}};

const TypeRow& row(StoredType type) { return kTypes[static_cast<size_t>(type)]; }

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(fmt::format("{}: {}", path, what),
              "the file is damaged or not a safetensors file: fetch or save it again");
}

// The value itself, cut where it is long.
std::string brief(const Json& value) {
  constexpr size_t kShown = 100;
  std::string text = value.dump();
  if (text.size() > kShown) text = visible(text.substr(0, kShown)) + "...";
  return text;
}

// a * b for sizes, -1 when it does not fit.
int64_t product(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? -1 : result;
}

StoredTensor parse_tensor(const std::string& path, const std::string& name, const Json& entry, int64_t data_bytes,
                          int64_t* begin, int64_t* end) {
  const auto fail_tensor = [&](const std::string& what) {
    fail(path, fmt::format("tensor {}: {}", visible(name), what));
  };
  if (!entry.is_object()) fail_tensor("expected an object, found " + entry.describe());
  const Json* type = entry.find("dtype");
  const Json* shape = entry.find("shape");
  const Json* offsets = entry.find("data_offsets");
  if (type == nullptr || !type->is_string()) fail_tensor("expected a dtype, found none");
  if (shape == nullptr || !shape->is_array()) fail_tensor("expected a shape, found none");
  if (offsets == nullptr || !offsets->is_array() || offsets->as_array().size() != 2 ||
      !offsets->as_array()[0].is_int() || !offsets->as_array()[1].is_int()) {
    fail_tensor("expected two data_offsets, found " + (offsets == nullptr ? std::string("none") : brief(*offsets)));
  }
  StoredTensor tensor;
  tensor.name = name;
  tensor.file = path;
  const TypeRow* found = nullptr;
  for (const TypeRow& r : kTypes) {
    if (type->as_string() == r.name) found = &r;
  }
  if (found == nullptr) fail_tensor("unknown dtype " + type->describe());
  tensor.type = found->type;
  tensor.size = 1;
  for (const Json& extent : shape->as_array()) {
    if (!extent.is_int() || extent.as_int() < 0) fail_tensor("expected a shape of sizes, found " + brief(*shape));
    tensor.shape.push_back(extent.as_int());
    tensor.size = product(tensor.size, extent.as_int());
    if (tensor.size < 0) fail_tensor("shape " + brief(*shape) + " is larger than any file");
  }
  *begin = offsets->as_array()[0].as_int();
  *end = offsets->as_array()[1].as_int();
  if (*begin < 0 || *end < *begin || *end > data_bytes) {
    fail_tensor(fmt::format("data_offsets {} outside of the {} bytes of data", brief(*offsets), data_bytes));
  }
  const int64_t expected = product(tensor.size, found->size_bytes);
  if (expected != *end - *begin) {
    fail_tensor(fmt::format("{} of shape {} expects {} bytes, data_offsets hold {}", found->name,
                            shape_text(tensor.shape), expected, *end - *begin));
  }
  return tensor;
}

std::vector<std::pair<std::string, std::string>> parse_metadata(const std::string& path, const Json& value) {
  if (!value.is_object()) fail(path, "__metadata__: expected an object, found " + value.describe());
  std::vector<std::pair<std::string, std::string>> metadata;
  for (const Json::Member& pair : value.as_object()) {
    if (!pair.value.is_string()) fail(path, "__metadata__: expected text, found " + pair.value.describe());
    metadata.emplace_back(pair.key, pair.value.as_string());
  }
  return metadata;
}

struct Range {
  int64_t begin, end;
  std::string_view name;
};

// The tensors must tile the data: no overlap, no gap, nothing after the last.
void check_tiling(const std::string& path, std::vector<Range> ranges, int64_t data_bytes) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); });
  int64_t reached = 0;
  for (const Range& range : ranges) {
    if (range.begin != reached) {
      fail(path, fmt::format("tensor {}: expected data at {}, found it at {} ({})", visible(range.name), reached,
                             range.begin, range.begin < reached ? "overlap" : "gap"));
    }
    reached = range.end;
  }
  if (reached != data_bytes) fail(path, fmt::format("expected {} bytes of data, found {}", reached, data_bytes));
}

// Whether an index may name this file as a shard.
bool is_beside_index(std::string_view file) {
  return !file.empty() && file != "." && file != ".." && file.find_first_of(std::string_view("/\0", 2)) == file.npos;
}

}  // namespace

int64_t size_bytes(StoredType type) { return row(type).size_bytes; }
const char* name(StoredType type) { return row(type).name; }

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

SafetensorsReader::SafetensorsReader(const std::string& path) : path_(path) {
  if (is_folder(path)) {
    const std::string single = join_path(path, "model.safetensors");
    const std::string index = single + ".index.json";
    if (exists(single)) {
      open_file(single);
    } else if (exists(index)) {
      open_index(index);
    } else {
      throw Error(fmt::format("{}: expected model.safetensors or model.safetensors.index.json, found neither", path),
                  "name a Hugging Face model folder, or download its weights");
    }
  } else if (path.ends_with(".json")) {
    open_index(path);
  } else {
    open_file(path);
  }
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const auto [old, fresh] = by_name_.emplace(tensors_[i].name, i);
    if (!fresh)
      fail(tensors_[i].file, fmt::format("tensor {} is in {} too", visible(old->first), tensors_[old->second].file));
  }
}

SafetensorsContent parse_safetensors(std::span<const uint8_t> bytes, const std::string& path) {
  const auto file_bytes = static_cast<int64_t>(bytes.size());
  if (file_bytes < 8) fail(path, fmt::format("expected at least 8 bytes, found {}", file_bytes));
  uint64_t length = 0;
  for (size_t i = 0; i < 8; ++i) length |= uint64_t{bytes[i]} << (8 * i);
  if (length > static_cast<uint64_t>(kLargestHeader) || static_cast<int64_t>(length) > file_bytes - 8) {
    fail(path, fmt::format("a header of {} bytes is announced, the file holds {} after the length (at most {} allowed)",
                           length, file_bytes - 8, kLargestHeader));
  }
  const auto header_bytes = static_cast<int64_t>(length);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, length);
  if (!text.starts_with('{')) fail(path, "expected a header that begins with {, found something else");
  const Json header = parse_json(text, path + " (header)");
  if (!header.is_object()) fail(path, "expected an object as header, found " + header.describe());

  const int64_t data_bytes = file_bytes - 8 - header_bytes;
  SafetensorsContent content;
  std::vector<Range> ranges;
  for (const Json::Member& member : header.as_object()) {
    if (member.key == "__metadata__") {
      content.metadata = parse_metadata(path, member.value);
      continue;
    }
    Range range{0, 0, member.key};
    StoredTensor tensor = parse_tensor(path, member.key, member.value, data_bytes, &range.begin, &range.end);
    tensor.data = bytes.data() + 8 + header_bytes + range.begin;
    content.tensors.push_back(std::move(tensor));
    ranges.push_back(range);
  }
  check_tiling(path, std::move(ranges), data_bytes);
  return content;
}

std::vector<std::pair<std::string, std::string>> parse_safetensors_index(const Json& index, const std::string& path,
                                                                         Faults& faults) {
  const JsonAt weight_map = JsonAt(index, path)["weight_map"];
  if (!weight_map.value().is_object()) weight_map.fail("expected an object, found " + weight_map.value().describe());
  std::vector<std::pair<std::string, std::string>> files;
  for (const Json::Member& member : weight_map.value().as_object()) {
    std::string file = member.value.is_string() ? member.value.as_string() : "";
    if (!is_beside_index(file)) {
      faults.add(fmt::format("{}: weight_map.{}: expected the name of a file beside the index, found {}", path,
                             member.key, member.value.describe()));
      file.clear();
    }
    files.emplace_back(member.key, std::move(file));
  }
  return files;
}

void SafetensorsReader::open_file(const std::string& path) {
  maps_.emplace_back(path);
  const MappedFile& map = maps_.back();
  SafetensorsContent content = parse_safetensors({map.data(), static_cast<size_t>(map.size_bytes())}, path);
  for (StoredTensor& tensor : content.tensors) tensors_.push_back(std::move(tensor));
  metadata_ = std::move(content.metadata);
}

void SafetensorsReader::open_index(const std::string& path) {
  Faults faults;
  const auto weight_map = parse_safetensors_index(read_json(path), path, faults);
  faults.raise_if_any(path + " is no index of shards");
  const size_t slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
  std::set<std::string> files;
  std::unordered_map<std::string, std::string> expected;  // tensor -> file
  for (const auto& [tensor, file] : weight_map) {
    files.insert(file);
    expected[tensor] = join_path(folder, file);
  }
  for (const std::string& file : files) {
    const std::string shard = join_path(folder, file);
    if (!exists(shard)) {
      throw Error(fmt::format("{}: names the shard {}, found no such file", path, visible(shard)),
                  "fetch the missing shard");
    }
    open_file(shard);
  }
  metadata_.clear();
  std::unordered_map<std::string, std::string> found;
  for (const StoredTensor& tensor : tensors_) found[tensor.name] = tensor.file;
  for (const auto& [tensor, name] : weight_map) {
    const std::string& file = expected[tensor];
    const auto where = found.find(tensor);
    if (where == found.end() || where->second != file) {
      fail(path, fmt::format("tensor {}: expected in {}, found {}", visible(tensor), file,
                             where == found.end() ? "in no shard" : "in " + where->second));
    }
  }
  for (const StoredTensor& tensor : tensors_) {
    if (!expected.contains(tensor.name)) {
      fail(tensor.file, fmt::format("tensor {} is not in {}", visible(tensor.name), path));
    }
  }
}

void SafetensorsReader::check_unchanged() const {
  for (const MappedFile& map : maps_) map.check_unchanged();
}

const StoredTensor* SafetensorsReader::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

const StoredTensor& SafetensorsReader::at(const std::string& name) const {
  const StoredTensor* tensor = find(name);
  if (tensor == nullptr) {
    throw Error(
        fmt::format("{}: tensor {}: expected, found none among {} tensors", path_, visible(name), tensors_.size()),
        "the checkpoint and its config.json do not belong together, or the checkpoint is incomplete");
  }
  return *tensor;
}

const StoredTensor& SafetensorsReader::at(const std::string& name, const std::vector<int64_t>& shape) const {
  const StoredTensor& tensor = at(name);
  if (tensor.shape != shape) {
    throw Error(fmt::format("{}: tensor {}: expected shape {}, found {}", tensor.file, name, shape_text(shape),
                            shape_text(tensor.shape)),
                "the checkpoint and its config.json do not belong together");
  }
  return tensor;
}

namespace {

// Values that may lie unaligned, a block of fixed size at a time, so that the loop becomes vector code.
template <class ToFloat>
void widen(const uint8_t* data, int64_t size, float* out, const ToFloat& to_float) {
  constexpr int64_t kBlock = 64;
  uint16_t block[kBlock];
  for (; size >= kBlock; size -= kBlock, data += sizeof(block), out += kBlock) {
    float values[kBlock];
    std::memcpy(block, data, sizeof(block));
    for (int64_t i = 0; i < kBlock; ++i) values[i] = to_float(block[i]);
    std::memcpy(out, values, sizeof(values));
  }
  std::memcpy(block, data, static_cast<size_t>(size) * 2);
  for (int64_t i = 0; i < size; ++i) out[i] = to_float(block[i]);
}

}  // namespace

void read_floats(StoredType type, const uint8_t* data, int64_t size, float* out) {
  if (size == 0) return;
  if (type == StoredType::f32) {
    std::memcpy(out, data, static_cast<size_t>(size) * 4);
  } else if (type == StoredType::f16) {
    widen(data, size, out, [](uint16_t bits) { return half_to_float(bits); });
  } else {
    HONE_CHECK(type == StoredType::bf16, "{} as float", name(type));
    widen(data, size, out, [](uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); });
  }
}

void read_floats(const StoredTensor& tensor, int64_t begin, int64_t size, float* out) {
  HONE_CHECK(begin >= 0 && size >= 0 && begin <= tensor.size - size, "elements {}+{} of {} with {}", begin, size,
             tensor.name, tensor.size);
  if (size == 0) return;
  if (tensor.type != StoredType::f32 && tensor.type != StoredType::bf16 && tensor.type != StoredType::f16) {
    throw Error(
        fmt::format("{}: tensor {}: expected F32, BF16 or F16, found {}", tensor.file, tensor.name, name(tensor.type)));
  }
  read_floats(tensor.type, tensor.data + begin * io::size_bytes(tensor.type), size, out);
}

std::vector<float> read_floats(const StoredTensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.size));
  read_floats(tensor, 0, tensor.size, values.data());
  return values;
}

void read_bytes(const StoredTensor& tensor, StoredType type, void* out, int64_t bytes) {
  if (tensor.type != type || tensor.size_bytes() != bytes) {
    throw Error(fmt::format("{}: tensor {}: expected {} and {} bytes, found {} and {}", tensor.file, tensor.name,
                            name(type), bytes, name(tensor.type), tensor.size_bytes()));
  }
  if (bytes > 0) std::memcpy(out, tensor.data, static_cast<size_t>(bytes));
}

}  // namespace hone::io
