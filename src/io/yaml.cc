// The reader of YAML: yaml-cpp's events, with the checks it leaves to its caller. The only file that includes it.
#include "io/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

#include "core/error.h"
#include "io/file.h"
#include "io/key_table.h"

namespace hone::io {
namespace {

constexpr size_t kDeepestYaml = 100;
constexpr int64_t kMostNodes = 1'000'000;  // aliases multiply; a recipe has hundreds
constexpr int64_t kMostTextBytes = int64_t{64} << 20;
constexpr int64_t kLargestFile = int64_t{1} << 24;

class YamlBuilder : public YAML::EventHandler {
 public:
  explicit YamlBuilder(const std::string& name) : name_(name) {}
  Yaml result;
  int documents = 0;

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents > 1) fail(mark, "a second document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { scalar(mark, anchor, Json(), ""); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    // yaml-cpp's tags: "?" plain, "!" quoted, "" plain in some places.
    if (tag != "?" && tag != "!" && !tag.empty()) fail(mark, "tag " + visible(tag));
    if (tag != "!" && text == "<<" && in_key()) fail(mark, "a merge key << (write the keys out)");
    scalar(mark, anchor, tag == "!" ? Json(text) : plain_scalar(text), text);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(mark, "an alias within its own anchor");
    if (in_key()) fail(mark, "an alias as key");
    count(mark, found->second, open_.size(), path_bytes());
    put(found->second);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Json(Json::Array()));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Json(Json::Object()));
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    Json value;
    YAML::Mark mark;  // where it begins
    YAML::anchor_t anchor;
    bool has_key = false;  // of the last member, whose value is to come
    KeyTable keys;
    std::string path;  // dotted, of this value
  };

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& what) const {
    throw Error(fmt::format("{}:{}:{}: {}", name_, mark.line + 1, mark.column + 1, what));
  }

  bool in_key() const { return !open_.empty() && open_.back().value.is_object() && !open_.back().has_key; }

  // Of the value that comes next: its dotted path is a key of `lines`, and of each setting within it.
  size_t path_bytes() const {
    if (open_.empty()) return 0;
    const Frame& frame = open_.back();
    return frame.path.size() + (frame.has_key ? frame.value.as_object().back().key.size() + 1 : 0);
  }

  void count_text(const YAML::Mark& mark, size_t bytes) {
    text_bytes_ += static_cast<int64_t>(bytes);
    if (text_bytes_ > kMostTextBytes) fail(mark, fmt::format("more than {} bytes of text", kMostTextBytes));
  }

  // To be asked before the value is taken or copied. Every key counts with the path that leads to it.
  void count(const YAML::Mark& mark, const Json& value, size_t depth, size_t path_size) {
    if (++nodes_ > kMostNodes) fail(mark, fmt::format("more than {} values", kMostNodes));
    if (depth > kDeepestYaml) fail(mark, fmt::format("nested deeper than {} levels", kDeepestYaml));
    if (value.is_string()) count_text(mark, value.as_string().size());
    if (value.kind() == Json::Kind::big_integer) count_text(mark, value.digits().size());
    if (value.is_array()) {
      for (const Json& item : value.as_array()) count(mark, item, depth + 1, path_size);
    } else if (value.is_object()) {
      for (const Json::Member& member : value.as_object()) {
        const size_t longer = path_size + member.key.size() + 1;
        count_text(mark, longer);
        count(mark, member.value, depth + 1, longer);
      }
    }
  }

  void keep_anchor(const YAML::Mark& mark, YAML::anchor_t anchor, const Json& value) {
    if (anchor == 0) return;
    count(mark, value, open_.size(), path_bytes());  // a copy like any other
    anchors_[anchor] = value;
  }

  void scalar(const YAML::Mark& mark, YAML::anchor_t anchor, Json value, const std::string& text) {
    if (!in_key()) {
      count(mark, value, open_.size(), path_bytes());
      keep_anchor(mark, anchor, value);
      put(std::move(value));
      return;
    }
    Frame& frame = open_.back();
    count_text(mark, frame.path.size() + text.size() + 1);
    Json::Object& members = frame.value.object_members();
    members.push_back({text, Json()});  // its value follows
    if (frame.keys.repeats(members)) fail(mark, fmt::format("key {} comes twice", visible(text)));
    frame.has_key = true;
    result.lines.emplace(path_of_key(), mark.line + 1);
  }

  std::string path_of_key() const {
    const Frame& frame = open_.back();
    const std::string& key = frame.value.as_object().back().key;
    return frame.path.empty() ? key : frame.path + "." + key;
  }

  void put(Json value) {
    if (open_.empty()) {
      result.tree = std::move(value);
    } else if (open_.back().value.is_array()) {
      open_.back().value.push_back(std::move(value));
    } else {
      open_.back().value.object_members().back().value = std::move(value);
      open_.back().has_key = false;
    }
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Json value) {
    if (tag != "?" && tag != "!" && !tag.empty()) fail(mark, "tag " + visible(tag));
    if (in_key()) fail(mark, "a key that is not a scalar");
    count(mark, value, open_.size() + 1, path_bytes());
    std::string path;
    if (!open_.empty()) {
      path = open_.back().value.is_object()
                 ? path_of_key()
                 : fmt::format("{}[{}]", open_.back().path, open_.back().value.as_array().size());
    }
    open_.push_back({std::move(value), mark, anchor, false, {}, std::move(path)});
  }

  void close() {
    Frame frame = std::move(open_.back());
    open_.pop_back();
    keep_anchor(frame.mark, frame.anchor, frame.value);
    put(std::move(frame.value));
  }

  const std::string& name_;
  std::vector<Frame> open_;
  std::map<YAML::anchor_t, Json> anchors_;
  int64_t nodes_ = 0, text_bytes_ = 0;
};

}  // namespace

Yaml parse_yaml(std::string_view text, const std::string& name) {
  const size_t broken = find_broken_utf8(text);
  if (broken != std::string_view::npos) {
    const auto [line, column] = line_and_column(text, broken);
    throw Error(fmt::format("{}:{}:{}: bytes that are not UTF-8", name, line, column));
  }
  // yaml-cpp takes a zero byte for a sign of UTF-16; YAML has no place for the others either
  const auto control = std::find_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == '\x7f';
  });
  if (control != text.end()) {
    const auto [line, column] = line_and_column(text, static_cast<size_t>(control - text.begin()));
    throw Error(fmt::format("{}:{}:{}: a control character {}", name, line, column, visible({&*control, 1})));
  }
  YamlBuilder builder(name);
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    throw Error(fmt::format("{}:{}:{}: {}", name, error.mark.line + 1, error.mark.column + 1, error.msg));
  }
  return std::move(builder.result);
}

Yaml read_yaml(const std::string& path) { return parse_yaml(read_file(path, kLargestFile), path); }

}  // namespace hone::io
