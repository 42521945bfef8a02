// The writer of GGUF files.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/gguf.h"
#include "io/gguf_values.h"

namespace hone::io {

namespace {

template <class T>
void append_number(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}
void append_text(std::string& out, std::string_view text) {
  append_number(out, static_cast<uint64_t>(text.size()));
  out += text;
}

GgufType gguf_type_of(const Json& value) {
  if (value.is_bool()) return GgufType::boolean;
  if (value.is_string()) return GgufType::string;
  if (value.is_array()) return GgufType::array;
  if (!value.is_int()) return GgufType::f32;
  return value.as_int() >= 0 && value.as_int() <= UINT32_MAX ? GgufType::u32 : GgufType::i64;
}

// Of a list: readers expect integers as i32.
GgufType gguf_item_type(const Json::Array& items) {
  if (items.empty() || !items.front().is_int()) return items.empty() ? GgufType::i32 : gguf_type_of(items.front());
  const bool fit = std::all_of(items.begin(), items.end(), [](const Json& item) {
    return item.as_int() >= INT32_MIN && item.as_int() <= INT32_MAX;
  });
  return fit ? GgufType::i32 : GgufType::i64;
}

void append_gguf(std::string& out, GgufType type, const Json& value) {
  switch (type) {
    case GgufType::boolean:
      return append_number(out, static_cast<uint8_t>(value.as_bool()));
    case GgufType::string:
      return append_text(out, value.as_string());
    case GgufType::u32:
      return append_number(out, static_cast<uint32_t>(value.as_int()));
    case GgufType::i32:
      return append_number(out, static_cast<int32_t>(value.as_int()));
    case GgufType::i64:
      return append_number(out, value.as_int());
    case GgufType::f32:
      return append_number(out, value.as_float());
    default:
      break;
  }
  const Json::Array& items = value.as_array();
  const GgufType item = gguf_item_type(items);
  append_number(out, static_cast<uint32_t>(item));
  append_number(out, static_cast<uint64_t>(items.size()));
  for (const Json& one : items) append_gguf(out, item, one);
}

}  // namespace

void GgufWriter::set(const std::string& key, Json value) { metadata_.set(key, std::move(value)); }

void GgufWriter::add(const std::string& name, std::vector<int64_t> shape, GgmlType type, Source source) {
  const GgmlForm& form = ggml_form(type);
  const int64_t cols = shape.empty() ? 1 : shape.back();
  int64_t size = 1;
  for (const int64_t extent : shape) size *= extent;
  HONE_CHECK(form.write != nullptr && cols > 0 && cols % form.elements == 0, "{} columns of {}", cols, form.name);
  entries_.push_back({name, std::move(shape), type, size / cols, cols, std::move(source)});
}

void GgufWriter::write(const std::string& path, const std::function<void()>& check) const {
  std::string head = "GGUF";
  append_number(head, uint32_t{3});
  append_number(head, static_cast<uint64_t>(entries_.size()));
  append_number(head, static_cast<uint64_t>(metadata_.as_object().size()));
  for (const auto& [key, value] : metadata_.as_object()) {
    append_text(head, key);
    append_number(head, static_cast<uint32_t>(gguf_type_of(value)));
    append_gguf(head, gguf_type_of(value), value);
  }
  const auto row_bytes = [](const Entry& entry) {
    const GgmlForm& form = ggml_form(entry.type);
    return entry.cols / form.elements * form.bytes;
  };
  int64_t offset = 0;
  for (const Entry& entry : entries_) {
    append_text(head, entry.name);
    append_number(head, static_cast<uint32_t>(entry.shape.size()));
    for (size_t d = entry.shape.size(); d-- > 0;) append_number(head, static_cast<uint64_t>(entry.shape[d]));
    append_number(head, static_cast<uint32_t>(entry.type));
    append_number(head, static_cast<uint64_t>(offset));
    offset += align_gguf(entry.rows * row_bytes(entry), kGgufAlignment);
  }
  head.resize(static_cast<size_t>(align_gguf(static_cast<int64_t>(head.size()), kGgufAlignment)));
  AtomicFile file(path);
  file.write(head);
  for (const Entry& entry : entries_) {
    const GgmlForm& form = ggml_form(entry.type);
    std::vector<float> row(static_cast<size_t>(entry.cols));
    std::vector<uint8_t> bytes(static_cast<size_t>(row_bytes(entry)));
    for (int64_t r = 0; r < entry.rows; ++r) {
      entry.source(r, row.data());
      for (const float value : row) {
        if (!(std::fabs(value) <= form.largest)) {
          throw Error(fmt::format("{}: tensor {}: expected numbers up to {}, as {} holds them, found {}", path,
                                  entry.name, form.largest, form.name, value),
                      "write another type");
        }
      }
      uint8_t* block = bytes.data();
      for (int64_t i = 0; i < entry.cols; i += form.elements, block += form.bytes) form.write(row.data() + i, block);
      file.write(bytes.data(), row_bytes(entry));
    }
    const int64_t size = entry.rows * row_bytes(entry);
    file.write(std::string(static_cast<size_t>(align_gguf(size, kGgufAlignment) - size), '\0'));
  }
  if (check) check();
  file.commit();
}

}  // namespace hone::io
