#include "weights/gguf_keys.h"

#include <cmath>
#include <utility>

#include "core/error.h"

namespace hone::weights {

using io::Json;

GgufKeys::GgufKeys(const io::GgufContent& content, std::string name) : content_(content), name_(std::move(name)) {
  const Json* found = content_.metadata.find("general.architecture");
  for (const FamilyRow& row : kFamilies) {
    if (found != nullptr && *found == Json(hone::name(row.family))) family_ = &row;
  }
  if (family_ == nullptr) fail("general.architecture", "llama, qwen2 or qwen3", found);
}

std::string GgufKeys::key(const std::string& rest) const {
  return fmt::format("{}.{}", hone::name(family_->family), rest);
}

int64_t GgufKeys::size(const std::string& rest, std::optional<int64_t> otherwise) const {
  const Json* value = find(rest);
  if (value == nullptr && otherwise) return *otherwise;
  if (value == nullptr || !value->is_int() || value->as_int() <= 0) fail(rest, "a size above 0");
  return value->as_int();
}

Json GgufKeys::number(const std::string& rest, std::optional<float> otherwise) const {
  const Json* value = find(rest);
  if (value == nullptr && otherwise) return *otherwise;
  if (value == nullptr || !value->is_number() || !(value->as_float() > 0) || !std::isfinite(value->as_float())) {
    fail(rest, "a number above 0");
  }
  return value->as_float();
}

void GgufKeys::expect(const std::string& rest, const Json& neutral) const {
  const Json* value = find(rest);
  if (value == nullptr || *value == neutral) return;
  if (value->is_number() && neutral.is_number() && value->as_double() == neutral.as_double()) return;
  fail(rest, neutral.dump());
}

void GgufKeys::fail(const std::string& rest, const std::string& expected) const {
  fail(key(rest), expected, find(rest));
}

void GgufKeys::fail(const std::string& at, const std::string& expected, const Json* found) const {
  throw Error(
      fmt::format("{}: {}: expected {}, found {}", name_, at, expected, found == nullptr ? "none" : found->describe()),
      "dense models of the Llama, Qwen2 and Qwen3 families run; docs/models.md");
}

}  // namespace hone::weights
