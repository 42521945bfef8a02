// Commas in numbers.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// Commas of "1,234,567.8" go; those that do not separate groups of three, or stand in brackets, stay.
std::string without_thousands(std::string_view number);

}  // namespace hone
