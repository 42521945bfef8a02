// Every option, misspelt, names itself: a letter dropped, one doubled, two swapped, in its last part.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "config/load.h"
#include "loop/recipe.h"
#include "loop/sft_recipe.h"

namespace hone {
namespace {

std::vector<std::string> misspelt(const std::string& key, size_t begin) {
  std::vector<std::string> forms;
  for (size_t i = begin; i < key.size(); ++i) {
    if (key.size() - begin > 1) forms.push_back(key.substr(0, i) + key.substr(i + 1));
    forms.push_back(key.substr(0, i + 1) + key.substr(i));
    std::string swapped = key;
    if (i + 1 < key.size() && key[i] != key[i + 1]) {
      std::swap(swapped[i], swapped[i + 1]);
      forms.push_back(swapped);
    }
  }
  return forms;
}

size_t last_part(const std::string& key) { return key.rfind('.') + 1; }  // 0 without a dot

// Of honoured options every form; of the others, which are many, every `stride`-th.
template <class R>
void expect_all_named(size_t stride) {
  R recipe;
  const config::Schema schema = schema_of(recipe);
  std::vector<std::pair<std::string, size_t>> keys;
  for (const config::Field& field : schema.fields()) keys.emplace_back(field.key(), 1);
  for (const config::KeyRule& rule : schema.rules()) {
    if (!rule.is_group()) keys.emplace_back(rule.pattern, stride);
  }
  std::map<std::string, std::set<std::string>> meant;  // a form may be that of two keys: top_ of top_k and top_p
  for (const auto& [key, step] : keys) {
    for (const std::string& form : misspelt(key, last_part(key))) meant[form].insert(key);
  }
  size_t tried = 0, named = 0;
  for (const auto& [key, step] : keys) {
    const std::vector<std::string> forms = misspelt(key, last_part(key));
    for (size_t i = 0; i < forms.size(); i += step) {
      if (schema.is_known(forms[i])) continue;  // one of two keys that differ by a letter, or within an open group
      const std::string nearest = schema.nearest(forms[i]);
      EXPECT_TRUE(meant[forms[i]].contains(nearest)) << forms[i] << " is taken for " << nearest;
      named += meant[forms[i]].contains(nearest);
      ++tried;
    }
  }
  EXPECT_GT(tried, 500u);
  EXPECT_EQ(named, tried);
}

TEST(Misspelt, EveryOptionOfTrainNamesItself) { expect_all_named<Recipe>(29); }
TEST(Misspelt, EveryOptionOfSftNamesItself) { expect_all_named<SftRecipe>(5); }

// The groups before it too.
TEST(Misspelt, GroupsNameThemselves) {
  Recipe recipe;
  const config::Schema schema = schema_of(recipe);
  for (const config::Field& field : schema.fields()) {
    const std::vector<std::string> forms = misspelt(field.key(), 0);
    for (size_t i = 0; i < forms.size(); i += 7) {
      const bool in_groups = forms[i].ends_with(field.key().substr(field.key().rfind('.')));
      if (!in_groups || schema.is_known(forms[i])) continue;
      EXPECT_EQ(schema.nearest(forms[i]), field.key()) << forms[i];
    }
  }
}

// What a user sees: the place, the key as typed, the key that was meant.
TEST(Misspelt, TheFaultSaysWhere) {
  Recipe recipe;
  config::Schema schema = schema_of(recipe);
  io::Faults faults;
  config::apply(schema, config::settings_of_arguments({"data.seed=3", "actor_rollout_ref.rolout.n=4"}, faults), faults);
  ASSERT_FALSE(faults.empty());
  EXPECT_EQ(faults.list()[0],
            "argument 2: actor_rollout_ref.rolout.n: unknown key; the nearest known one is "
            "actor_rollout_ref.rollout.n");
}

// Words that people bring along from other trainers, or forget the groups of.
TEST(Misspelt, NamesOfOtherTrainersFindTheOption) {
  const std::pair<const char*, const char*> cases[] = {
      {"learning_rate", "actor_rollout_ref.actor.optim.lr"},
      {"learnign_rate", "actor_rollout_ref.actor.optim.lr"},
      {"lr", "actor_rollout_ref.actor.optim.lr"},
      {"batch_size", "data.train_batch_size"},
      {"train_batch_size", "data.train_batch_size"},
      {"max_new_tokens", "data.max_response_length"},
      {"num_generations", "actor_rollout_ref.rollout.n"},
      {"model_name_or_path", "actor_rollout_ref.model.path"},
      {"output_dir", "trainer.default_local_dir"},
      {"max_grad_norm", "actor_rollout_ref.actor.grad_clip"},
      {"warmup_ratio", "actor_rollout_ref.actor.optim.lr_warmup_steps_ratio"},
      {"save_steps", "trainer.save_freq"},
      {"eval_steps", "trainer.test_freq"},
      {"trainer.save_frequency", "trainer.save_freq"},
      {"Data.Train_Files", "data.train_files"},
  };
  Recipe recipe;
  const config::Schema schema = schema_of(recipe);
  for (const auto& [typed, meant] : cases) EXPECT_EQ(schema.nearest(typed), meant) << typed;
  EXPECT_EQ(schema.nearest("zzzzqqqq"), "");
}

}  // namespace
}  // namespace hone
