#include "loop/recipe_scoring.h"

#include <cstdlib>

#include "core/error.h"
#include "reward/code_scorer.h"
#include "reward/http_scorer.h"
#include "reward/python_scorer.h"

namespace hone {

using config::Effect;

bool has_custom_scorer(const RewardRecipe& reward) { return reward.custom.path || reward.http.url; }

void add_custom_scorer_fields(config::Schema& s, RewardRecipe& r) {
  const std::string p = "custom_reward_function.";
  const char* when = "custom_reward_function.path is set";
  const auto on = [&r] { return r.custom.path.has_value(); };
  const char* any = "custom_reward_function.path or reward.http.url is set";
  const auto any_on = [&r] { return has_custom_scorer(r); };
  const char* http = "reward.http.url is set";
  const auto http_on = [&r] { return r.http.url.has_value(); };
  s.field(p + "path", &r.custom.path,
          "Python file with a reward function, which scores every row that reward.scorers does not name (rewards.md).")
      .path()
      .also_called({"reward_funcs", "reward_function"});
  s.field(p + "name", &r.custom.name, "Name of that function; null = compute_score.");
  s.field(p + "reward_kwargs", &r.custom.reward_kwargs,
          "What it is given beside the answer, by name, e.g. custom_reward_function.reward_kwargs.scale=2.")
      .when(when, on);
  s.field("reward.num_workers", &r.num_workers,
          "Answers that are scored at once by a reward function (a process for each), a service or test cases; null = "
          "one for each core, at most 8.")
      .at_least(1)
      .at_most(1024)
      .effect(Effect::nothing);
  s.field("reward.timeout", &r.timeout,
          "Seconds that it has for an answer (a function of lists: times the answers of the list); then the score is "
          "absent.")
      .above(0)
      .at_most(86400)
      .when(any, any_on);
  s.field("reward.memory_limit_mb", &r.memory_limit_mb, "Address space of such a process; null = no limit.")
      .at_least(1)
      .when(when, on);
  s.field("reward.http.url", &r.http.url,
          "Service that scores every row that reward.scorers does not name, by POST of JSON (rewards.md).");
  s.field("reward.http.headers_env", &r.http.headers_env,
          "Environment variable with more headers, lines of `Name: value`, e.g. a key; null = none.")
      .effect(Effect::nothing)
      .when(http, http_on);
  s.field("reward.http.retries", &r.http.retries,
          "Further tries when it does not answer or says 408, 429 or 5xx, after 1 s, 2 s, 4 s, ...")
      .at_least(0)
      .at_most(20)
      .when(http, http_on);
  s.field("reward.run_code", &r.run_code,
          "Score the sources of prime_code by running the programs that the model writes, with the user's rights "
          "(rewards.md).")
      .effect(Effect::nothing);
}

namespace {

int num_workers(const RewardRecipe& reward) {
  return static_cast<int>(reward.num_workers.value_or(default_scoring_workers()));
}

std::shared_ptr<OutsideScorer> custom_scorer(const Recipe& recipe) {
  const RewardRecipe& reward = recipe.reward;
  if (reward.http.url) {
    HttpScorerOptions options;
    options.url = *reward.http.url;
    options.seconds = reward.timeout;
    options.retries = reward.http.retries;
    options.num_threads = num_workers(reward);
    if (reward.http.headers_env) {
      const char* headers = std::getenv(reward.http.headers_env->c_str());
      if (headers == nullptr) {
        throw Error(
            fmt::format("reward.http.headers_env: the environment variable {} is not set", *reward.http.headers_env));
      }
      options.headers = read_headers(headers, *reward.http.headers_env);
    }
    return std::make_shared<HttpScorer>(std::move(options));
  }
  if (!reward.custom.path) return nullptr;
  PythonScorerOptions options;
  options.path = *reward.custom.path;
  options.name = reward.custom.name.value_or("compute_score");
  options.kwargs = reward.custom.reward_kwargs;
  options.prompt_key = recipe.data.prompt_key;
  options.num_workers = num_workers(reward);
  options.seconds = reward.timeout;
  options.memory_bytes = reward.memory_limit_mb.value_or(0) << 20;
  options.seed = static_cast<uint64_t>(recipe.trainer.seed);
  return std::make_shared<PythonScorer>(std::move(options));
}

}  // namespace

ScoringRules scoring_rules(const Recipe& recipe) {
  const RewardRecipe& reward = recipe.reward;
  ScoringRules rules;
  for (const auto& [source, name] : reward.scorers.as_object()) rules.scorers.emplace_back(source, name.as_string());
  rules.answer_weight = reward.answer_weight;
  rules.format_weight = reward.format_weight;
  rules.length_weight = reward.length_weight;
  rules.format = *find_format(reward.format);
  rules.max_length = recipe.data.max_response_length;
  rules.custom = custom_scorer(recipe);
  if (reward.run_code) rules.code = std::make_shared<CodeScorer>(num_workers(reward));
  return rules;
}

}  // namespace hone
