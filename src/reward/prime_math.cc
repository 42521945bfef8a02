#include "reward/prime_math.h"

#include <algorithm>
#include <string>

#include "reward/boxed.h"
#include "reward/judgement.h"
#include "reward/math_compare.h"

namespace hone {

namespace {

std::string_view without_markup(std::string_view text) {
  while (!text.empty() && std::string_view("*:_ \n\t").find(text.front()) != std::string_view::npos)
    text.remove_prefix(1);
  while (!text.empty() && std::string_view("*._ \n\t,").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  return text;
}

// A text that is cut down to what marks leave of it. Marks are found in any case.
class MarkedText {
 public:
  explicit MarkedText(std::string_view all) : all_(all), lower_(lower_ascii(all)), text_(all) {}
  std::string_view text() const { return text_; }
  void set(std::string_view part) { text_ = part; }

  bool cut_before(std::string_view mark) {  // keeps what follows the last one
    const size_t at = rfind(mark);
    if (at == std::string_view::npos) return false;
    text_ = trimmed(text_.substr(at + mark.size()));
    return true;
  }
  bool cut_from(std::string_view mark) {  // keeps what stands before the last one
    const size_t at = rfind(mark);
    if (at == std::string_view::npos || at == 0) return false;
    text_ = trimmed(text_.substr(0, at));
    return true;
  }
  // Marks inside of a sentence. Each is the last of its kind in what the one before has left.
  bool cut_inside() {
    bool found = false;
    for (const char* mark : {"be ", "is ", "are ", "=", ": ", "get ", "be\n", "is\n", "are\n", ":\n", "get\n"}) {
      found = cut_before(mark) || found;
    }
    return found;
  }

 private:
  size_t rfind(std::string_view mark) const {
    if (text_.empty()) return std::string_view::npos;
    const auto begin = static_cast<size_t>(text_.data() - all_.data());
    return rfind_text(std::string_view(lower_).substr(begin, text_.size()), mark,
                      mark.size() > 2 ? mark.size() - 2 : 0);
  }

  std::string_view all_;
  std::string lower_;
  std::string_view text_;
};

}  // namespace

std::optional<std::string_view> find_marked_answer(std::string_view all) {
  if (const auto box = find_last_box(all); box && !box->closed) return std::string_view();
  MarkedText marked(all);
  bool found = false;
  for (const char* mark : {"answer:", "answer is", "answers are"}) found = marked.cut_before(mark) || found;
  for (const char* mark : {"is answer", "is the answer", "are answers", "are the answers"}) {
    found = marked.cut_from(mark) || found;
  }
  if (const auto box = find_last_box(marked.text())) return box->content;
  const std::string_view text = marked.text();
  if (found) {  // the answer ends with its sentence or paragraph
    marked.set(text.substr(0, std::min(text.find(". "), text.find("\n\n"))));
  } else if (const size_t stop = rfind_text(text, ". "); stop != std::string_view::npos) {
    // the last sentence, or what stands before it where it holds no marked number
    marked.set(text.substr(stop + 2));
    const bool tells = marked.cut_inside() && marked.text().find_first_of("0123456789") != std::string_view::npos;
    marked.set(tells ? text.substr(stop + 2) : text.substr(0, stop));
  }
  found = marked.cut_inside() || found;
  if (!found) return {};
  return without_markup(marked.text().substr(0, marked.text().find(". ")));
}

Score score_prime_math(std::string_view text, std::string_view ground_truth) {
  const auto answer = find_marked_answer(text);
  if (!answer) return to_score({});
  if (answer->empty()) return to_score({Verdict::wrong, "", "wrong: the answer breaks off"});
  return to_score({compare_answers(*answer, ground_truth, {}), std::string(*answer)});
}

}  // namespace hone
