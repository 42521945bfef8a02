#include "reward/answer_row.h"

#include <initializer_list>
#include <iterator>

#include "core/error.h"

namespace hone {

namespace {

const io::Json* find_first(const io::Json& row, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const io::Json* found = row.find(key);
    if (found != nullptr && !found->is_null()) return found;
  }
  return nullptr;
}

std::string text_of(const io::Json& value) {
  if (value.is_string()) return value.as_string();
  if (value.is_array() && !value.as_array().empty()) {
    const io::Json* content = value.as_array().back().find("content");
    if (content != nullptr && content->is_string()) return content->as_string();
  }
  throw Error(fmt::format("expected an answer as text or messages, found {}", value.describe()));
}

const io::Json* find_truth(const io::Json& row) {
  if (const io::Json* truth = find_first(row, {"gts", "ground_truth", "gold"})) return truth;
  const io::Json* model = row.find("reward_model");
  if (model != nullptr && model->find("ground_truth") != nullptr) return model->find("ground_truth");
  return find_first(row, {"answer"});
}

// A number, or true and false, which verl's scorers write.
std::optional<double> find_number(const io::Json& row, const char* key) {
  const io::Json* value = row.find(key);
  if (value == nullptr) return {};
  if (value->is_bool()) return value->as_bool() ? 1 : 0;
  return value->is_number() ? std::optional(value->as_double()) : std::nullopt;
}

}  // namespace

AnswerRow read_answer_row(const io::Json& row, bool needs_truth) {
  AnswerRow result;
  const io::Json* text = find_first(row, {"output", "response", "solution_str", "completion"});
  if (text == nullptr) throw Error("no answer: expected output, response, solution_str or completion");
  const io::Json* truth = find_truth(row);
  if (truth == nullptr && needs_truth)
    throw Error("no ground truth: expected gts, ground_truth, gold or reward_model.ground_truth");
  result.text = text_of(*text);
  if (truth != nullptr) {
    result.ground_truth_json = truth->dump();
    result.ground_truth = truth->is_string() ? truth->as_string() : result.ground_truth_json;
  }
  if (const io::Json* source = row.find("data_source"); source != nullptr && source->is_string()) {
    result.data_source = source->as_string();
  }
  result.recorded_score = find_number(row, "score");
  result.recorded_acc = find_number(row, "acc");
  if (const io::Json* finish = row.find("finish"); finish != nullptr && finish->is_string()) {
    result.finish = find_finish_reason(finish->as_string()).value_or(FinishReason::end);
  }
  if (const io::Json* ids = row.find("response_ids"); ids != nullptr && ids->is_array()) {
    result.num_ids = std::ssize(ids->as_array());
  }
  return result;
}

}  // namespace hone
