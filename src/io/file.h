// Files as they are met: whole reads and read-only maps. Every failure is an Error with the path and the system's
// reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::io {

std::string read_file(const std::string& path);
bool exists(const std::string& path);
bool is_folder(const std::string& path);
// Makes the folder and its parents; an existing one is fine.
void make_folders(const std::string& path);
// "a/b" + "c" -> "a/b/c".
std::string join_path(const std::string& folder, const std::string& name);
// "cannot WHAT PATH: reason of errno", as an Error.
[[noreturn]] void raise_system(const std::string& what, const std::string& path, int error_number);

// A file in memory, read only, loaded by the system as it is touched. The file must not shrink meanwhile.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
  MappedFile& operator=(MappedFile&& other) noexcept;
  const uint8_t* data() const { return data_; }
  int64_t size_bytes() const { return size_bytes_; }

 private:
  uint8_t* data_ = nullptr;
  int64_t size_bytes_ = 0;
};

}  // namespace hone::io
