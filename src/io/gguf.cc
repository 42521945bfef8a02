#include "io/gguf.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "io/gguf_values.h"
#include "io/utf8.h"

namespace hone::io {

namespace {

constexpr uint32_t kMaxDimensions = 4;
constexpr int kMaxNesting = 4;  // of lists
// A value in memory takes many times its bytes, so what a file may ask for is bounded. A vocabulary of 256,000 tokens
// with its types and merges is under a million values in some 12 MB.
constexpr int64_t kMaxValues = 10'000'000, kMaxHeadBytes = int64_t{256} << 20, kMaxTensors = 100'000;

// Takes values from the front of the bytes.
class Cursor {
 public:
  Cursor(std::span<const uint8_t> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  int64_t at() const { return at_; }
  int64_t left() const { return static_cast<int64_t>(bytes_.size()) - at_; }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("{}: byte {}: {}", name_, at_, what), "fetch the file again, or convert the model anew");
  }

  const uint8_t* take(int64_t size, const char* what) {
    if (size < 0 || size > left()) fail(fmt::format("expected {} of {} bytes, found the end of the file", what, size));
    if (size > kMaxHeadBytes - at_) fail(fmt::format("expected at most {} bytes before the data", kMaxHeadBytes));
    const uint8_t* data = bytes_.data() + at_;
    at_ += size;
    return data;
  }
  template <class T>
  T number(const char* what) {
    static_assert(std::endian::native == std::endian::little);
    T value;
    std::memcpy(&value, take(sizeof(T), what), sizeof(T));
    return value;
  }
  // A count of things of at least `least_bytes` each, so no absurd number asks for memory.
  int64_t count(int64_t least_bytes, const char* what) {
    const auto value = number<uint64_t>(what);
    if (value > static_cast<uint64_t>(left() / least_bytes)) {
      fail(fmt::format("expected {} to fit the file, found {}", what, value));
    }
    return static_cast<int64_t>(value);
  }
  std::string string(const char* what) {
    const int64_t size = count(1, what);
    const std::string_view text(reinterpret_cast<const char*>(take(size, what)), static_cast<size_t>(size));
    if (find_broken_utf8(text) != std::string_view::npos) fail(fmt::format("expected {} in UTF-8", what));
    return std::string(text);
  }

  Json value(GgufType type, int nesting = 0) {
    if (++values_ > kMaxValues) fail(fmt::format("expected at most {} values of metadata", kMaxValues));
    switch (type) {
      case GgufType::u8:
        return int64_t{number<uint8_t>("u8")};
      case GgufType::i8:
        return int64_t{number<int8_t>("i8")};
      case GgufType::u16:
        return int64_t{number<uint16_t>("u16")};
      case GgufType::i16:
        return int64_t{number<int16_t>("i16")};
      case GgufType::u32:
        return int64_t{number<uint32_t>("u32")};
      case GgufType::i32:
        return int64_t{number<int32_t>("i32")};
      case GgufType::f32:
        return double{number<float>("f32")};
      case GgufType::boolean:
        return number<uint8_t>("bool") != 0;
      case GgufType::string:
        return string("a text");
      case GgufType::u64:
        return number<uint64_t>("u64");
      case GgufType::i64:
        return number<int64_t>("i64");
      case GgufType::f64:
        return number<double>("f64");
      case GgufType::array:
        break;
    }
    if (nesting == kMaxNesting) fail(fmt::format("expected lists nested at most {} deep", kMaxNesting));
    const GgufType item = value_type();
    Json::Array items;
    int64_t left = count(least_bytes(item), "the length of a list");
    items.reserve(static_cast<size_t>(std::min(left, kMaxValues)));
    for (; left > 0; --left) items.push_back(value(item, nesting + 1));
    return items;
  }
  // The same for a list whose values are not needed.
  void pass_over_list(int nesting = 0) {
    if (nesting == kMaxNesting) fail(fmt::format("expected lists nested at most {} deep", kMaxNesting));
    const GgufType item = value_type();
    int64_t left = count(least_bytes(item), "the length of a list");
    if (left > kMaxValues - values_) fail(fmt::format("expected at most {} values of metadata", kMaxValues));
    values_ += left;
    if (item != GgufType::string && item != GgufType::array) take(left * least_bytes(item), "the values of a list");
    for (; left > 0 && item == GgufType::string; --left) take(count(1, "a text"), "a text");
    for (; left > 0 && item == GgufType::array; --left) pass_over_list(nesting + 1);
  }
  // Of one value: a number's size, or what a text or list has at least.
  static int64_t least_bytes(GgufType type) {
    constexpr int64_t kBytes[kNumGgufTypes] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};
    return kBytes[static_cast<uint32_t>(type)];
  }
  GgufType value_type() {
    const auto type = number<uint32_t>("a type");
    if (type >= kNumGgufTypes) fail(fmt::format("expected a type of metadata below {}, found {}", kNumGgufTypes, type));
    return static_cast<GgufType>(type);
  }

