// model.safetensors.index.json: file names that are accepted stay beside the index; tensors come once.
#include <set>

#include "core/error.h"
#include "fuzz/target.h"
#include "io/safetensors.h"

namespace hone::fuzz {
namespace {

void run(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> weight_map;
  try {
    io::Faults faults;
    weight_map = io::parse_safetensors_index(io::parse_json(text, "x.index.json"), "x.index.json", faults);
    faults.raise_if_any("x.index.json: no index");
  } catch (const Error& error) {
    behaviour(error.what());
    FUZZ_CHECK(std::string_view(error.what()).starts_with("x.index.json:"), error.what());
    return;
  }
  behaviour(weight_map.empty() ? "accepted empty" : "accepted");
  std::set<std::string> tensors;
  for (const auto& [tensor, file] : weight_map) {
    FUZZ_CHECK(tensors.insert(tensor).second, tensor);
    FUZZ_CHECK(!file.empty() && file != "." && file != ".." && file.find('/') == std::string::npos, file);
  }
}

Material material() {
  return {
      {R"({"metadata": {"total_size": 20}, "weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}})",
       R"({"weight_map": {}})", R"({"weight_map": {"a": "../x.safetensors"}})", R"({"weight_map": {"a": 3}})", "{}",
       R"({"weight_map": ["a"]})", R"({"weight_map": {"a": "x", "a": "y"}})", R"({"weight_map": {"a": ".."}})"},
      {"\"weight_map\":", "\"metadata\":", "{}", "\"a\": \"model.safetensors\",", "/", "..", "\\u0000", "null", "[]"},
      {}};
}

}  // namespace

FUZZ_TARGET(run, material)

}  // namespace hone::fuzz
