#include "rollout/speculation_file.h"

#include <limits>

#include "io/json.h"

namespace hone {

namespace {

using io::Json;
using io::JsonAt;

Json ids_json(const std::vector<int32_t>& ids) {
  Json items = Json::array();
  for (int32_t id : ids) items.push_back(int64_t{id});
  return items;
}

std::vector<int32_t> ids_at(const JsonAt& at) {
  std::vector<int32_t> ids;
  if (!at.value().is_array()) at.fail("expected a list of ids, found " + at.value().describe());
  for (const Json& item : at.value().as_array()) {
    if (!item.is_int() || item.as_int() < 0 || item.as_int() > std::numeric_limits<int32_t>::max()) {
      at.fail("expected ids, found " + item.describe());
    }
    ids.push_back(static_cast<int32_t>(item.as_int()));
  }
  return ids;
}

}  // namespace

std::string speculation_text(const SpeculationState& state) {
  Json cost = Json::array(), acceptance = Json::array(), answers = Json::array(), all = Json::object();
  for (const CostPoint& point : state.cost) {
    Json item = Json::object();
    item.set("rows", point.rows);
    item.set("seconds", point.seconds);
    cost.push_back(std::move(item));
  }
  for (const Acceptance::Count& count : state.acceptance) {
    Json item = Json::object();
    item.set("times", count.times);
    item.set("right", count.right);
    acceptance.push_back(std::move(item));
  }
  for (const AnswerHistory::Entry& entry : state.answers) {
    Json item = Json::object(), of_prompt = Json::array();
    for (const std::vector<int32_t>& answer : entry.answers) of_prompt.push_back(ids_json(answer));
    item.set("prompt", ids_json(entry.prompt));
    item.set("answers", std::move(of_prompt));
    answers.push_back(std::move(item));
  }
  all.set("cost", std::move(cost));
  all.set("acceptance", std::move(acceptance));
  all.set("answers", std::move(answers));
  return all.dump() + "\n";
}

SpeculationState parse_speculation(const std::string& text, const std::string& name) {
  const Json json = io::parse_json(text, name);
  const JsonAt at(json, name);
  SpeculationState state;
  int64_t rows = 0;
  for (const JsonAt& point : at["cost"].items()) {
    state.cost.push_back({point["rows"].as_int(), point["seconds"].as_double()});
    if (state.cost.back().rows <= rows) point.fail("rows have to ascend from 1");
    if (!(state.cost.back().seconds > 0)) point.fail("seconds have to be above 0");
    rows = state.cost.back().rows;
  }
  const std::vector<JsonAt> acceptance = at["acceptance"].items();
  if (acceptance.size() != state.acceptance.size()) {
    at["acceptance"].fail(fmt::format("expected {} counts, found {}", state.acceptance.size(), acceptance.size()));
  }
  for (size_t c = 0; c < acceptance.size(); ++c) {
    state.acceptance[c] = {acceptance[c]["times"].as_double(), acceptance[c]["right"].as_double()};
    const auto [times, right] = state.acceptance[c];
    if (!(right >= 0 && right <= times)) acceptance[c].fail(fmt::format("{} of {} were right", right, times));
  }
  for (const JsonAt& entry : at["answers"].items()) {
    AnswerHistory::Entry& read = state.answers.emplace_back();
    read.prompt = ids_at(entry["prompt"]);
    for (const JsonAt& answer : entry["answers"].items()) read.answers.push_back(ids_at(answer));
  }
  return state;
}

}  // namespace hone
