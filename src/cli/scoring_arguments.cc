#include "cli/scoring_arguments.h"

#include "cli/named_values.h"
#include "core/error.h"
#include "io/file.h"
#include "reward/code_scorer.h"
#include "reward/python_scorer.h"

namespace hone::cli {

namespace {

// PATH[:NAME]
void set_place(const std::string& text, PythonScorerOptions& options) {
  options.path = text;
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || io::exists(text)) return;
  options.path = text.substr(0, colon);
  options.name = text.substr(colon + 1);
}

std::shared_ptr<OutsideScorer> custom_scorer(const ScoringArgs& args, uint64_t seed) {
  if (args.function.empty()) return nullptr;
  if (!(args.timeout > 0)) throw Error(fmt::format("--reward-timeout: expected above 0, found {}", args.timeout));
  PythonScorerOptions options;
  set_place(args.function, options);
  options.kwargs = named_values(args.arguments, "--reward-arg");
  options.num_workers = default_scoring_workers();
  options.seconds = args.timeout;
  options.seed = seed;
  auto scorer = std::make_shared<PythonScorer>(std::move(options));
  scorer->keep_output("");
  return scorer;
}

}  // namespace

ScoringRules scoring_of(const ScoringArgs& args, uint64_t seed) {
  ScoringRules rules;
  rules.custom = custom_scorer(args, seed);
  if (args.run_code) rules.code = std::make_shared<CodeScorer>(default_scoring_workers());
  return rules;
}

}  // namespace hone::cli
