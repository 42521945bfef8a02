#include "reward/outside_reply.h"

#include <cmath>
#include <limits>

#include "core/error.h"
#include "reward/outside_scorer.h"

namespace hone {

namespace {

std::vector<ScoreExtra> extras_of(const io::Json& list) {
  std::vector<ScoreExtra> extras;
  for (const io::Json& pair : list.as_array()) {
    const io::Json::Array& items = pair.as_array();
    if (items.size() != 2) throw Error("expected a name and a value, found " + pair.describe());
    const io::Json& value = items[1];
    extras.push_back({items[0].as_string(), {}});
    if (value.is_number()) {
      extras.back().value = value.as_double();
    } else {
      extras.back().value = value.as_string();
    }
  }
  return extras;
}

}  // namespace

io::Json json_truth(const Prompt& prompt) {
  return prompt.ground_truth_json.empty() ? io::Json(prompt.ground_truth)
                                          : io::parse_json(prompt.ground_truth_json, prompt.file);
}

Score outside_score(const io::Json& reply) {
  try {
    Score score;
    if (const io::Json* absent = reply.find("absent")) {
      score.reason = absent->as_string();
      return score;
    }
    if (const io::Json* extras = reply.find("extras")) score.extras = extras_of(*extras);
    if (reply.find("none") != nullptr) {
      score.reason = kWithheld;
      return score;
    }
    const double number = reply.at("score").as_double();
    if (std::abs(number) > double{std::numeric_limits<float>::max()})
      throw Error(fmt::format("{} is too large", number));
    score.value = static_cast<float>(number);
    return score;
  } catch (const Error& error) {
    return {std::nullopt, fmt::format("the reply is not a score: {}", error.what())};
  }
}

}  // namespace hone
