#include "reward/unit_words.h"

#include <algorithm>
#include <iterator>

namespace hone {

namespace {

struct Unit {
  std::string_view word, name;
};
constexpr Unit kUnits[] = {
    {"mm", "mm"},         {"millimeter", "mm"}, {"millimetre", "mm"},   {"cm", "cm"},
    {"centimeter", "cm"}, {"centimetre", "cm"}, {"meter", "m"},         {"metre", "m"},
    {"km", "km"},         {"kilometer", "km"},  {"kilometre", "km"},    {"inch", "inch"},
    {"inches", "inch"},   {"ft", "foot"},       {"foot", "foot"},       {"feet", "foot"},
    {"yd", "yard"},       {"yard", "yard"},     {"mile", "mile"},       {"mi", "mile"},
    {"mph", "mile/hour"}, {"sec", "second"},    {"second", "second"},   {"min", "minute"},
    {"minute", "minute"}, {"hr", "hour"},       {"hour", "hour"},       {"day", "day"},
    {"week", "week"},     {"month", "month"},   {"year", "year"},       {"mg", "mg"},
    {"kg", "kg"},         {"gram", "g"},        {"kilogram", "kg"},     {"lb", "pound"},
    {"pound", "pound"},   {"ounce", "ounce"},   {"oz", "ounce"},        {"ton", "ton"},
    {"ml", "ml"},         {"milliliter", "ml"}, {"liter", "liter"},     {"litre", "liter"},
    {"gallon", "gallon"}, {"degree", "degree"}, {"deg", "degree"},      {"radian", "radian"},
    {"rad", "radian"},    {"dollar", "dollar"}, {"usd", "dollar"},      {"cent", "cent"},
    {"euro", "euro"},     {"unit", "unit"},     {"yen", "yen"},         {"eur", "euro"},
    {"m", "m"},           {"g", "g"},           {"s", "second"},        {"h", "hour"},
    {"in", "inch"},       {"l", "liter"},       {"square", "square"},   {"sq", "square"},
    {"cubic", "cubic"},   {"per", "/"},         {"percent", "percent"},
};
constexpr Unit kQuantities[] = {{"hundred", "100"},
                                {"thousand", "1000"},
                                {"million", "1000000"},
                                {"billion", "1000000000"},
                                {"trillion", "1000000000000"}};

const Unit* find_unit(std::string_view word) {
  const auto* found = std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Unit& u) { return u.word == word; });
  return found == std::end(kUnits) ? nullptr : found;
}

std::string_view singular(std::string_view word) {
  return word.size() > 2 && word.ends_with('s') ? word.substr(0, word.size() - 1) : word;
}

}  // namespace

bool is_word(std::string_view word) {
  return word == "and" || word == "or" || !quantity(word).empty() || find_unit(word) != nullptr ||
         (word.size() > 3 && find_unit(singular(word)) != nullptr) || word == "cms" || word == "hrs" || word == "yds";
}

std::string unit_name(std::string_view word) {
  while (!word.empty() && (word.back() == '.' || word.back() == ',')) word.remove_suffix(1);
  if (const Unit* unit = find_unit(word)) return std::string(unit->name);
  if (const Unit* unit = find_unit(singular(word))) return std::string(unit->name);
  return std::string(singular(word));
}

bool is_unit_letter(std::string_view symbol) {
  return symbol.size() == 1 && std::string_view("mgshlL").find(symbol.front()) != std::string_view::npos;
}

bool is_quotient_of_units(std::string_view word) {
  const size_t slash = word.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view above = word.substr(0, slash), below = word.substr(slash + 1);
  return find_unit(singular(above)) != nullptr && find_unit(singular(below)) != nullptr;
}

std::string_view quantity(std::string_view word) {
  for (const Unit& known : kQuantities) {
    if (known.word == word) return known.name;
  }
  return {};
}

}  // namespace hone
