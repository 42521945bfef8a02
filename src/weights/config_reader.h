// ConfigReader: typed keys of the config.json of a model, with every fault collected as "file: key: expected, found".
// Private to weights/.
#pragma once

#include <optional>
#include <string>

#include "io/faults.h"
#include "io/json.h"

namespace hone::weights {

class ConfigReader {
 public:
  // `object` must outlive the reader.
  ConfigReader(const io::Json& object, std::string file) : object_(object), file_(std::move(file)) {}

  const io::Json* present(std::string_view key) const;  // nullptr when absent or null
  bool has(std::string_view key) const { return object_.find(key) != nullptr; }

  // A positive integer; where the key is absent `fallback`, without one a fault.
  int64_t size(const char* key, std::optional<int64_t> fallback);
  bool flag(const char* key, bool fallback);
  // A number above 0 that a float can hold; `fallback` where the value is absent or null.
  double positive(const io::Json* value, const std::string& key, double fallback);

  void fault(const std::string& key, const std::string& what);
  void expected(const std::string& key, const std::string& expected, const io::Json& found);
  const io::Faults& faults() const { return faults_; }

 private:
  const io::Json& object_;
  std::string file_;
  io::Faults faults_;
};

}  // namespace hone::weights
