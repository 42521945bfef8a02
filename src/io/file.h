// Files as they are met: whole reads and read-only maps. Every failure is an Error with the path and the system's
// reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::io {

// Largest file that is read into memory as a whole; weights are mapped instead.
constexpr int64_t kLargestText = int64_t{1} << 33;
// Only regular files are read, so that a pipe without a writer or a device without an end is an error, not a hang. A
// file beyond max_bytes is refused before it takes memory.
std::string read_file(const std::string& path, int64_t max_bytes = kLargestText);
bool exists(const std::string& path);
bool is_folder(const std::string& path);
// Makes the folder and its parents; an existing one is fine.
void make_folders(const std::string& path);
// Bytes that this user may still write on the file system of a path that is there.
double free_bytes(const std::string& path);
// "a/b" + "c" -> "a/b/c".
std::string join_path(const std::string& folder, const std::string& name);
// "cannot WHAT PATH: reason of errno", as an Error.
[[noreturn]] void raise_system(const std::string& what, const std::string& path, int error_number);

// A regular file in memory, read only, loaded by the system as it is touched. When another process cuts it short
// meanwhile, touching what is gone ends this one (SIGBUS); name_mapped_file tells the handler which file it was.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
  MappedFile& operator=(MappedFile&& other) noexcept;
  const uint8_t* data() const { return data_; }
  int64_t size_bytes() const { return size_bytes_; }
  // Raises Error when the file under that path is another than the mapped one, or was written since. Call it after the
  // last read: what was read before may then be of two versions.
  void check_unchanged() const;

 private:
  std::string path_;
  uint8_t* data_ = nullptr;
  int64_t size_bytes_ = 0;
  int64_t inode_ = 0, modified_ns_ = 0;
};

// The path of the mapped file that holds this address, or nullptr. Safe in a signal handler.
const char* name_mapped_file(const void* address);

}  // namespace hone::io
