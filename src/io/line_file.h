// A file that grows by whole lines (metrics.jsonl): each line is with the system when write_line returns, so that a
// killed process loses none. Cut back on resume to what the checkpoint knows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace hone::io {

class LineFile {
 public:
  // Opens for appending, makes the file when there is none. Half a line left by a killed process is cut off.
  explicit LineFile(const std::string& path);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  // `line` holds no line end.
  void write_line(std::string_view line);
  // To the disk, for the moment before a checkpoint that relies on the lines.
  void sync();
  // Where the next line will begin.
  int64_t size_bytes() const { return size_bytes_; }

 private:
  std::string path_;
  int fd_ = -1;
  int64_t size_bytes_ = 0;
};

// Cuts the file to its first size_bytes, which must be there. A missing file counts as empty.
void cut_back(const std::string& path, int64_t size_bytes);
// Keeps the leading whole lines for which keep(line) holds and cuts from the first other one; gives the size that is
// left.
int64_t cut_back_to(const std::string& path, const std::function<bool(std::string_view)>& keep);

}  // namespace hone::io
