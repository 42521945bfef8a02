// Fields of a JSONL row. What is wrong becomes a fault "file:line: ..." and nothing is returned, so that all faults of
// all rows are found in one go.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/jsonl.h"
#include "text/tokenizer.h"

namespace hone {

// "file:line".
std::string row_place(const std::string& file, const io::JsonRow& row);

// The field, where it is there and not null.
const io::Json* present_field(const io::Json& row, const std::string& key);

// A text that must be there.
const std::string* text_field(const io::JsonRow& row, const std::string& key, const std::string& place,
                              io::Faults& faults);

// "place: key: what (hint)" of an error.
void add_field_fault(const Error& error, const std::string& key, const std::string& place, io::Faults& faults);

// Ids of a text of the user: no special ids come from it.
std::optional<std::vector<int32_t>> encode_field(const Tokenizer& tokenizer, const std::string& text,
                                                 const std::string& key, const std::string& place, io::Faults& faults);

}  // namespace hone
