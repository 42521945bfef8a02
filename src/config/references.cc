#include "config/references.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "config/spaces.h"
#include "core/error.h"
#include "io/yaml.h"

namespace hone::config {
namespace {

using io::Json;

// References multiply: each of forty keys may name the one before it twice.
constexpr size_t kLongest = 1'000'000;
constexpr size_t kDeepestLevel = 100;
constexpr size_t kMostFollowed = 10'000;
constexpr size_t kMostBytes = size_t{64} << 20;

// Of the brace that closes the one before `from`; nested references are passed over.
size_t closing_brace(const std::string& text, size_t from) {
  int open = 1;
  for (size_t i = from; i < text.size(); ++i) {
    if (text[i] == '$' && i + 1 < text.size() && text[i + 1] == '{') {
      ++open;
      ++i;
    } else if (text[i] == '}' && --open == 0) {
      return i;
    }
  }
  return std::string::npos;
}

// A default behind a comma: text in quotes, or a plain scalar.
Json default_of(std::string_view text) {
  const std::string_view value = trim(text);
  const bool quoted = value.size() >= 2 && value.front() == value.back() && (value[0] == '\'' || value[0] == '"');
  if (value == "[]") return Json::array();
  return quoted ? Json(value.substr(1, value.size() - 2)) : io::plain_scalar(value);
}

// What a value takes in memory, about.
size_t size_bytes(const Json& value) {
  size_t size = sizeof(Json);
  if (value.is_string()) size += value.as_string().size();
  if (value.kind() == Json::Kind::big_integer) size += value.digits().size();
  if (value.is_array()) {
    for (const Json& item : value.as_array()) size += size_bytes(item);
  } else if (value.is_object()) {
    for (const Json::Member& member : value.as_object()) size += member.key.size() + size_bytes(member.value);
  }
  return size;
}

// One more level of lists, groups, texts and references within each other, as long as it lives.
class Level {
 public:
  explicit Level(size_t& depth) : depth_(depth) {
    if (depth_ >= kDeepestLevel)
      throw Error(fmt::format("values and references nested deeper than {} levels", kDeepestLevel));
    ++depth_;
  }
  ~Level() { --depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  size_t& depth_;
};

class Resolver {
 public:
  explicit Resolver(const Lookup& lookup) : lookup_(lookup) {}

  Json resolve(const Json& value, const std::string& key) {
    if (value.is_string()) return resolve_text(value.as_string(), key);
    if (!value.is_array() && !value.is_object()) return value;
    const Level level(depth_);
    Json result = value;
    if (value.is_array()) {
      for (Json& item : result.array_items()) item = resolve(item, key);
    } else {
      for (Json::Member& member : result.object_members()) member.value = resolve(member.value, key + "." + member.key);
    }
    return result;
  }

 private:
  Json resolve_text(const std::string& text, const std::string& key) {
    const Level level(depth_);
    std::string result;
    for (size_t at = 0; at < text.size();) {
      const size_t begin = text.find("${", at);
      result.append(text, at, std::min(begin, text.size()) - at);
      if (begin == std::string::npos) break;
      if (begin > at && text[begin - 1] == '\\') {  // an escaped one stays
        result.back() = '$';
        at = begin + 1;
        continue;
      }
      const size_t end = closing_brace(text, begin + 2);
      if (end == std::string::npos) throw Error(fmt::format("{} has no closing brace", text.substr(begin)));
      const Json value = follow(text.substr(begin + 2, end - begin - 2), key);
      if (begin == 0 && end + 1 == text.size()) return value;
      result += value.is_string() ? value.as_string() : io::flow_yaml(value);
      if (result.size() > kLongest) throw Error(fmt::format("more than {} characters", kLongest));
      at = end + 1;
    }
    return result;
  }

  Json follow(std::string name, const std::string& key) {
    if (++num_followed_ > kMostFollowed) throw Error(fmt::format("more than {} references", kMostFollowed));
    if (name.size() > kLongest) throw Error(fmt::format("a reference of more than {} characters", kLongest));
    if (name.find("${") != std::string::npos) {
      const Json inner = resolve_text(name, key);
      name = inner.is_string() ? inner.as_string() : io::flow_yaml(inner);
    }
    Json value = value_of(std::string(trim(name)), key);
    followed_bytes_ += size_bytes(value);
    if (followed_bytes_ > kMostBytes) throw Error(fmt::format("references to more than {} bytes", kMostBytes));
    return value;
  }

  Json value_of(const std::string& name, const std::string& key) {
    const size_t colon = name.find(':');
    if (colon != std::string::npos) return follow_resolver(name, colon, key);
    const std::string target = absolute(name, key);
    if (const std::optional<Json> value = lookup_(target)) return resolve_key(target, *value);
    // a name without a key may be a variable of the environment, as in a shell
    if (name.find('.') == std::string::npos) {
      if (const char* value = std::getenv(name.c_str())) return io::plain_scalar(value);
      throw Error(fmt::format("${{{}}} names no key and no environment variable", name));
    }
    throw Error(fmt::format("${{{}}} names no key", name));
  }

  Json resolve_key(const std::string& key, const Json& value) {
    if (std::find(open_.begin(), open_.end(), key) != open_.end()) {
      throw Error(fmt::format("${{{}}} leads back to itself", key));
    }
    open_.push_back(key);
    Json result = resolve(value, key);
    open_.pop_back();
    return result;
  }

  // One dot stands for the group of the key, each further one for the group around it.
  static std::string absolute(const std::string& name, const std::string& key) {
    const size_t dots = std::min(name.find_first_not_of('.'), name.size());
    if (dots == 0) return name;
    std::string group = key;
    for (size_t i = 0; i < dots; ++i) {
      if (group.empty()) throw Error(fmt::format("${{{}}} goes up beyond the top from {}", name, key));
      const size_t dot = group.rfind('.');
      group = dot == std::string::npos ? "" : group.substr(0, dot);
    }
    return group.empty() ? name.substr(dots) : group + "." + name.substr(dots);
  }

  Json follow_resolver(const std::string& name, size_t colon, const std::string& key) {
    const std::string resolver = name.substr(0, colon), arguments = name.substr(colon + 1);
    const size_t comma = arguments.find(',');
    const std::string first(trim(std::string_view(arguments).substr(0, comma)));
    if (resolver == "oc.env") {
      if (const char* value = std::getenv(first.c_str())) return io::plain_scalar(value);
      if (comma == std::string::npos) throw Error(fmt::format("environment variable {} is not set", first));
      return default_of(arguments.substr(comma + 1));
    }
    if (resolver == "oc.select") {
      const std::string target = absolute(first, key);
      if (const std::optional<Json> value = lookup_(target)) return resolve_key(target, *value);
      return comma == std::string::npos ? Json() : default_of(arguments.substr(comma + 1));
    }
    const bool shell = arguments.starts_with("-") || arguments.starts_with("=");
    throw Error(
        shell ? fmt::format("${{{}}} is a shell's; here it is ${{oc.env:{},{}}}", name, resolver, arguments.substr(1))
              : fmt::format("${{{}}}: of the resolvers only oc.env and oc.select are known", name));
  }

  const Lookup& lookup_;
  std::vector<std::string> open_;  // the keys on the way to this one
  size_t depth_ = 0, num_followed_ = 0, followed_bytes_ = 0;
};

}  // namespace

Json resolve_references(const Json& value, const std::string& key, const Lookup& lookup) {
  return Resolver(lookup).resolve(value, key);
}

}  // namespace hone::config
