// The tokenizer in the metadata of a GGUF file (tokenizer.ggml.*), as the files of a Hugging Face folder, and back.
// Two keys are Hone's own, because the format has no place for them: hone.end_ids (all ids on which answers end) and
// hone.nfc (whether text is put into normal form C).
#pragma once

#include <string>

#include "io/gguf.h"
#include "io/json.h"

namespace hone::text {

// tokenizer.json: byte-level BPE (model gpt2) with the cuts of gguf_cuts.h; control and user-defined tokens are added
// tokens, unused ones are none. `name` is what errors call the file. Raises Error for anything else, by name.
io::Json tokenizer_json_of_gguf(const io::Json& metadata, const std::string& name);

// tokenizer_config.json: begin, end, unknown and padding token, chat templates.
io::Json tokenizer_config_of_gguf(const io::Json& metadata, const std::string& name);

// generation_config.json: eos_token_id, the ids on which answers end. hone.end_ids, or the ids of tokenizer.ggml.* for
// ends of text, turn and message, and the control tokens on which llama.cpp ends whatever the file says.
io::Json generation_config_of_gguf(const io::Json& metadata, const std::string& name);

// Adds the tokenizer of a model (text/companions.h) to the metadata; the list of tokens is as long as `vocab_size`, ids
// without a token are [PADn]. Raises Error for what GGUF cannot say.
void add_tokenizer_to_gguf(io::GgufWriter& writer, const std::string& model, int64_t vocab_size);

}  // namespace hone::text
