// The ground truth of a row: what its scorer compares answers with.
#pragma once

#include <string>

#include "io/json.h"

namespace hone {

// The field: nullptr where it is missing or null.
const io::Json* find_ground_truth_field(const io::Json& row, const std::string& key);

// What stands in the field `key`, dots for fields of fields: a text as it stands, a whole number by its digits,
// messages (TRL's completion) by the text of the last one, another list or an object as JSON. Empty: verl's
// reward_model.ground_truth, where only texts, lists and objects are taken; of rows without reward_model the first of
// ground_truth, answer, solution. Raises Error without the row's place.
std::string find_ground_truth(const io::Json& row, const std::string& key);

}  // namespace hone
