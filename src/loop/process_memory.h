// Memory of this process and of the machine, from /proc and the control group.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hone {

double gib(double bytes);  // in units of 2^30
int64_t resident_bytes();
// The largest so far; absent where the system does not say.
std::optional<int64_t> peak_resident_bytes();
// Lets peak_resident_bytes() begin anew from what is resident now. False where the system does not do it.
bool reset_peak_resident();
// What can still be had without swapping: MemAvailable, or what is left of the control group's limit if that is less.
int64_t available_bytes();

// Memory of the machine, or the control group's limit if that is less.
int64_t machine_bytes();

// A run's need by part, in bytes; a double, because absurd sizes have to be refused, not to overflow.
struct MemoryPart {
  std::string name;
  double size_bytes = 0;
};
bool fits_memory(const std::vector<MemoryPart>& parts);
// Raises Error with the parts, their sum and what is available when the sum does not fit.
void check_memory(const std::vector<MemoryPart>& parts);

}  // namespace hone
