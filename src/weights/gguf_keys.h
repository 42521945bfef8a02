// GgufKeys: typed keys of the metadata of a GGUF file under the name of its architecture. Private to weights/gguf_*.cc.
#pragma once

#include <optional>
#include <string>

#include "io/gguf.h"
#include "weights/families.h"

namespace hone::weights {

class GgufKeys {
 public:
  // `content` must outlive this; `name` is what errors call the file. Raises Error for another architecture.
  GgufKeys(const io::GgufContent& content, std::string name);

  const FamilyRow& family() const { return *family_; }
  std::string key(const std::string& rest) const;  // "llama.REST"
  const io::Json* find(const std::string& rest) const { return content_.metadata.find(key(rest)); }
  const io::GgufTensor* tensor(std::string_view name) const { return content_.find(name); }
  const std::string& file() const { return name_; }

  // Above 0; where it is absent `otherwise`, or an Error.
  int64_t size(const std::string& rest, std::optional<int64_t> otherwise = std::nullopt) const;
  // The same, as short as names the float that the file holds.
  io::Json number(const std::string& rest, std::optional<float> otherwise = std::nullopt) const;
  // Raises Error unless the key is absent or neutral.
  void expect(const std::string& rest, const io::Json& neutral) const;
  [[noreturn]] void fail(const std::string& rest, const std::string& expected) const;

 private:
  [[noreturn]] void fail(const std::string& at, const std::string& expected, const io::Json* found) const;

  const io::GgufContent& content_;
  std::string name_;
  const FamilyRow* family_ = nullptr;
};

}  // namespace hone::weights
