// HttpScorer: a service that scores. Each answer is a POST of
//   {"data_source", "solution_str", "ground_truth", "extra_info"}
// as JSON (verl's words; ground_truth and extra_info as the row has them, and in this finish_reason and response_length
// where the row has none of its own); the reply, of at most 1 MiB, is a number, an object with `score` (what else it
// holds is reported), or null for no score.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reward/outside_scorer.h"

namespace hone {

struct HttpScorerOptions {
  std::string url;                                           // http://HOST[:PORT]/PATH, https too
  std::vector<std::pair<std::string, std::string>> headers;  // beside the usual ones
  double seconds = 60;      // to connect, to send, for each wait for bytes; and from the start to a whole body
  int64_t retries = 3;      // after a connection that fails, a time-out, 408, 429 and 5xx
  double wait_seconds = 1;  // before the first of these; twice as long before each further one
  int num_threads = 1;      // requests at once
};

class HttpScorer : public OutsideScorer {
 public:
  // Raises Error when the URL is none, or nobody answers there.
  explicit HttpScorer(HttpScorerOptions options);

  std::vector<Score> score(const Prompt& prompt, uint64_t draw, std::span<const Answer> answers) override;
  int num_threads() const override { return options_.num_threads; }
  std::string mark() const override { return options_.url; }

 private:
  Score score_one(const Prompt& prompt, const Answer& answer) const;

  HttpScorerOptions options_;
  std::string server_, path_;  // of the URL
};

// Lines of "Name: value", as an environment variable holds them. Raises Error that names the variable and no value.
std::vector<std::pair<std::string, std::string>> read_headers(std::string_view text, const std::string& variable);

// What a service replies: JSON as HttpScorer takes it.
Score score_of_reply(const std::string& body);

}  // namespace hone
