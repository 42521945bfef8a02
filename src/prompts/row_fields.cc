#include "prompts/row_fields.h"

namespace hone {

std::string row_place(const std::string& file, const io::JsonRow& row) { return fmt::format("{}:{}", file, row.line); }

const io::Json* present_field(const io::Json& row, const std::string& key) {
  const io::Json* field = row.find(key);
  return field == nullptr || field->is_null() ? nullptr : field;
}

const std::string* text_field(const io::JsonRow& row, const std::string& key, const std::string& place,
                              io::Faults& faults) {
  const io::Json* field = row.value.find(key);
  if (field == nullptr) {
    faults.add(fmt::format("{}: {} is missing", place, key));
  } else if (!field->is_string()) {
    faults.add(fmt::format("{}: {}: expected text, found {}", place, key, field->describe()));
  } else {
    return &field->as_string();
  }
  return nullptr;
}

void add_field_fault(const Error& error, const std::string& key, const std::string& place, io::Faults& faults) {
  const std::string hint = error.hint().empty() ? "" : fmt::format(" ({})", error.hint());
  faults.add(fmt::format("{}: {}: {}{}", place, key, error.what(), hint));
}

std::optional<std::vector<int32_t>> encode_field(const Tokenizer& tokenizer, const std::string& text,
                                                 const std::string& key, const std::string& place, io::Faults& faults) {
  try {
    return tokenizer.encode(text, false);
  } catch (const Error& error) {
    add_field_fault(error, key, place, faults);
    return {};
  }
}

}  // namespace hone
