// DataHash: a fingerprint of a data set (FNV-1a, 64 bits), by which a resumed run knows that its data is the same.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace hone {

class DataHash {
 public:
  void add(std::string_view text) {
    add_number(text.size(), 8);
    for (const char c : text) add_number(static_cast<unsigned char>(c), 1);
  }
  void add(const std::vector<int32_t>& ids) {
    add_number(ids.size(), 8);
    for (const int32_t id : ids) add_number(static_cast<uint32_t>(id), 4);
  }
  uint64_t value() const { return hash_; }

 private:
  void add_number(uint64_t value, int num_bytes) {
    for (int k = 0; k < num_bytes; ++k) hash_ = (hash_ ^ ((value >> (8 * k)) & 0xFF)) * 0x100000001B3ull;
  }
  uint64_t hash_ = 0xCBF29CE484222325ull;
};

}  // namespace hone
