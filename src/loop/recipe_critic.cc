#include "loop/recipe_critic.h"

#include "algorithms/loss_aggregation.h"

namespace hone {

using config::Effect;
using config::Field;
using config::Schema;

void add_critic_fields(Schema& s, Recipe& r) {
  const std::string p = "critic.";
  CriticRecipe& c = r.critic;
  const size_t first = s.fields().size();
  s.field(p + "model.path", &c.path,
          "Hugging Face folder that the critic begins with; its head is replaced by one value. null = "
          "actor_rollout_ref.model.path.")
      .path()
      .effect(Effect::nothing);
  s.field(p + "ppo_mini_batch_size", &c.ppo_mini_batch_size, "Prompts of an optimizer step; null = the actor's.")
      .at_least(1);
  s.field(p + "ppo_epochs", &c.ppo_epochs, "Passes over the answers of a step; null = the actor's.")
      .at_least(1)
      .at_most(1000);
  s.field(p + "shuffle", &c.shuffle, "Deal the prompts of a step to its updates in random order.");
  s.field(p + "cliprange_value", &c.cliprange_value, "How far a value may move in a step before it is held.").above(0);
  s.field(p + "loss_agg_mode", &c.loss_agg_mode, "As the actor's; null = the actor's.")
      .one_of(algorithms::loss_aggregation_names());
  s.field(p + "grad_clip", &c.grad_clip, "Largest norm of the whole gradient; 0 = no clipping.").at_least(0);
  add_optim_fields(s, p + "optim.", c.optim, "lr_scheduler_type");
  s.field("trainer.critic_warmup", &r.trainer.critic_warmup,
          "The policy is updated from this step on; before it the critic alone.")
      .at_least(0);
  for (size_t i = first; i < s.fields().size(); ++i) {
    Field& field = *s.find(s.fields()[i].key());
    field.also_when("algorithm.adv_estimator is gae", [&r] { return r.has_critic(); });
  }
}

}  // namespace hone
