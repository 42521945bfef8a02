#include "cli/sampling_arguments.h"

#include "core/error.h"

namespace hone::cli {

namespace {

void expect(bool holds, const char* option, const char* expected, double found) {
  if (!holds) throw Error(fmt::format("{}: expected {}, found {}", option, expected, found));
}

}  // namespace

void set_filter(const SamplingArgs& a, kernels::Filter& filter) {
  expect(a.top_k >= -1, "--top-k", "at least 1, or 0 or -1 for all", static_cast<double>(a.top_k));
  expect(a.top_p > 0 && a.top_p <= 1, "--top-p", "above 0, at most 1", a.top_p);
  expect(a.min_p >= 0 && a.min_p <= 1, "--min-p", "0 to 1", a.min_p);
  expect(a.repetition_penalty >= 0.01 && a.repetition_penalty <= 100, "--repetition-penalty", "0.01 to 100",
         a.repetition_penalty);
  expect(a.presence_penalty >= -2 && a.presence_penalty <= 2, "--presence-penalty", "-2 to 2", a.presence_penalty);
  expect(a.frequency_penalty >= -2 && a.frequency_penalty <= 2, "--frequency-penalty", "-2 to 2", a.frequency_penalty);
  filter.top_k = a.top_k;
  filter.top_p = static_cast<float>(a.top_p);
  filter.min_p = static_cast<float>(a.min_p);
  filter.repetition_penalty = static_cast<float>(a.repetition_penalty);
  filter.presence_penalty = static_cast<float>(a.presence_penalty);
  filter.frequency_penalty = static_cast<float>(a.frequency_penalty);
}

void set_sampling(const SamplingArgs& args, const Tokenizer& tokenizer, SamplingParams& sampling) {
  set_filter(args, sampling.filter);
  expect(args.min_new_tokens >= 0, "--min-new-tokens", "at least 0", static_cast<double>(args.min_new_tokens));
  sampling.min_new_tokens = args.min_new_tokens;
  sampling.stops = args.stops;
  sampling.tokenizer = &tokenizer;
  for (const std::string& stop : args.stops) {
    if (stop.empty()) throw Error("--stop: expected a text, found none");
  }
}

}  // namespace hone::cli
