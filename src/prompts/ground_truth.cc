#include "prompts/ground_truth.h"

#include <algorithm>

#include "core/error.h"
#include "prompts/row_fields.h"

namespace hone {

namespace {

constexpr const char* kVerlKey = "reward_model.ground_truth";

// A field of that very name, else along the dots.
const io::Json* find_along(const io::Json& row, const std::string& key) {
  if (const io::Json* field = row.find(key)) return field;
  const io::Json* field = &row;
  for (size_t begin = 0; field != nullptr && begin <= key.size();) {
    const size_t end = std::min(key.find('.', begin), key.size());
    field = field->find(key.substr(begin, end - begin));
    begin = end + 1;
  }
  return field;
}

std::string choose_key(const io::Json& row, const std::string& key) {
  if (!key.empty()) return key;
  if (present_field(row, "reward_model") != nullptr) return kVerlKey;
  for (const char* usual : {"ground_truth", "answer", "solution"}) {
    if (present_field(row, usual) != nullptr) return usual;
  }
  return kVerlKey;
}

// Of messages the text of the last one; otherwise nullptr.
const io::Json* last_content(const io::Json& value) {
  if (!value.is_array() || value.as_array().empty()) return nullptr;
  const io::Json& last = value.as_array().back();
  const io::Json* content = last.find("role") != nullptr ? last.find("content") : nullptr;
  return content != nullptr && content->is_string() ? content : nullptr;
}

}  // namespace

const io::Json* find_ground_truth_field(const io::Json& row, const std::string& key) {
  const io::Json* truth = find_along(row, choose_key(row, key));
  return truth == nullptr || truth->is_null() ? nullptr : truth;
}

std::string find_ground_truth(const io::Json& row, const std::string& key) {
  const std::string name = choose_key(row, key);
  const bool is_verl = name == kVerlKey;
  const io::Json* truth = find_along(row, name);
  if (truth == nullptr) throw Error(fmt::format("{} is missing", name));
  if (truth->is_string()) return truth->as_string();
  if (!is_verl && truth->is_int()) return std::to_string(truth->as_int());
  if (const io::Json* text = is_verl ? nullptr : last_content(*truth)) return text->as_string();
  if (truth->is_object() || truth->is_array()) return truth->dump();
  throw Error(fmt::format("{}: expected text{} or an object, found {}", name, is_verl ? "" : ", a whole number",
                          truth->describe()));
}

}  // namespace hone
