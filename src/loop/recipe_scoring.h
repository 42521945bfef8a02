// The part of a recipe that says where scores come from.
#pragma once

#include "loop/recipe.h"
#include "reward/scorer.h"

namespace hone {

// The scorer of the user's own is on.
bool has_custom_scorer(const RewardRecipe& reward);

void add_custom_scorer_fields(config::Schema& schema, RewardRecipe& reward);

// `expect(condition, fault)` notes what does not hold: see validate().
template <class Expect>
void validate_custom_scorer(const RewardRecipe& reward, const Expect& expect) {
  expect(!reward.custom.path || !reward.http.url,
         "reward.http.url: expected null, because custom_reward_function.path is set: each scores every row");
}

// Starts the user's own scorer, if there is one: raises Error when it cannot work.
ScoringRules scoring_rules(const Recipe& recipe);

}  // namespace hone
