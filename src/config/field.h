// Field: one option, listed once: key, where its value lives, what it means and what it may be. Parsing, printing,
// help, validation and the hash of a run all follow from the list (config/schema.h).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "io/json.h"

namespace hone::config {

// What another value of a field changes.
enum class Effect {
  results,  // the numbers of a run: part of its hash
  length,   // how far it goes; the steps that both runs have are the same unless a schedule looks at the length
  nothing   // speed, places and names only
};

class Field {
 public:
  using Target = std::variant<bool*, int64_t*, double*, std::string*, std::vector<std::string>*, std::vector<double>*,
                              std::optional<bool>*, std::optional<int64_t>*, std::optional<double>*,
                              std::optional<std::string>*, io::Json*>;
  Field(std::string key, Target target, std::string doc);

  // Builder calls; each gives the field back. Bounds hold for every number in a list; null is free of them.
  Field& at_least(double value);
  Field& above(double value);
  Field& at_most(double value);
  Field& below(double value);
  Field& nonzero();  // within bounds that span 0
  Field& one_of(std::vector<std::string> choices);
  Field& because(std::string reason);  // added to the fault of a value out of range: why others are refused
  Field& effect(Effect effect);
  // "has an effect when CONDITION"; with `holds`, a value set while it does not hold gets a line that says so.
  Field& when(std::string condition, std::function<bool()> holds = {});
  // Beside the condition there is: both have to hold.
  Field& also_when(const std::string& condition, std::function<bool()> holds);
  // For a field of another effect: "changes results when CONDITION".
  Field& results_when(std::string condition, std::function<bool()> holds);
  Field& also_called(std::vector<std::string> aliases);  // names elsewhere, for suggestions only
  Field& required();                                     // empty text or list is a fault
  Field& path();                                         // a leading ~/ stands for the home folder
  Field& takes_numbers();                                // of text: a number is taken for its text

  const std::string& key() const { return key_; }
  const std::string& doc() const { return doc_; }
  const std::string& condition() const { return condition_; }
  const std::vector<std::string>& aliases() const { return aliases_; }
  Effect effect() const { return effect_; }
  const std::string& results_condition() const { return results_condition_; }
  bool changes_results() const { return effect_ == Effect::results || (results_when_ && results_when_()); }
  bool has_effect() const { return !holds_ || holds_(); }
  // A group whose keys are not known to us.
  bool is_open() const { return std::holds_alternative<io::Json*>(target_); }
  // Puts a value in such a group; dots in the path lead through groups within it, which are made where they are
  // missing. Gives what is wrong with it, or nothing.
  std::string assign_member(std::string_view path, const io::Json& value);
  bool is_required() const { return required_; }
  const io::Json& default_value() const { return default_; }
  io::Json value() const;
  std::string type_text() const;   // "number", "integer or null", "text or a list of texts"
  std::string range_text() const;  // "above 0, at most 1"; empty when anything goes
  // Puts the value in its place, `~/` resolved. Gives what is wrong with it, or nothing; the place then keeps its old
  // value.
  std::string assign(const io::Json& value);

 private:
  std::string fault_of_kind(const io::Json& json) const;
  std::string fault_of(const io::Json& item) const;  // a value by itself or one of a list
  std::string key_, doc_, condition_, results_condition_, reason_;
  Target target_;
  io::Json default_;
  std::optional<double> low_, high_;
  bool low_open_ = false, high_open_ = false;
  std::vector<std::string> choices_, aliases_;
  Effect effect_ = Effect::results;
  std::function<bool()> holds_, results_when_;
  bool required_ = false, nonzero_ = false, path_ = false, takes_numbers_ = false;
};

}  // namespace hone::config
