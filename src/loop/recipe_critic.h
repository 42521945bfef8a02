// The recipe's fields of the critic (critic.*, trainer.critic_warmup).
#pragma once

#include "loop/recipe.h"

namespace hone {

void add_critic_fields(config::Schema& schema, Recipe& recipe);

}  // namespace hone
