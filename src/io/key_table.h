// KeyTable: finds the keys of one object that come twice, while it is read: linear while small, then an open-addressed
// table of member numbers, so that a large object takes linear time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "io/json.h"

namespace hone::io {

class KeyTable {
 public:
  // True when the last of the members has the key of an earlier one. To be asked after each member that is added.
  bool repeats(const Json::Object& members) {
    constexpr size_t kSmall = 16;
    const size_t last = members.size() - 1;
    if (last < kSmall) {
      for (size_t i = 0; i < last; ++i) {
        if (members[i].key == members[last].key) return true;
      }
      return false;
    }
    if (members.size() * 2 > slots_.size()) {
      slots_.assign(members.size() * 4, 0);
      for (size_t i = 0; i < last; ++i) put(members, i);
    }
    return put(members, last);
  }

 private:
  bool put(const Json::Object& members, size_t i) {
    size_t slot = std::hash<std::string>()(members[i].key) % slots_.size();
    while (slots_[slot] != 0) {
      if (members[slots_[slot] - 1].key == members[i].key) return true;
      slot = slot + 1 == slots_.size() ? 0 : slot + 1;
    }
    slots_[slot] = static_cast<uint32_t>(i) + 1;
    return false;
  }
  std::vector<uint32_t> slots_;
};

}  // namespace hone::io
