#include "prompts/preparation.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "prompts/chat_rows.h"
#include "prompts/ground_truth.h"
#include "prompts/instructions.h"
#include "prompts/row_fields.h"
#include "prompts/row_file.h"
#include "prompts/verl_row.h"

namespace hone {

namespace {

using io::Json;

// A row of the set, and where it goes. Raises Error for a row at fault.
struct RawRow {
  const Json& json;
  const char* split;
  int64_t index;  // in its half

  const Json& field(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      if (const Json* found = present_field(json, name)) return *found;
    }
    throw Error(fmt::format("{} is missing", *names.begin()));
  }
  const std::string& text(std::initializer_list<const char*> names) const {
    const Json& found = field(names);
    if (found.is_string()) return found.as_string();
    throw Error(fmt::format("{}: expected text, found {}", *names.begin(), found.describe()));
  }
  // A text, or a whole number.
  std::string answer(std::initializer_list<const char*> names) const {
    const Json& found = field(names);
    return found.is_int() ? std::to_string(found.as_int()) : text(names);
  }
  Json extra_info() const { return Json::object({{"split", split}, {"index", index}}); }
};

// The first "#### NUMBER" of the worked answer, without commas.
std::string number_behind_hashes(const std::string& answer) {
  constexpr std::string_view kMark = "#### ";
  for (size_t at = answer.find(kMark); at != std::string::npos; at = answer.find(kMark, at + 1)) {
    const size_t begin = at + kMark.size();
    const size_t digits = begin + (answer.compare(begin, 1, "-") == 0 ? 1 : 0);
    const size_t end = std::min(answer.find_first_not_of("0123456789.,", digits), answer.size());
    if (end == digits) continue;
    std::string number = answer.substr(begin, end - begin);
    std::erase(number, ',');
    return number;
  }
  throw Error("answer: expected a number behind \"#### \", found none");
}

// What stands in the last \boxed{...} of the solution; of "\boxed 5$" what stands before the dollar sign.
std::string last_box(const std::string& solution) {
  const size_t box = solution.rfind("\\boxed");
  if (box == std::string::npos) throw Error("solution: expected a \\boxed{}, found none");
  if (const size_t spaced = solution.rfind("\\boxed "); spaced != std::string::npos) {
    const size_t begin = spaced + std::string_view("\\boxed ").size();
    return solution.substr(begin, std::min(solution.find('$', begin), solution.size()) - begin);
  }
  const size_t open = box + std::string_view("\\boxed").size();
  int64_t depth = 0;
  for (size_t at = open; at < solution.size(); ++at) {
    depth += (solution[at] == '{') - (solution[at] == '}');
    if (at == open && depth != 1) break;
    if (depth == 0) return solution.substr(open + 1, at - open - 1);
  }
  throw Error("solution: the last \\boxed{} does not close");
}

Json prepare_gsm8k(const RawRow& row) {
  const std::string &question = row.text({"question"}), &answer = row.text({"answer"});
  Json extra = row.extra_info();
  extra.set("answer", answer);
  extra.set("question", question);
  return verl_row("openai/gsm8k", user_message(question + " " + kHashesInstruction), "math", "rule",
                  number_behind_hashes(answer), std::move(extra));
}

Json prepare_math(const RawRow& row) {
  Json prepared =
      verl_row("DigitalLearningGmbH/MATH-lighteval", user_message(row.text({"problem"}) + " " + kBoxedInstruction),
               "math", "rule", last_box(row.text({"solution"})), row.extra_info());
  for (const char* kept : {"level", "type"}) {
    if (const Json* value = row.json.find(kept)) prepared.set(kept, *value);
  }
  return prepared;
}

Json prepare_deepscaler(const RawRow& row) {
  const std::string &question = row.text({"problem"}), answer = row.answer({"answer"});
  Json extra = row.extra_info();
  extra.set("answer", answer);
  extra.set("question", question);
  return verl_row("agentica-org/DeepScaleR-Preview-Dataset", user_message(question + " " + kBoxedInstruction), "math",
                  "rule", answer, std::move(extra));
}

Json checked_verl_row(const RawRow& row) {
  row.text({"data_source"});
  if (!row.field({"prompt"}).is_array()) throw Error("prompt: expected a list of messages");
  find_ground_truth(row.json, "reward_model.ground_truth");  // raises Error for what no run would take
  return row.json;
}

Json prepare_aime(const RawRow& row) {
  if (row.json.find("reward_model") != nullptr) return checked_verl_row(row);
  const std::string& problem = row.text({"problem", "Problem", "question"});
  std::string answer = row.answer({"answer", "Answer"});
  answer.erase(0, std::min(answer.find_first_not_of('0'), answer.size() - 1));
  Json extra = row.extra_info();
  extra.set("raw_problem", problem);
  return verl_row("aime", user_message(kDapoBefore + problem + kDapoBehind), "MATH", "rule-lighteval/MATH_v2", answer,
                  std::move(extra));
}

struct Preparation {
  const char* name;
  const char* split;  // of a file whose name does not say
  Json (*prepare)(const RawRow& row);
  bool once;  // each prompt
};
constexpr Preparation kPreparations[] = {{"gsm8k", "train", prepare_gsm8k, false},
                                         {"math", "train", prepare_math, false},
                                         {"deepscaler", "train", prepare_deepscaler, false},
                                         {"dapo-math-17k", "train", checked_verl_row, true},
                                         {"aime", "test", prepare_aime, true}};

const Preparation& find_preparation(const std::string& name) {
  std::string known;
  for (const Preparation& one : kPreparations) {
    if (one.name == name) return one;
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  throw Error(fmt::format("no preparation for '{}'", name), known);
}

bool holds_rows(const std::filesystem::path& path) {
  const std::string end = path.extension().string(), name = path.filename().string();
  if (name == "dataset_infos.json" || name == "dataset_info.json") return false;  // the Hub's, about the rows
  return end == ".jsonl" || end == ".json" || end == ".parquet";
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file() && holds_rows(entry.path())) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> files_of_inputs(const std::vector<std::string>& inputs) {
  std::vector<std::string> all;
  for (const std::string& input : inputs) {
    if (!io::is_folder(input)) {
      all.push_back(input);
      continue;
    }
    std::vector<std::string> files = files_in(input);
    if (const std::string data = io::join_path(input, "data"); files.empty() && io::is_folder(data)) {
      files = files_in(data);
    }
    if (files.empty()) throw Error(fmt::format("{}: no .jsonl, .json or .parquet file in this folder", input));
    all.insert(all.end(), files.begin(), files.end());
  }
  return all;
}

// Cut at what is no letter, so that "contest" is not "test".
std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

// By the words of the file's name, else by its folder, as the Hub has them. Raises Error for a file of another split.
std::string split_of(const std::string& file, const char* otherwise) {
  const std::filesystem::path path(file);
  for (const std::string& word : words_of(path.filename().string())) {
    if (word == "test" || word == "train") return word;
    if (word == "validation" || word == "valid" || word == "val" || word == "dev") {
      throw Error(fmt::format("{}: expected a file of train or test rows, found one of {}", file, word));
    }
  }
  const std::string folder = path.parent_path().filename().string();
  return folder == "test" || folder == "train" ? folder : otherwise;
}

// What was downloaded is not to be lost.
void refuse_input(const std::string& output, const std::vector<std::string>& inputs) {
  std::error_code ignored;
  for (const std::string& input : inputs) {
    if (std::filesystem::equivalent(input, output, ignored)) {
      throw Error(fmt::format("{} would be written over, and is read", output), "name another --output");
    }
  }
}

// One of the files that are written.
struct Half {
  std::unique_ptr<io::AtomicFile> file;
  PreparedFile report;
  int64_t next_index = 0;
  std::unordered_set<std::string> prompts;
};

}  // namespace

std::vector<PreparedFile> prepare_data(const std::string& name, const std::vector<std::string>& inputs,
                                       const std::string& folder) {
  const Preparation& preparation = find_preparation(name);
  const std::vector<std::string> files = files_of_inputs(inputs);
  io::make_folders(folder);
  std::map<std::string, Half> halves;
  io::Faults faults;
  for (const std::string& path : files) {
    const std::string split = split_of(path, preparation.split);
    Half& half = halves[split];
    if (half.file == nullptr) {
      half.report.path = io::join_path(folder, split + ".jsonl");
      refuse_input(half.report.path, files);
      half.file = std::make_unique<io::AtomicFile>(half.report.path);
    }
    read_rows(path, faults, [&](io::JsonRow&& row) {
      Json prepared;
      try {
        prepared = preparation.prepare({row.value, split.c_str(), half.next_index});
      } catch (const Error& error) {
        return faults.add(fmt::format("{}:{}: {}", path, row.line, error.what()));
      }
      ++half.next_index;
      if (preparation.once && !half.prompts.insert(prepared.at("prompt").dump()).second) {
        ++half.report.num_repeated;
        return;
      }
      half.file->write(prepared.dump() + "\n");
      ++half.report.num_rows;
    });
  }
  faults.raise_if_any(fmt::format("the rows are not those of {}", name));
  std::vector<PreparedFile> reports;
  for (auto& [split, half] : halves) {
    half.file->commit();
    reports.push_back(std::move(half.report));
  }
  return reports;
}

}  // namespace hone
