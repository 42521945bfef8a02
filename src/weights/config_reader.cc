#include "weights/config_reader.h"

#include <limits>

#include "core/error.h"

namespace hone::weights {

const io::Json* ConfigReader::present(std::string_view key) const {
  const io::Json* value = object_.find(key);
  return value != nullptr && !value->is_null() ? value : nullptr;
}

int64_t ConfigReader::size(const char* key, std::optional<int64_t> fallback) {
  const io::Json* value = present(key);
  if (value == nullptr) {
    if (fallback) return *fallback;
    fault(key, "missing");
    return 1;
  }
  if (!value->is_int() || value->as_int() < 1 || value->as_int() > (int64_t{1} << 31)) {
    expected(key, "a positive integer", *value);
    return 1;
  }
  return value->as_int();
}

bool ConfigReader::flag(const char* key, bool fallback) {
  const io::Json* value = present(key);
  if (value == nullptr) return fallback;
  if (value->is_bool()) return value->as_bool();
  expected(key, "true or false", *value);
  return fallback;
}

double ConfigReader::positive(const io::Json* value, const std::string& key, double fallback) {
  if (value == nullptr || value->is_null()) return fallback;
  // as a float it must be neither 0 nor infinite
  if (!value->is_number() || !(value->as_double() >= double{std::numeric_limits<float>::min()}) ||
      value->as_double() > double{std::numeric_limits<float>::max()}) {
    expected(key, "a number above 0", *value);
    return fallback;
  }
  return value->as_double();
}

void ConfigReader::fault(const std::string& key, const std::string& what) {
  faults_.add(fmt::format("{}: {}: {}", file_, key, what));
}

void ConfigReader::expected(const std::string& key, const std::string& expected, const io::Json& found) {
  fault(key, fmt::format("expected {}, found {}", expected, found.describe()));
}

}  // namespace hone::weights
