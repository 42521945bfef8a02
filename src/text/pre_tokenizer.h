// Cuts text into the pieces within which byte pairs are merged: the steps of a tokenizer.json's pre_tokenizer, each
// applied to every piece of the one before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/pre_pattern.h"

namespace hone::text {

// What becomes of the matches of a step and of the text between them.
enum class SplitBehavior : uint8_t { isolated, removed, merged_with_previous, merged_with_next, contiguous };

struct PreStep {
  enum class Kind : uint8_t {
    pattern,       // matches are those of `pattern`
    literal,       // matches are the places where `literal` stands
    prefix_space,  // no cut: a piece that does not begin with a space gets one
  };
  Kind kind = Kind::pattern;
  PrePattern pattern = {};
  std::string literal = {};  // not empty where it is used
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;  // the text between matches takes their part
  bool operator==(const PreStep&) const = default;
};

class PieceSink {
 public:
  virtual ~PieceSink() = default;
  virtual void take(std::string_view piece) = 0;  // not empty; valid during the call
};

class PreTokenizer {
 public:
  PreTokenizer() = default;
  explicit PreTokenizer(std::vector<PreStep> steps) : steps_(std::move(steps)) {}
  // Gives the pieces of `text` (valid UTF-8) in order. Linear in its length for each step.
  void cut(std::string_view text, PieceSink& sink) const { apply(0, text, sink); }
  bool operator==(const PreTokenizer&) const = default;  // the same steps

 private:
  void apply(size_t step, std::string_view text, PieceSink& sink) const;
  std::vector<PreStep> steps_;
};

}  // namespace hone::text