 private:
  std::span<const uint8_t> bytes_;
  const std::string& name_;
  int64_t at_ = 0, values_ = 0;
};

Json read_metadata(Cursor& in, int64_t count, GgufLists lists) {
  Json::Object members;
  std::unordered_set<std::string> seen;
  for (int64_t i = 0; i < count; ++i) {
    std::string key = in.string("a key");
    if (!seen.insert(key).second) in.fail(fmt::format("expected every key once, found \"{}\" twice", key));
    const GgufType type = in.value_type();
    if (type == GgufType::array && lists == GgufLists::pass_over && key.starts_with("tokenizer.")) {
      in.pass_over_list();
      continue;
    }
    Json value = in.value(type);
    members.push_back({std::move(key), std::move(value)});
  }
  return members;
}

struct PlacedTensor {
  GgufTensor tensor;
  uint64_t offset = 0, bytes = 0;
};

PlacedTensor read_tensor_info(Cursor& in) {
  PlacedTensor placed;
  GgufTensor& tensor = placed.tensor;
  tensor.name = in.string("the name of a tensor");
  const auto dimensions = in.number<uint32_t>("a number of dimensions");
  if (dimensions > kMaxDimensions) {
    in.fail(
        fmt::format("tensor {}: expected at most {} dimensions, found {}", tensor.name, kMaxDimensions, dimensions));
  }
  uint64_t size = 1;
  for (uint32_t d = 0; d < dimensions; ++d) {
    const auto extent = in.number<uint64_t>("an extent");
    if (extent == 0 || extent > INT64_MAX || __builtin_mul_overflow(size, extent, &size) || size > INT64_MAX / 4) {
      in.fail(fmt::format("tensor {}: expected a size that can be, found an extent of {}", tensor.name, extent));
    }
    tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(extent));
  }
  const auto type = in.number<uint32_t>("the type of a tensor");
  const GgmlForm* form = find_ggml_form(type);
  if (form == nullptr) {
    in.fail(
        fmt::format("tensor {}: expected one of {}, found {}", tensor.name, ggml_types_read(), ggml_type_name(type)));
  }
  tensor.type = form->type;
  tensor.cols = tensor.shape.empty() ? 1 : tensor.shape.back();
  if (tensor.cols % form->elements != 0) {
    in.fail(fmt::format("tensor {}: expected rows of a multiple of {} for {}, found {}", tensor.name, form->elements,
                        form->name, tensor.cols));
  }
  tensor.rows = static_cast<int64_t>(size) / tensor.cols;
  placed.bytes = size / static_cast<uint64_t>(form->elements) * static_cast<uint64_t>(form->bytes);
  placed.offset = in.number<uint64_t>("the place of a tensor");
  return placed;
}

int64_t alignment_of(const Json& metadata, const Cursor& in) {
  const Json* alignment = metadata.find("general.alignment");
  if (alignment == nullptr) return kGgufAlignment;
  if (!alignment->is_int() || alignment->as_int() < 1 || alignment->as_int() > (1 << 20) ||
      !std::has_single_bit(static_cast<uint64_t>(alignment->as_int()))) {
    in.fail(fmt::format("expected general.alignment to be a power of two, found {}", alignment->describe()));
  }
  return alignment->as_int();
}

