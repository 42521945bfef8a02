#include "io/line_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/activity.h"
#include "core/error.h"
#include "io/file.h"
#include "io/system_calls.h"

namespace hone::io {

LineFile::LineFile(const std::string& path) : path_(path) {
  size_bytes_ = cut_back_to(path, [](std::string_view) { return true; });
  fd_ = system_calls().open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) raise_system("write", path_, errno);
}

LineFile::~LineFile() {
  if (fd_ >= 0) system_calls().close(fd_);
}

void LineFile::write_line(std::string_view line) {
  HONE_CHECK(line.find('\n') == std::string_view::npos, "a line for {} holds a line end", path_);
  const Doing doing("writing a line");
  std::string bytes(line);
  bytes += '\n';
  if (!write_all(fd_, bytes.data(), bytes.size())) {
    const int error_number = errno;
    // half a line is no line: readers shall not meet it (if this fails too, the next start cuts it off)
    system_calls().truncate(path_.c_str(), size_bytes_);
    raise_system("write", path_, error_number);
  }
  size_bytes_ += static_cast<int64_t>(bytes.size());
}

void LineFile::sync() {
  const Doing doing("syncing a file");
  if (system_calls().fsync(fd_) != 0) raise_system("sync", path_, errno);
}

void cut_back(const std::string& path, int64_t size_bytes) {
  struct stat status;
  const bool there = ::stat(path.c_str(), &status) == 0;
  const int64_t found = there ? status.st_size : 0;
  if (found < size_bytes) {
    throw Error(fmt::format("{}: expected at least {} bytes, found {}", path, size_bytes, found),
                "the file lost lines that its checkpoint counts on");
  }
  if (found > size_bytes && system_calls().truncate(path.c_str(), size_bytes) != 0)
    raise_system("cut back", path, errno);
}

int64_t cut_back_to(const std::string& path, const std::function<bool(std::string_view)>& keep) {
  if (!exists(path)) return 0;
  const std::string text = read_file(path);
  size_t kept = 0;
  while (true) {
    const size_t end = text.find('\n', kept);
    if (end == std::string::npos || !keep(std::string_view(text).substr(kept, end - kept))) break;
    kept = end + 1;
  }
  cut_back(path, static_cast<int64_t>(kept));
  return static_cast<int64_t>(kept);
}

}  // namespace hone::io
