#include "text/companions.h"

#include "core/error.h"
#include "io/file.h"
#include "io/gguf.h"
#include "text/gguf_tokenizer.h"

namespace hone::text {

using io::Json;

namespace {

constexpr std::pair<const char*, Json (*)(const Json&, const std::string&)> kOfGguf[] = {
    {"tokenizer.json", tokenizer_json_of_gguf},
    {"tokenizer_config.json", tokenizer_config_of_gguf},
    {"generation_config.json", generation_config_of_gguf},
};

}  // namespace

std::string companion_place(const std::string& model, const std::string& name) {
  return io::is_gguf(model) ? fmt::format("{} ({})", model, name) : io::join_path(model, name);
}

std::optional<Json> read_companion_json(const std::string& model, const std::string& name) {
  if (!io::is_gguf(model)) {
    const std::string path = io::join_path(model, name);
    return io::exists(path) ? std::optional(io::read_json(path)) : std::nullopt;
  }
  for (const auto& [known, of_gguf] : kOfGguf) {
    if (name == known) return of_gguf(io::GgufReader(model).metadata(), model);
  }
  return std::nullopt;
}

std::optional<std::string> read_companion(const std::string& model, const std::string& name) {
  if (!io::is_gguf(model)) {
    const std::string path = io::join_path(model, name);
    return io::exists(path) ? std::optional(io::read_file(path)) : std::nullopt;
  }
  const std::optional<Json> json = read_companion_json(model, name);
  return json ? std::optional(json->dump(2) + "\n") : std::nullopt;
}

}  // namespace hone::text
