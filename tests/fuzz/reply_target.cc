// Replies of scorers outside of this program: any bytes become a score, which is a finite number or absent with a
// reason.
#include <cmath>

#include "core/error.h"
#include "fuzz/target.h"
#include "io/json.h"
#include "reward/http_scorer.h"
#include "reward/outside_reply.h"

namespace hone::fuzz {
namespace {

void check(const Score& score) {
  behaviour(score.value ? "scored" : score.reason);
  FUZZ_CHECK(!score.value || std::isfinite(*score.value), "a score that is not finite");
  FUZZ_CHECK(score.value || !score.reason.empty(), "absent without a reason");
  FUZZ_CHECK(score.value || score.reason.size() < 1000, "a reason that quotes too much");
}

void run(std::string_view text) {
  check(score_of_reply(std::string(text)));
  io::Json reply;
  try {
    reply = io::parse_json(text, "reply");
  } catch (const Error&) {
    return;
  }
  if (const io::Json* absent = reply.find("absent"); absent != nullptr && absent->is_string()) return;  // its own words
  check(outside_score(reply));
}

Material material() {
  return {{R"({"score": 0.5, "extras": [["acc", 1.0], ["pred", "x = 1"]]})", R"({"none": true, "extras": []})",
           R"~({"absent": "ValueError: bad (reward.py:3)"})~", "0.25", "null",
           R"({"score": 1, "acc": true, "parts": [1, {"a": null}]})", R"({"score": 1e300, "extras": [["a"]]})"},
          {"\"score\"", "\"extras\"", "\"none\"", "null", "1e999", "-1e38", "[[", "]]", "\"\"", "true"},
          {}};
}

}  // namespace

FUZZ_TARGET(run, material)

}  // namespace hone::fuzz
