#include "prompts/word_problem_scenarios.h"

namespace hone {

const std::vector<WordProblemScenario>& word_problem_scenarios() {
  static const std::vector<WordProblemScenario> kScenarios = {
      // one step
      {1, "a:2-50 b:2-50", "",
       "{N} has {a} {things}. A friend gives {him} {b} more. How many {things} does {N} have now?",
       "{N} has [a+b=x] {things} now."},
      {1, "a:4-60 b:2-40", "",
       "There are {a} passengers on a bus. At the next stop {b} people get on and nobody gets off. How many passengers "
       "are on the bus now?",
       "There are [a+b=x] passengers on the bus."},
      {1, "a:5-40 b:20-60", "",
       "{N} is {a} years old. {N}'s grandmother is {b} years older than {him}. How old is the grandmother?",
       "The grandmother is [a+b=x] years old."},
      {1, "a:5-60 b:2-50", "",
       "{N} had {a} {things} and gave {b} of them to {M}. How many {things} does {N} have left?",
       "{N} has [a-b=x] {things} left."},
      {1, "a:20-99 b:5-80", "",
       "{N} wants to read a book of {a} pages. So far {he} has read {b} pages. How many pages are left to read?",
       "There are [a-b=x] pages left."},
      {1, "a:20-90 b:2-60", "",
       "A bakery had {a} loaves of bread in the morning. In the evening {b} loaves are left. How many loaves did the "
       "bakery sell?",
       "The bakery sold [a-b=x] loaves."},
      {1, "a:2-9 b:2-80", "",
       "{N} buys {a} boxes of {things}. There are {b} {things} in each box. How many {things} does {N} buy?",
       "{N} buys [a*b=x] {things}."},
      {1, "a:8-90 b:2-9", "", "{N} earns {a} dollars an hour. How many dollars does {he} earn in {b} hours?",
       "{N} earns [a*b=x] dollars."},
      {1, "a:2-70 b:2-9", "", "A gardener plants {b} rows of {a} trees each. How many trees does the gardener plant?",
       "The gardener plants [b*a=x] trees."},
      {1, "b:2-9 q:2-60", "q*b=a",
       "{N} puts {a} {things} into {b} bags, with the same number in each bag. How many {things} are in each bag?",
       "There are [a/b=x] {things} in each bag."},
      {1, "b:2-9 q:2-60", "q*b=a", "{a} students sit at tables of {b} students each. How many tables are there?",
       "There are [a/b=x] tables."},
      {1, "b:2-9 q:2-60", "q*b=a",
       "{N} pays {a} dollars for {b} tickets that all cost the same. How many dollars does one ticket cost?",
       "One ticket costs [a/b=x] dollars."},
      // two steps
      {2, "a:5-40 b:2-30 c:2-30", "",
       "{N} has {a} {things}. {He} finds {b} more and then gives {c} to {M}. How many {things} does {N} have now?",
       "After finding some, {N} has [a+b=x] {things}.\nAfter giving some away, {he} has [x-c=y] {things}."},
      {2, "a:2-9 b:2-12 c:2-40", "",
       "{N} buys {a} packs of {things} with {b} {things} in each pack. {He} already had {c} {things}. How many "
       "{things} "
       "does {N} have now?",
       "The packs hold [a*b=x] {things}.\nTogether {N} has [x+c=y] {things}."},
      {2, "a:40-150 b:3-20 c:2-9", "",
       "A book has {a} pages. {N} reads {b} pages a day for {c} days. How many pages are left to read?",
       "{N} has read [b*c=x] pages.\nThere are [a-x=y] pages left."},
      {2, "a:20-100 b:2-9 c:2-9", "",
       "{N} has {a} dollars. {He} buys {b} {things} for {c} dollars each. How many dollars are left?",
       "The {things} cost [b*c=x] dollars.\n{N} has [a-x=y] dollars left."},
      {2, "a:3-30 b:2-6", "",
       "{N} has {a} {things}, and {M} has {b} times as many. How many {things} do they have together?",
       "{M} has [a*b=x] {things}.\nTogether they have [a+x=y] {things}."},
      {2, "a:2-40 b:2-40 c:2-9 q:2-12", "q*c=x x-a=b",
       "{N} picks {a} apples and {M} picks {b} apples. They put them into {c} baskets, with the same number in each "
       "basket. How many apples are in each basket?",
       "Together they pick [a+b=x] apples.\nThere are [x/c=y] apples in each basket."},
      {2, "a:5-40 b:2-20 c:2-20", "",
       "{N} is {a} years old. {M} is {b} years older than {N}. How old will {M} be in {c} years?",
       "{M} is [a+b=x] years old.\nIn the future {M} will be [x+c=y] years old."},
      {2, "q:2-8 b:2-7 c:2-6", "q*c=a",
       "A farmer has {a} hens, and each hen lays {b} eggs a week. The farmer fills cartons of {c} eggs each. How many "
       "cartons does the farmer fill in a week?",
       "The hens lay [a*b=x] eggs.\nThey fill [x/c=y] cartons."},
      {2, "a:20-90 b:2-40 c:2-40", "",
       "There are {a} people on a train. At a station {b} people get off and {c} people get on. How many people are on "
       "the train now?",
       "Without those who got off there are [a-b=x] people.\nWith those who got on there are [x+c=y] people."},
      {2, "b:2-9 c:2-30 q:3-20", "q*b=x x+c=a",
       "{N} has {a} {things}. {He} keeps {c} of them and shares the others equally among {b} friends. How many "
       "{things} "
       "does each friend get?",
       "{N} shares [a-c=x] {things}.\nEach friend gets [x/b=y] {things}."},
      // three steps
      {3, "a:2-9 b:2-9 c:2-9 d:2-9", "",
       "{N} buys {a} notebooks for {b} dollars each and {c} pens for {d} dollars each. How many dollars does {he} pay?",
       "The notebooks cost [a*b=x] dollars.\nThe pens cost [c*d=y] dollars.\n{N} pays [x+y=z] dollars."},
      {3, "a:5-40 b:4-15 c:2-9 d:5-60", "",
       "{N} has {a} dollars. {He} works {c} hours for {b} dollars an hour and then spends {d} dollars. How many "
       "dollars "
       "does {N} have now?",
       "{N} earns [c*b=x] dollars.\nThen {he} has [a+x=y] dollars.\nAfter spending, {he} has [y-d=z] dollars."},
      {3, "a:2-8 b:10-30 c:2-90 d:2-6 q:4-40", "a*b=x d*q=y x-y=c",
       "A school has {a} classes of {b} students each. Today {c} students stay at home. The others ride in {d} buses, "
       "with "
       "the same number of students in each bus. How many students ride in each bus?",
       "The school has [a*b=x] students.\n[x-c=y] students ride in the buses.\nEach bus carries [y/d=z] students."},
      {3, "a:2-8 b:6-20 c:2-60 d:2-9 q:2-30", "a*b=x d*q=y x-y=c",
       "{N} bakes {a} trays of {b} cookies each. {He} eats {c} cookies and puts the others into bags of {d} cookies "
       "each. How many bags does {N} fill?",
       "{N} bakes [a*b=x] cookies.\n[x-c=y] cookies are left.\nThey fill [y/d=z] bags."},
      {3, "a:3-20 b:2-5 c:2-20", "",
       "{N} has {a} {things}. {M} has {b} times as many {things} as {N}, and {O} has {c} fewer than {M}. How many "
       "{things} do {N} and {O} have together?",
       "{M} has [a*b=x] {things}.\n{O} has [x-c=y] {things}.\nTogether {N} and {O} have [a+y=z] {things}."},
      {3, "a:2-20 b:2-9 c:2-30", "",
       "A cup of tea costs {b} dollars. A cafe sells {a} cups in the morning and {c} cups in the afternoon. How many "
       "dollars more does it take in the afternoon than in the morning?",
       "In the morning it takes [a*b=x] dollars.\nIn the afternoon it takes [c*b=y] dollars.\nThat is [y-x=z] dollars "
       "more."},
      {3, "a:3-20 b:2-12 c:5-60 d:2-30", "",
       "{N} saves {a} dollars a week for {b} weeks. Then {he} buys a game for {c} dollars, and {his} aunt gives {him} "
       "{d} dollars. How many dollars does {N} have now?",
       "{N} saves [a*b=x] dollars.\nAfter buying the game {he} has [x-c=y] dollars.\nWith the money of {his} aunt {he} "
       "has [y+d=z] dollars."},
      {3, "b:2-8 c:2-9 d:2-6 q:2-12", "b*c=x d*q=y x+y=a",
       "A rope is {a} metres long. {N} cuts {b} pieces of {c} metres each from it. The rest {he} cuts into pieces of "
       "{d} "
       "metres each. How many pieces of {d} metres does {N} get?",
       "The first pieces take [b*c=x] metres.\nThere are [a-x=y] metres left.\n{N} gets [y/d=z] pieces."},
      {3, "a:5-30 b:2-20 c:2-20 d:2-20", "",
       "{N} collects {a} {things} on Monday and {b} more than that on Tuesday. On Wednesday {he} collects {c}. Then "
       "{he} "
       "loses {d} of them. How many {things} does {N} have left of what {he} collected on Tuesday and Wednesday?",
       "On Tuesday {N} collects [a+b=x] {things}.\nOn Tuesday and Wednesday together {he} collects [x+c=y] {things}.\n"
       "Without the lost ones [y-d=z] {things} are left."},
      {3, "a:2-6 b:2-12 c:2-6 d:2-12", "",
       "In a theatre there are {a} rows with {b} seats each and {c} rows with {d} seats each. How many seats are "
       "there?",
       "The first rows have [a*b=x] seats.\nThe other rows have [c*d=y] seats.\nTogether there are [x+y=z] seats."},
  };
  return kScenarios;
}

}  // namespace hone