// Each within the data, none over another.
void check_places(const std::vector<PlacedTensor>& all, uint64_t data_bytes, uint64_t alignment, const Cursor& in) {
  std::vector<const PlacedTensor*> in_order;
  for (const PlacedTensor& placed : all) {
    if (placed.offset % alignment != 0 || placed.offset > data_bytes || placed.bytes > data_bytes - placed.offset) {
      in.fail(fmt::format("tensor {}: expected {} bytes at a multiple of {} within {} bytes of data, found them at {}",
                          placed.tensor.name, placed.bytes, alignment, data_bytes, placed.offset));
    }
    in_order.push_back(&placed);
  }
  std::sort(in_order.begin(), in_order.end(), [](const auto* a, const auto* b) { return a->offset < b->offset; });
  for (size_t i = 1; i < in_order.size(); ++i) {
    const PlacedTensor &before = *in_order[i - 1], &after = *in_order[i];
    if (after.offset - before.offset >= before.bytes) continue;
    in.fail(fmt::format("tensor {}: expected after the {} bytes of tensor {} at {}, found at {}", after.tensor.name,
                        before.bytes, before.tensor.name, before.offset, after.offset));
  }
}

}  // namespace

bool is_gguf(const std::string& path) { return path.ends_with(".gguf") && !is_folder(path); }

GgufContent parse_gguf(std::span<const uint8_t> bytes, const std::string& name, GgufLists lists) {
  Cursor in(bytes, name);
  if (in.left() < 4 || std::memcmp(in.take(4, "the letters GGUF"), "GGUF", 4) != 0) {
    throw Error(fmt::format("{}: expected a GGUF file, found other bytes at its start", name));
  }
  const auto version = in.number<uint32_t>("a version");
  if (version != 2 && version != 3) in.fail(fmt::format("expected version 2 or 3, found {}", version));
  const int64_t num_tensors = in.count(24, "the number of tensors"), num_keys = in.count(13, "the number of keys");
  if (num_tensors > kMaxTensors)
    in.fail(fmt::format("expected at most {} tensors, found {}", kMaxTensors, num_tensors));
  GgufContent content;
  content.metadata = read_metadata(in, num_keys, lists);
  const int64_t alignment = alignment_of(content.metadata, in);
  std::vector<PlacedTensor> all;
  std::unordered_set<std::string> seen;
  for (int64_t i = 0; i < num_tensors; ++i) {
    all.push_back(read_tensor_info(in));
    const std::string& tensor = all.back().tensor.name;
    if (!seen.insert(tensor).second) in.fail(fmt::format("expected every tensor once, found {} twice", tensor));
  }
  const int64_t begin = std::min<int64_t>(align_gguf(in.at(), alignment), static_cast<int64_t>(bytes.size()));
  const uint64_t data_bytes = bytes.size() - static_cast<uint64_t>(begin);
  check_places(all, data_bytes, static_cast<uint64_t>(alignment), in);
  for (PlacedTensor& placed : all) {
    placed.tensor.data = bytes.data() + begin + placed.offset;
    content.tensors.push_back(std::move(placed.tensor));
  }
  return content;
}

const GgufTensor* GgufContent::find(std::string_view name) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const GgufTensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

GgufReader::GgufReader(const std::string& path, GgufLists lists) : map_(path) {
  content_ = parse_gguf({map_.data(), static_cast<size_t>(map_.size_bytes())}, path, lists);
  const Json* parts = content_.metadata.find("split.count");
  if (parts != nullptr && parts->is_int() && parts->as_int() > 1) {
    throw Error(fmt::format("{}: expected a whole model, found a part of {}", path, parts->as_int()),
                "llama-gguf-split --merge makes one file of them");
  }
}

}  // namespace hone::io
