#include "io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "io/system_calls.h"

namespace hone::io {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "something else";
}

int64_t modified_ns(const struct stat& status) {
  return status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
}

// A descriptor that closes itself, open for reading a regular file. A pipe is opened without waiting for its writer.
struct Input {
  explicit Input(const std::string& path) : fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd < 0) raise_system("open", path, errno);
    const bool known = ::fstat(fd, &status) == 0;
    if (known && S_ISREG(status.st_mode)) return;
    const int error_number = known ? EISDIR : errno;
    ::close(fd);
    if (!known || S_ISDIR(status.st_mode)) raise_system("read", path, error_number);
    throw Error(fmt::format("cannot read {}: expected a regular file, found {}", path, kind_of(status.st_mode)),
                "write its content into a file first");
  }
  ~Input() { ::close(fd); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  int64_t size_bytes() const { return status.st_size; }
  int fd;
  struct stat status;
};

// Mapped files for the handler of SIGBUS; those beyond the slots have no name there.
struct MappedSlot {
  std::atomic<const uint8_t*> begin{nullptr};
  std::atomic<int64_t> size_bytes{0};
  char path[256];
};
MappedSlot g_slots[256];

void put_slot(const uint8_t* begin, int64_t size_bytes, const std::string& path) {
  for (MappedSlot& slot : g_slots) {
    const uint8_t* free = nullptr;
    if (!slot.begin.compare_exchange_strong(free, begin)) continue;
    const size_t length = std::min(path.size(), sizeof slot.path - 1);
    std::memcpy(slot.path, path.data(), length);
    slot.path[length] = '\0';
    slot.size_bytes = size_bytes;
    return;
  }
}

void clear_slot(const uint8_t* begin) {
  for (MappedSlot& slot : g_slots) {
    if (slot.begin != begin) continue;
    slot.size_bytes = 0;
    slot.begin = nullptr;
    return;
  }
}

}  // namespace

void raise_system(const std::string& what, const std::string& path, int error_number) {
  const bool full = error_number == ENOSPC || error_number == EDQUOT;
  throw Error(fmt::format("cannot {} {}: {}", what, path, std::strerror(error_number)),
              full ? "make room on that file system, then start the same command again" : "");
}

std::string read_file(const std::string& path, int64_t max_bytes) {
  const auto check_size = [&](int64_t size_bytes) {
    if (size_bytes <= max_bytes) return;
    throw Error(fmt::format("{}: expected at most {} bytes, found {}", path, max_bytes, size_bytes),
                "split it, or look whether this is the right file");
  };
  Input input(path);
  check_size(input.size_bytes());
  std::string text;
  // The size is a first guess: files under /proc have none, and others may grow.
  text.resize(static_cast<size_t>(input.size_bytes()) + 1);
  size_t used = 0;
  while (true) {
    check_size(static_cast<int64_t>(used));
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
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string folder = path.substr(0, end);
    if (!is_folder(folder) && system_calls().mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
      raise_system("make folder", folder, errno);
    }
    if (end == std::string::npos) break;
  }
  if (!is_folder(path)) raise_system("make folder", path, ENOTDIR);
}

double free_bytes(const std::string& path) {
  struct statvfs status;
  if (::statvfs(path.c_str(), &status) != 0) raise_system("look at the file system of", path, errno);
  return static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize);
}

std::string join_path(const std::string& folder, const std::string& name) {
  if (folder.empty()) return name;
  return folder.back() == '/' ? folder + name : folder + "/" + name;
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  Input input(path);
  inode_ = static_cast<int64_t>(input.status.st_ino);
  modified_ns_ = modified_ns(input.status);
  if (input.size_bytes() == 0) return;
  void* data = ::mmap(nullptr, static_cast<size_t>(input.size_bytes()), PROT_READ, MAP_PRIVATE, input.fd, 0);
  if (data == MAP_FAILED) raise_system("map", path, errno);
  data_ = static_cast<uint8_t*>(data);
  size_bytes_ = input.size_bytes();
  put_slot(data_, size_bytes_, path);
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  clear_slot(data_);
  ::munmap(data_, static_cast<size_t>(size_bytes_));
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(inode_, other.inode_);
  std::swap(modified_ns_, other.modified_ns_);
  return *this;
}

void MappedFile::check_unchanged() const {
  if (path_.empty()) return;
  struct stat status;
  if (::stat(path_.c_str(), &status) != 0) raise_system("read", path_, errno);
  const char* what = nullptr;
  if (status.st_size != size_bytes_) {
    what = "its size";
  } else if (static_cast<int64_t>(status.st_ino) != inode_) {
    what = "the file under this name";
  } else if (modified_ns(status) != modified_ns_) {
    what = "its content";
  }
  if (what == nullptr) return;
  throw Error(fmt::format("{}: {} changed while it was read: {} bytes at first, {} now", path_, what, size_bytes_,
                          status.st_size),
              "wait until nothing writes this file, then start again");
}

const char* name_mapped_file(const void* address) {
  const auto* byte = static_cast<const uint8_t*>(address);
  for (const MappedSlot& slot : g_slots) {
    const uint8_t* begin = slot.begin;
    if (begin != nullptr && byte >= begin && byte < begin + slot.size_bytes + 4096) return slot.path;
  }
  return nullptr;
}

}  // namespace hone::io
