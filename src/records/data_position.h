// DataPosition: where a run stands in its data. With the seed it gives every later draw, so it is all that a
// checkpoint keeps of the data order.
#pragma once

#include <cstdint>

namespace hone {

struct DataPosition {
  int64_t epoch = 0;
  int64_t index = 0;  // next row of the epoch's order
  uint64_t draw = 0;  // number of the next prompt of the run; never repeats
  bool operator==(const DataPosition&) const = default;
};

}  // namespace hone
