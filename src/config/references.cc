#include "config/references.h"

#include <cstdlib>
#include <vector>

#include "core/error.h"
#include "io/yaml.h"

namespace hone::config {
namespace {

using io::Json;

class Resolver {
 public:
  explicit Resolver(const Lookup& lookup) : lookup_(lookup) {}

  Json resolve(const Json& value) {
    if (value.is_string()) return resolve_text(value.as_string());
    Json result = value;
    if (value.is_array()) {
      for (Json& item : result.array_items()) item = resolve(item);
    } else if (value.is_object()) {
      for (Json::Member& member : result.object_members()) member.value = resolve(member.value);
    }
    return result;
  }

 private:
  Json resolve_text(const std::string& text) {
    std::string result;
    for (size_t at = 0; at < text.size();) {
      const size_t begin = text.find("${", at);
      result.append(text, at, std::min(begin, text.size()) - at);
      if (begin == std::string::npos) break;
      const size_t end = text.find('}', begin);
      if (end == std::string::npos) throw Error(fmt::format("{} has no closing brace", text.substr(begin)));
      const Json value = follow(text.substr(begin + 2, end - begin - 2));
      if (begin == 0 && end + 1 == text.size()) return value;
      result += value.is_string() ? value.as_string() : io::flow_yaml(value);
      at = end + 1;
    }
    return result;
  }

  Json follow(const std::string& name) {
    const size_t colon = name.find(':');
    if (colon != std::string::npos) return follow_environment(name, colon);
    for (const std::string& open : open_) {
      if (open == name) throw Error(fmt::format("${{{}}} leads back to itself", name));
    }
    const std::optional<Json> value = lookup_(name);
    if (!value.has_value()) throw Error(fmt::format("${{{}}} names no key", name));
    open_.push_back(name);
    Json result = resolve(*value);
    open_.pop_back();
    return result;
  }

  static Json follow_environment(const std::string& name, size_t colon) {
    if (name.substr(0, colon) != "oc.env") {
      throw Error(fmt::format("${{{}}}: of the resolvers only oc.env is known", name));
    }
    const std::string arguments = name.substr(colon + 1);
    const size_t comma = arguments.find(',');
    const std::string variable = arguments.substr(0, comma);
    if (const char* value = std::getenv(variable.c_str())) return io::plain_scalar(value);
    if (comma == std::string::npos) throw Error(fmt::format("environment variable {} is not set", variable));
    return io::plain_scalar(arguments.substr(comma + 1));
  }

  const Lookup& lookup_;
  std::vector<std::string> open_;
};

}  // namespace

Json resolve_references(const Json& value, const Lookup& lookup) { return Resolver(lookup).resolve(value); }

}  // namespace hone::config
