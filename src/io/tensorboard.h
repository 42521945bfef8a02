// TensorBoard event files: scalars by step, as TensorBoard reads them.
// A file is a run of records (TFRecord: length, its checksum, bytes, their checksum), each record one Event in protobuf
// form: the first names the format, every other holds the scalars of a step. Left out: all other kinds of summaries.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::io {

// CRC-32C (Castagnoli), and the form in which records hold it.
uint32_t crc32c(std::string_view bytes);
uint32_t masked_crc32c(std::string_view bytes);

struct TensorBoardEvent {
  double wall_time = 0;  // seconds since 1970
  int64_t step = 0;
  std::string file_version;    // of the first event
  bool session_start = false;  // steps from this one on are told anew: readers forget what they have of them
  std::vector<std::pair<std::string, float>> scalars;
  int64_t end = 0;  // place in the file after the event
};

// The events up to the end or to the first record that is cut short or has a wrong checksum; *rest then says why.
std::vector<TensorBoardEvent> read_tensorboard_events(std::string_view bytes, std::string* rest = nullptr);

// The event as a record.
std::string tensorboard_record(const TensorBoardEvent& event);

// One event file, made for this process; each step is with the system when write() returns.
class TensorBoardFile {
 public:
  // A new file in the folder, which is made. `owner` marks the files of one run in a folder that several may share:
  // letters and digits. Steps after last_step in older files of this owner are cut off, half a record with them:
  // they are of a future that did not happen. Without last_step older files of this owner go.
  TensorBoardFile(const std::string& folder, const std::string& owner, std::optional<int64_t> last_step);
  ~TensorBoardFile();
  TensorBoardFile(const TensorBoardFile&) = delete;
  TensorBoardFile& operator=(const TensorBoardFile&) = delete;

  void write(int64_t step, std::span<const std::pair<std::string, double>> scalars);
  const std::string& path() const { return path_; }

 private:
  void append(const TensorBoardEvent& event);

  std::string path_;
  int fd_ = -1;
};

}  // namespace hone::io
