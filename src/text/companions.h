// Companions: the files beside the weights of a model (tokenizer, chat template, end ids): those of a Hugging Face
// folder, or what the metadata of a GGUF file says in their place (tokenizer.json, tokenizer_config.json and
// generation_config.json; it has no others).
#pragma once

#include <optional>
#include <string>

#include "io/json.h"

namespace hone::text {

// Where a companion stands, for messages.
std::string companion_place(const std::string& model, const std::string& name);
// Nothing where there is none. Raises Error for a file that cannot be read, or says what cannot be used.
std::optional<std::string> read_companion(const std::string& model, const std::string& name);
std::optional<io::Json> read_companion_json(const std::string& model, const std::string& name);

}  // namespace hone::text
