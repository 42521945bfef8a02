#include "serve/sampling_fields.h"

#include <limits>

#include "serve/request_error.h"

namespace hone::serve {

namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

float share_field(const std::string& name, const io::Json& value) {
  return static_cast<float>(number_field(name, value, 0, 1));
}

std::vector<std::string> stops_field(const std::string& name, const io::Json& value) {
  const std::string expected = fmt::format("a text or at most {} texts of 1 to {} bytes", kMaxStops, kMaxStopBytes);
  std::vector<std::string> stops;
  const auto add = [&](const io::Json& stop) {
    if (!stop.is_string() || stop.as_string().empty() || std::ssize(stop.as_string()) > kMaxStopBytes) {
      refuse_field(name, expected, value);
    }
    stops.push_back(stop.as_string());
  };
  if (!value.is_array()) {
    add(value);
    return stops;
  }
  if (std::ssize(value.as_array()) > kMaxStops) refuse_field(name, expected, value);
  for (const io::Json& stop : value.as_array()) add(stop);
  return stops;
}

std::vector<int32_t> ids_field(const std::string& name, const io::Json& value) {
  if (!value.is_array() || std::ssize(value.as_array()) > kMaxStops) {
    refuse_field(name, fmt::format("a list of at most {} ids", kMaxStops), value);
  }
  std::vector<int32_t> ids;
  for (const io::Json& id : value.as_array()) ids.push_back(static_cast<int32_t>(int_field(name, id, 0, kMost)));
  return ids;
}

}  // namespace

void refuse_field(const std::string& name, const std::string& expected, const io::Json& found) {
  std::string text = found.dump();
  if (text.size() > 100) text = text.substr(0, 100) + "...";
  throw RequestError(400, fmt::format("{}: expected {}, found {}", name, expected, text), name);
}

int64_t int_field(const std::string& name, const io::Json& value, int64_t least, int64_t most) {
  if (!value.is_int() || value.as_int() < least || value.as_int() > most) {
    refuse_field(name, fmt::format("an integer from {} to {}", least, most), value);
  }
  return value.as_int();
}

double number_field(const std::string& name, const io::Json& value, double least, double most) {
  if (!value.is_number() || !(value.as_double() >= least && value.as_double() <= most)) {
    refuse_field(name, fmt::format("a number from {} to {}", least, most), value);
  }
  return value.as_double();
}

bool bool_field(const std::string& name, const io::Json& value) {
  if (!value.is_bool()) refuse_field(name, "true or false", value);
  return value.as_bool();
}

const std::string& text_field(const std::string& name, const io::Json& value) {
  if (!value.is_string()) refuse_field(name, "a text", value);
  return value.as_string();
}

bool take_sampling_field(const std::string& name, const io::Json& value, SamplingRequest& r) {
  SamplingParams& s = r.sampling;
  const auto is = [&](const char* field) { return name == field; };
  const auto number = [&](double least, double most) {
    return static_cast<float>(number_field(name, value, least, most));
  };
  const bool leave = value.is_null();
  if (is("n")) {
    if (!leave) r.n = int_field(name, value, 1, kMaxAnswers);
  } else if (is("max_tokens") || is("max_completion_tokens")) {
    if (!leave) r.max_tokens = int_field(name, value, 1, kMost);
  } else if (is("temperature")) {
    if (leave) return true;
    s.temperature = number(0, 1e4);
    if (s.temperature > 0 && s.temperature < 1e-4f) refuse_field(name, "0 or a number from 0.0001 to 10000", value);
  } else if (is("top_p")) {
    if (leave) return true;
    s.filter.top_p = share_field(name, value);
    if (s.filter.top_p == 0) refuse_field(name, "a number above 0, at most 1", value);
  } else if (is("top_k")) {
    if (!leave) s.filter.top_k = int_field(name, value, -1, kMost);
  } else if (is("min_p")) {
    if (!leave) s.filter.min_p = share_field(name, value);
  } else if (is("repetition_penalty")) {
    if (!leave) s.filter.repetition_penalty = number(0.01, 100);
  } else if (is("presence_penalty")) {
    if (!leave) s.filter.presence_penalty = number(-2, 2);
  } else if (is("frequency_penalty")) {
    if (!leave) s.filter.frequency_penalty = number(-2, 2);
  } else if (is("min_tokens")) {
    if (!leave) s.min_new_tokens = int_field(name, value, 0, kMost);
  } else if (is("stop")) {
    if (!leave) s.stops = stops_field(name, value);
  } else if (is("stop_token_ids")) {
    if (!leave) s.stop_ids = ids_field(name, value);
  } else if (is("ignore_eos")) {
    if (!leave) s.ignore_eos = bool_field(name, value);
  } else if (is("seed")) {
    // Two's complement of negative ones.
    if (!leave) {
      r.seed = static_cast<uint64_t>(
          int_field(name, value, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()));
    }
  } else {
    return false;
  }
  return true;
}

void check_sampling_fields(const SamplingRequest& request, int64_t vocab_size) {
  for (int32_t id : request.sampling.stop_ids) {
    if (id < vocab_size) continue;
    throw RequestError(400, fmt::format("stop_token_ids: {} is no id of the tokenizer, which has {}", id, vocab_size),
                       "stop_token_ids");
  }
  if (request.max_tokens && request.sampling.min_new_tokens > *request.max_tokens) {
    throw RequestError(400,
                       fmt::format("min_tokens: {} is more than the most tokens of an answer, {}",
                                   request.sampling.min_new_tokens, *request.max_tokens),
                       "min_tokens");
  }
}

}  // namespace hone::serve
