// SHA-256 (FIPS 180-4), as sha256sum prints it.
#pragma once

#include <string>
#include <string_view>

namespace hone::text {

std::string sha256(std::string_view bytes);  // 64 hexadecimal digits

}  // namespace hone::text
