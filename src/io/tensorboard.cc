#include "io/tensorboard.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>

#include "core/activity.h"
#include "core/error.h"
#include "io/file.h"
#include "io/line_file.h"
#include "io/system_calls.h"

namespace hone::io {

namespace {

// Field numbers of TensorFlow's event.proto and summary.proto.
constexpr uint64_t kEventWallTime = 1, kEventStep = 2, kEventFileVersion = 3, kEventSummary = 5, kEventSession = 7;
constexpr uint64_t kSummaryValue = 1, kValueTag = 1, kValueSimple = 2, kSessionStatus = 1, kSessionStart = 1;
// Wire types of protobuf.
constexpr uint64_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

constexpr std::string_view kFilePrefix = "events.out.tfevents.";
constexpr std::string_view kFileVersion = "brain.Event:2";
constexpr size_t kHeaderBytes = 12, kFooterBytes = 4;

template <class T>
void put_fixed(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void put_key(std::string& out, uint64_t field, uint64_t wire_type) { put_varint(out, field << 3 | wire_type); }

void put_bytes(std::string& out, uint64_t field, std::string_view bytes) {
  put_key(out, field, kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

std::string encode(const TensorBoardEvent& event) {
  std::string out;
  put_key(out, kEventWallTime, kFixed64);
  put_fixed(out, std::bit_cast<uint64_t>(event.wall_time));
  put_key(out, kEventStep, kVarint);
  put_varint(out, static_cast<uint64_t>(event.step));
  if (!event.file_version.empty()) put_bytes(out, kEventFileVersion, event.file_version);
  std::string summary;
  for (const auto& [tag, number] : event.scalars) {
    std::string value;
    put_bytes(value, kValueTag, tag);
    put_key(value, kValueSimple, kFixed32);
    put_fixed(value, std::bit_cast<uint32_t>(number));
    put_bytes(summary, kSummaryValue, value);
  }
  if (!summary.empty()) put_bytes(out, kEventSummary, summary);
  if (event.session_start) {
    std::string session;
    put_key(session, kSessionStatus, kVarint);
    put_varint(session, kSessionStart);
    put_bytes(out, kEventSession, session);
  }
  return out;
}

template <class T>
T get_fixed(std::string_view bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  return value;
}

// The fields of a protobuf message, one after the other. Ends, with `broken` set, where the bytes make no sense.
struct Fields {
  std::string_view rest;
  bool broken = false;
  uint64_t field = 0, wire_type = 0;
  uint64_t number = 0;            // of varints and fixed fields
  std::string_view content = {};  // of fields of bytes

  bool next() {
    if (rest.empty() || broken) return false;
    const uint64_t key = varint();
    field = key >> 3;
    wire_type = key & 7;
    if (wire_type == kVarint) number = varint();
    if (wire_type == kFixed64) number = fixed<uint64_t>();
    if (wire_type == kFixed32) number = fixed<uint32_t>();
    if (wire_type == kBytes) content = take(varint());
    broken = broken || (wire_type != kVarint && wire_type != kFixed64 && wire_type != kFixed32 && wire_type != kBytes);
    return !broken;
  }

 private:
  std::string_view take(uint64_t count) {
    if (count > rest.size()) broken = true;
    if (broken) return {};
    const std::string_view taken = rest.substr(0, count);
    rest.remove_prefix(count);
    return taken;
  }
  template <class T>
  T fixed() {
    const std::string_view bytes = take(sizeof(T));
    return broken ? 0 : get_fixed<T>(bytes);
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::string_view byte = take(1);
      if (broken) return 0;
      value |= (static_cast<uint8_t>(byte[0]) & uint64_t{0x7f}) << shift;
      if ((byte[0] & 0x80) == 0) return value;
    }
    broken = true;
    return 0;
  }
};

bool decode_value(std::string_view bytes, TensorBoardEvent& event) {
  Fields fields{bytes};
  std::string tag;
  float number = 0;
  bool simple = false;
  while (fields.next()) {
    if (fields.field == kValueTag && fields.wire_type == kBytes) tag = fields.content;
    if (fields.field == kValueSimple && fields.wire_type == kFixed32) {
      number = std::bit_cast<float>(static_cast<uint32_t>(fields.number));
      simple = true;
    }
  }
  if (simple) event.scalars.emplace_back(std::move(tag), number);
  return !fields.broken;
}

bool decode(std::string_view bytes, TensorBoardEvent& event) {
  Fields fields{bytes};
  bool good = true;
  while (good && fields.next()) {
    if (fields.field == kEventWallTime) event.wall_time = std::bit_cast<double>(fields.number);
    if (fields.field == kEventStep) event.step = static_cast<int64_t>(fields.number);
    if (fields.field == kEventFileVersion) event.file_version = fields.content;
    if (fields.field == kEventSession) event.session_start = true;
    if (fields.field != kEventSummary) continue;
    Fields values{fields.content};
    while (good && values.next()) {
      if (values.field == kSummaryValue && values.wire_type == kBytes) good = decode_value(values.content, event);
    }
    good = good && !values.broken;
  }
  return good && !fields.broken;
}

std::array<uint32_t, 256> make_crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
    table[byte] = crc;
  }
  return table;
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 65> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "host";
  return name.data();
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static const std::array<uint32_t, 256> kTable = make_crc_table();
  uint32_t crc = 0xffffffff;
  for (const char byte : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xff];
  return crc ^ 0xffffffff;
}

uint32_t masked_crc32c(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8u; }

std::string tensorboard_record(const TensorBoardEvent& event) {
  const std::string content = encode(event);
  std::string record;
  put_fixed(record, static_cast<uint64_t>(content.size()));
  put_fixed(record, masked_crc32c(record));
  record += content;
  put_fixed(record, masked_crc32c(content));
  return record;
}

std::vector<TensorBoardEvent> read_tensorboard_events(std::string_view bytes, std::string* rest) {
  std::vector<TensorBoardEvent> events;
  std::string fault;
  size_t begin = 0;
  while (begin < bytes.size() && fault.empty()) {
    const std::string_view record = bytes.substr(begin);
    if (record.size() < kHeaderBytes) {
      fault = "half a record";
      break;
    }
    const auto length = get_fixed<uint64_t>(record);
    if (get_fixed<uint32_t>(record.substr(8)) != masked_crc32c(record.substr(0, 8))) {
      fault = "the checksum of a length is wrong";
    } else if (length > record.size() - kHeaderBytes || record.size() - kHeaderBytes - length < kFooterBytes) {
      fault = "half a record";
    } else {
      const std::string_view content = record.substr(kHeaderBytes, length);
      TensorBoardEvent event;
      if (get_fixed<uint32_t>(record.substr(kHeaderBytes + length)) != masked_crc32c(content)) {
        fault = "the checksum of a record is wrong";
      } else if (!decode(content, event)) {
        fault = "a record is no event";
      } else {
        begin += kHeaderBytes + length + kFooterBytes;
        event.end = static_cast<int64_t>(begin);
        events.push_back(std::move(event));
      }
    }
  }
  if (!fault.empty()) fault = fmt::format("byte {}: {}", begin, fault);
  if (rest != nullptr) *rest = fault;
  return events;
}

TensorBoardFile::TensorBoardFile(const std::string& folder, const std::string& owner,
                                 std::optional<int64_t> last_step) {
  make_folders(folder);
  const std::string suffix = "." + owner;
  const double now = now_seconds();
  auto second = static_cast<int64_t>(now);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string(), path = entry.path().string();
    if (!name.starts_with(kFilePrefix) || !name.ends_with(suffix)) continue;
    int64_t older = 0;  // readers go by the order of names: the new file comes last
    std::from_chars(name.data() + kFilePrefix.size(), name.data() + name.size(), older);
    second = std::max(second, older + 1);
    int64_t kept = 0;
    bool any = false;
    if (last_step) {
      for (const TensorBoardEvent& event : read_tensorboard_events(read_file(path))) {
        if (event.step > *last_step) break;
        kept = event.end;
        any = any || !event.scalars.empty();
      }
    }
    if (any) cut_back(path, kept);
    if (!any) remove_tree(path);
  }
  const std::string host = host_name();
  for (int64_t count = 0; fd_ < 0; ++count) {  // processes of one second and another machine may have the same number
    path_ = join_path(folder, fmt::format("{}{:010}.{}.{}.{}{}", kFilePrefix, second, host, ::getpid(), count, suffix));
    fd_ = system_calls().open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
    if (fd_ < 0 && errno != EEXIST) raise_system("write", path_, errno);
  }
  append({.wall_time = now, .step = 0, .file_version = std::string(kFileVersion), .scalars = {}});
  if (last_step)
    append({.wall_time = now, .step = *last_step + 1, .file_version = "", .session_start = true, .scalars = {}});
}

TensorBoardFile::~TensorBoardFile() {
  if (fd_ >= 0) system_calls().close(fd_);
}

void TensorBoardFile::write(int64_t step, std::span<const std::pair<std::string, double>> scalars) {
  TensorBoardEvent event;
  event.wall_time = now_seconds();
  event.step = step;
  for (const auto& [name, value] : scalars) event.scalars.emplace_back(name, static_cast<float>(value));
  append(event);
}

void TensorBoardFile::append(const TensorBoardEvent& event) {
  const Doing doing("writing to the TensorBoard file");
  const std::string record = tensorboard_record(event);
  if (!write_all(fd_, record.data(), record.size())) raise_system("write", path_, errno);
}

}  // namespace hone::io
