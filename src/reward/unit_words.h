// Words that stand behind numbers: units in their spellings, and what else is a word rather than a product of letters.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// A unit of the table, or one of and, or, million, ...: a word even where it is written among letters. Lower case.
bool is_word(std::string_view word);

// One spelling for all of a unit: "centimeters" and "cm" become "cm". Other words stay, without a plural s.
std::string unit_name(std::string_view word);

// A letter that may be a unit: m, g, s, h, l, L.
bool is_unit_letter(std::string_view symbol);

// Whether "km/h" is made of units of the table.
bool is_quotient_of_units(std::string_view word);

// What a word of quantity multiplies by, as digits: "million" is "1000000". Empty for other words.
std::string_view quantity(std::string_view word);

}  // namespace hone
