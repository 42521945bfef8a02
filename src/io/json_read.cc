// The reader of Json: nlohmann's SAX parser, with the checks it leaves to its caller. The only file that includes it.
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "io/json.h"
#include "io/key_table.h"
#include "io/utf8.h"

namespace hone::io {
namespace {

constexpr size_t kDeepest = 100;
constexpr size_t kShownFault = 200;  // the parser's messages quote what it read last, however long

// Tells the handler how far the parser has read; nlohmann's events carry no position.
struct CountingIterator {
  using difference_type = std::ptrdiff_t;
  using value_type = char;
  using pointer = const char*;
  using reference = const char&;
  using iterator_category = std::input_iterator_tag;
  const char* at;
  const char** read;
  reference operator*() const { return *at; }
  CountingIterator& operator++() {
    *read = ++at;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at == other.at; }
  bool operator!=(const CountingIterator& other) const { return at != other.at; }
};

// Builds the tree; returns false to stop, with the reason in `fault`.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Json root;
  std::string fault;
  size_t fault_byte = std::string::npos;  // set when the parser says where; else where it had read to

  bool null() override { return put(Json()); }
  bool boolean(bool value) override { return put(Json(value)); }
  bool number_integer(number_integer_t value) override { return put(Json(int64_t{value})); }
  bool number_unsigned(number_unsigned_t value) override { return put(Json(uint64_t{value})); }
  bool number_float(number_float_t value, const string_t& text) override {
    const bool whole = text.find_first_of(".eE") == std::string::npos;
    return put(whole ? Json::big_integer(text) : Json(value));
  }
  bool string(string_t& value) override { return put(Json(std::move(value))); }
  bool binary(binary_t&) override { return stop("binary value"); }
  bool start_object(std::size_t) override { return open(Json(Json::Object())); }
  bool start_array(std::size_t) override { return open(Json(Json::Array())); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    Json::Object& members = open_.back().value->object_members();
    members.push_back({std::move(key), Json()});
    if (open_.back().keys.repeats(members)) return stop("key " + Json(members.back().key).dump() + " comes twice");
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    fault = error.what();
    for (const char* mark : {"syntax error while ", "number overflow"}) {
      const size_t begin = fault.find(mark);
      if (begin != std::string::npos) fault.erase(0, begin);
    }
    if (fault.size() > kShownFault) {
      size_t cut = kShownFault;
      while ((static_cast<unsigned char>(fault[cut]) & 0xc0) == 0x80) --cut;
      fault = fault.substr(0, cut) + "...";
    }
    if (position > 0) fault_byte = position - 1;
    return false;
  }

 private:
  struct Frame {
    Json* value;
    KeyTable keys;
  };

  bool stop(std::string what) {
    fault = std::move(what);
    return false;
  }

  // Where a value goes stays put while it is filled: its parent takes no other value meanwhile.
  Json* place(Json value) {
    if (open_.empty()) return &(root = std::move(value));
    Json& parent = *open_.back().value;
    if (parent.is_array()) {
      parent.array_items().push_back(std::move(value));
      return &parent.array_items().back();
    }
    return &(parent.object_members().back().value = std::move(value));
  }

  bool put(Json value) {
    place(std::move(value));
    return true;
  }

  bool open(Json value) {
    if (open_.size() >= kDeepest) return stop(fmt::format("nested deeper than {} levels", kDeepest));
    open_.push_back({place(std::move(value)), {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::vector<Frame> open_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& name, int64_t first_line) {
  const auto raise = [&](size_t byte, const std::string& what) {
    const auto [line, column] = line_and_column(text, byte);
    throw Error(fmt::format("{}:{}:{}: {}", name, first_line + line - 1, column, what));
  };
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  const size_t skipped = text.compare(0, kMark.size(), kMark) == 0 ? kMark.size() : 0;
  const size_t broken = find_broken_utf8(text);
  if (broken != std::string_view::npos) raise(broken, "bytes that are not UTF-8");

  Builder builder;
  const char* begin = text.data() + skipped;
  const char* end = text.data() + text.size();
  const char* read = begin;
  if (!nlohmann::json::sax_parse(CountingIterator{begin, &read}, CountingIterator{end, &read}, &builder)) {
    size_t byte = builder.fault_byte;
    if (byte == std::string::npos) byte = read == begin ? 0 : static_cast<size_t>(read - begin) - 1;
    raise(skipped + byte, builder.fault);
  }
  return std::move(builder.root);
}

}  // namespace hone::io
