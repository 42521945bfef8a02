#include "prompts/sorting_task.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/error.h"
#include "prompts/task_builder.h"

namespace hone {

namespace {

// In their order.
constexpr std::array kSortedWords = {
    "apple",  "bag",     "ball",   "banana",  "bear",   "bed",    "bell",   "bird",   "boat",   "book",   "box",
    "bread",  "bridge",  "brush",  "butter",  "button", "cake",   "camel",  "camera", "candle", "car",    "carpet",
    "castle", "cat",     "chair",  "cheese",  "cherry", "circle", "clock",  "cloud",  "coat",   "coffee", "corn",
    "cup",    "dance",   "desk",   "dog",     "door",   "dress",  "drum",   "duck",   "eagle",  "ear",    "egg",
    "engine", "eye",     "farm",   "father",  "finger", "fire",   "fish",   "flag",   "flower", "foot",   "forest",
    "fork",   "fox",     "frog",   "garden",  "glass",  "goat",   "gold",   "grape",  "grass",  "guitar", "hammer",
    "hand",   "hat",     "heart",  "hill",    "honey",  "horse",  "house",  "ice",    "island", "jacket", "jar",
    "juice",  "key",     "king",   "kitchen", "kite",   "knife",  "lake",   "lamp",   "leaf",   "lemon",  "letter",
    "lion",   "map",     "market", "milk",    "mirror", "money",  "moon",   "mother", "mouse",  "music",  "nail",
    "nest",   "night",   "nose",   "ocean",   "onion",  "orange", "paper",  "peach",  "pencil", "piano",  "picture",
    "pillow", "plate",   "pocket", "queen",   "rabbit", "rain",   "rice",   "ring",   "river",  "road",   "rock",
    "roof",   "rose",    "salt",   "sand",    "school", "sheep",  "ship",   "shoe",   "silver", "snow",   "soap",
    "sock",   "song",    "spoon",  "star",    "stone",  "sugar",  "sun",    "table",  "tea",    "tiger",  "tooth",
    "tower",  "train",   "tree",   "turtle",  "uncle",  "valley", "violin", "voice",  "wall",   "watch",  "water",
    "wheel",  "whistle", "window", "winter",  "wolf",   "yard",   "year",   "zebra"};

struct Size {
  int min_items, max_items;
  int64_t min_number, max_number;
};
constexpr Size kSizes[] = {{3, 4, 1, 99}, {5, 6, 1, 999}, {7, 9, -999, 999}, {10, 14, -999, 999}};

std::string list_of(const std::vector<int64_t>& items, bool words) {
  std::string list;
  for (const int64_t item : items) {
    list += (list.empty() ? "" : ", ") + (words ? kSortedWords[static_cast<size_t>(item)] : std::to_string(item));
  }
  return list;
}

const char* order_name(bool words, bool falling) {
  if (words) return falling ? "words in reverse alphabetical order" : "words in alphabetical order";
  return falling ? "numbers from largest to smallest" : "numbers from smallest to largest";
}

}  // namespace

Task make_sorting(const TaskOptions& options) {
  check_difficulty("sorting", options.difficulty, std::size(kSizes));
  const auto make = [&](Dice& dice, int64_t index) -> std::optional<TaskItem> {
    const int difficulty = options.difficulty.of_item(index);
    const Size& size = kSizes[difficulty - 1];
    const bool words = dice.between(0, 1) == 1, falling = dice.between(0, 1) == 1;
    const auto count = static_cast<size_t>(dice.between(size.min_items, size.max_items));
    std::vector<int64_t> given;
    while (given.size() < count) {
      const int64_t item = words ? dice.between(0, static_cast<int64_t>(kSortedWords.size()) - 1)
                                 : dice.between(size.min_number, size.max_number);
      if (std::find(given.begin(), given.end(), item) == given.end()) given.push_back(item);
    }
    std::vector<int64_t> sorted = given;
    std::sort(sorted.begin(), sorted.end());
    std::vector<int64_t> operands = sorted;
    operands.insert(operands.begin(), words);
    if (falling) std::reverse(sorted.begin(), sorted.end());
    if (sorted == given) return {};  // nothing to do
    const std::string answer = list_of(sorted, words);
    return TaskItem{
        .prompt = fmt::format("Sort these {}: {}. Put the sorted list, with commas, in <answer> </answer> tags.",
                              order_name(words, falling), list_of(given, words)),
        .response = "<answer>" + answer + "</answer>",
        .ground_truth = answer,
        .difficulty = difficulty,
        .operands = std::move(operands)};
  };
  return build_task({.data_source = "hone/sorting", .chat = true}, options.sizes, options.seed, make);
}

}  // namespace hone
