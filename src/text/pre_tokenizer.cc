#include "text/pre_tokenizer.h"

#include <algorithm>

namespace hone::text {

namespace {

struct Stretch {
  size_t begin = 0, end = 0;
  bool is_match = false;
};

// Matches and what stands between them, in order; together they are the text.
std::vector<Stretch> find_spans(const PreStep& step, std::string_view text) {
  std::vector<Stretch> spans;
  size_t taken = 0;
  const auto take_match = [&](size_t begin, size_t end) {
    if (taken < begin) spans.push_back({taken, begin, step.invert});
    spans.push_back({begin, end, !step.invert});
    taken = end;
  };
  if (step.kind == PreStep::Kind::literal) {
    for (size_t at = 0; (at = text.find(step.literal, at)) != std::string_view::npos; at = taken) {
      take_match(at, at + step.literal.size());
    }
  } else {
    for (size_t at = 0; (at = next_match(step.pattern, text, at)) < text.size(); at = taken) {
      take_match(at, match_end(step.pattern, text, at));
    }
  }
  if (taken < text.size()) spans.push_back({taken, text.size(), step.invert});
  return spans;
}

// A match joins the span at its left unless that is a match (or ends in one) too.
std::vector<Stretch> merge_with_previous(const std::vector<Stretch>& spans) {
  std::vector<Stretch> merged;
  bool after_match = false;
  for (const Stretch& span : spans) {
    if (span.is_match && !after_match && !merged.empty()) {
      merged.back().end = span.end;
    } else {
      merged.push_back(span);
    }
    after_match = span.is_match;
  }
  return merged;
}

std::vector<Stretch> merge_with_next(const std::vector<Stretch>& spans) {
  std::vector<Stretch> merged;  // from the last to the first
  bool before_match = false;
  for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
    if (span->is_match && !before_match && !merged.empty()) {
      merged.back().begin = span->begin;
    } else {
      merged.push_back(*span);
    }
    before_match = span->is_match;
  }
  std::reverse(merged.begin(), merged.end());
  return merged;
}

std::vector<Stretch> merge_neighbours(const std::vector<Stretch>& spans) {
  std::vector<Stretch> merged;
  for (const Stretch& span : spans) {
    if (!merged.empty() && merged.back().is_match == span.is_match) {
      merged.back().end = span.end;
    } else {
      merged.push_back(span);
    }
  }
  return merged;
}

std::vector<Stretch> split(const PreStep& step, std::string_view text) {
  std::vector<Stretch> spans = find_spans(step, text);
  switch (step.behavior) {
    case SplitBehavior::isolated:
      break;
    case SplitBehavior::removed:
      std::erase_if(spans, [](const Stretch& span) { return span.is_match; });
      break;
    case SplitBehavior::merged_with_previous:
      return merge_with_previous(spans);
    case SplitBehavior::merged_with_next:
      return merge_with_next(spans);
    case SplitBehavior::contiguous:
      return merge_neighbours(spans);
  }
  return spans;
}

}  // namespace

void PreTokenizer::apply(size_t step_index, std::string_view text, PieceSink& sink) const {
  if (text.empty()) return;
  if (step_index == steps_.size()) return sink.take(text);
  const PreStep& step = steps_[step_index];
  const size_t next = step_index + 1;
  if (step.kind == PreStep::Kind::prefix_space) {
    return text[0] == ' ' ? apply(next, text, sink) : apply(next, " " + std::string(text), sink);
  }
  if (step.kind == PreStep::Kind::pattern && step.behavior == SplitBehavior::isolated) {
    // The common case, without a list: matches stand alone, so does what is between them.
    size_t taken = 0;
    for (size_t at = 0; (at = next_match(step.pattern, text, at)) < text.size(); at = taken) {
      if (taken < at) apply(next, text.substr(taken, at - taken), sink);
      taken = match_end(step.pattern, text, at);
      apply(next, text.substr(at, taken - at), sink);
    }
    return apply(next, text.substr(taken), sink);
  }
  for (const Stretch& span : split(step, text)) apply(next, text.substr(span.begin, span.end - span.begin), sink);
}

}  // namespace hone::text
