#include "io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/error.h"

namespace hone::io {
namespace {

// A descriptor that closes itself, open for reading a regular file.
struct Input {
  explicit Input(const std::string& path) : fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd < 0) raise_system("open", path, errno);
    struct stat status;
    if (::fstat(fd, &status) != 0 || S_ISDIR(status.st_mode)) {
      const int error_number = S_ISDIR(status.st_mode) ? EISDIR : errno;
      ::close(fd);
      raise_system("read", path, error_number);
    }
    size_bytes = status.st_size;
  }
  ~Input() { ::close(fd); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  int fd;
  int64_t size_bytes = 0;
};

}  // namespace

void raise_system(const std::string& what, const std::string& path, int error_number) {
  throw Error(fmt::format("cannot {} {}: {}", what, path, std::strerror(error_number)));
}

std::string read_file(const std::string& path) {
  Input input(path);
  std::string text;
  // The size is a first guess: pipes and files under /proc have none.
  text.resize(static_cast<size_t>(input.size_bytes) + 1);
  size_t used = 0;
  while (true) {
    if (used == text.size()) text.resize(text.size() * 2 + 4096);
    const ssize_t n = ::read(input.fd, text.data() + used, text.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) raise_system("read", path, errno);
    if (n == 0) break;
    used += static_cast<size_t>(n);
  }
  text.resize(used);
  return text;
}

bool exists(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0;
}

bool is_folder(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

void make_folders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !is_folder(path)) raise_system("make folder", path, error ? error.value() : ENOTDIR);
}

std::string join_path(const std::string& folder, const std::string& name) {
  if (folder.empty()) return name;
  return folder.back() == '/' ? folder + name : folder + "/" + name;
}

MappedFile::MappedFile(const std::string& path) {
  Input input(path);
  if (input.size_bytes == 0) return;
  void* data = ::mmap(nullptr, static_cast<size_t>(input.size_bytes), PROT_READ, MAP_PRIVATE, input.fd, 0);
  if (data == MAP_FAILED) raise_system("map", path, errno);
  data_ = static_cast<uint8_t*>(data);
  size_bytes_ = input.size_bytes;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, static_cast<size_t>(size_bytes_));
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

}  // namespace hone::io
