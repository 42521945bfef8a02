// The writer of safetensors.
#include <algorithm>
#include <cstring>
#include <set>

#include "core/bf16.h"
#include "core/error.h"
#include "io/atomic_file.h"
#include "io/half.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace hone::io {
namespace {

constexpr int64_t kChunk = 1 << 16;  // elements converted and written at once: 256 KiB of floats

void write_floats(AtomicFile& file, StoredType type, int64_t size, const SafetensorsWriter::Source& source) {
  std::vector<float> values(static_cast<size_t>(std::min(size, kChunk)));
  std::vector<uint16_t> narrow(type == StoredType::f32 ? 0 : values.size());
  for (int64_t begin = 0; begin < size; begin += kChunk) {
    const int64_t n = std::min(kChunk, size - begin);
    source(begin, n, values.data());
    if (type == StoredType::f32) {
      file.write(values.data(), n * 4);
      continue;
    }
    for (int64_t i = 0; i < n; ++i) {
      const float value = values[static_cast<size_t>(i)];
      narrow[static_cast<size_t>(i)] = type == StoredType::bf16 ? bf16(value).bits : float_to_half(value);
    }
    file.write(narrow.data(), n * 2);
  }
}

}  // namespace

void SafetensorsWriter::add_entry(Entry entry) {
  HONE_CHECK(entry.name != "__metadata__", "a tensor cannot be called __metadata__");
  entry.size = 1;
  for (int64_t extent : entry.shape) {
    HONE_CHECK(extent >= 0 && !__builtin_mul_overflow(entry.size, extent, &entry.size), "tensor {} of shape {}",
               entry.name, shape_text(entry.shape));
  }
  entries_.push_back(std::move(entry));
}

void SafetensorsWriter::add(const std::string& name, std::vector<int64_t> shape, StoredType type, Source source) {
  HONE_CHECK(type == StoredType::f32 || type == StoredType::bf16 || type == StoredType::f16, "floats stored as {}",
             io::name(type));
  add_entry({name, std::move(shape), type, 0, std::move(source), nullptr});
}

void SafetensorsWriter::add(const std::string& name, std::vector<int64_t> shape, StoredType type, const float* data) {
  add(name, std::move(shape), type, [data](int64_t begin, int64_t size, float* out) {
    std::memcpy(out, data + begin, static_cast<size_t>(size) * sizeof(float));
  });
}

void SafetensorsWriter::add_bytes(const std::string& name, std::vector<int64_t> shape, StoredType type,
                                  const void* data) {
  add_entry({name, std::move(shape), type, 0, nullptr, data});
}

void SafetensorsWriter::set_metadata(const std::string& key, const std::string& value) {
  for (auto& pair : metadata_) {
    if (pair.first == key) {
      pair.second = value;
      return;
    }
  }
  metadata_.emplace_back(key, value);
}

void SafetensorsWriter::write(const std::string& path) const {
  std::vector<const Entry*> order;
  std::set<std::string> names;
  for (const Entry& entry : entries_) {
    HONE_CHECK(names.insert(entry.name).second, "tensor {} comes twice", entry.name);
    order.push_back(&entry);
  }
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
    const int64_t left = size_bytes(a->type), right = size_bytes(b->type);
    return left != right ? left > right : a->name < b->name;
  });

  Json header = Json::object();
  Json& metadata = header.set("__metadata__", Json::object());
  for (const auto& [key, value] : metadata_) metadata.set(key, value);
  int64_t offset = 0;
  for (const Entry* entry : order) {
    const int64_t end = offset + entry->size * size_bytes(entry->type);
    Json::Array shape(entry->shape.begin(), entry->shape.end());
    // Names are distinct, so they are put without looking for an older one.
    header.object_members().push_back({entry->name, Json::object({{"dtype", io::name(entry->type)},
                                                                  {"shape", std::move(shape)},
                                                                  {"data_offsets", Json::array({offset, end})}})});
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(text.size() >> (8 * i));

  AtomicFile file(path);
  file.write(length, 8);
  file.write(text);
  for (const Entry* entry : order) {
    if (entry->source) {
      write_floats(file, entry->type, entry->size, entry->source);
    } else {
      file.write(entry->data, entry->size * size_bytes(entry->type));
    }
  }
  file.commit();
}

}  // namespace hone::io
