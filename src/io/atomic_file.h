// Files and folders that appear whole or not at all: written under another name in the same folder, synced to the disk,
// then renamed. After kill -9 or a power cut at any point the old one or the new one is there, never half of one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::io {

// Writes the file in pieces; it appears at commit(). Without commit the old file stays and the pieces go.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void write(const void* data, int64_t size_bytes);
  void write(std::string_view text) { write(text.data(), static_cast<int64_t>(text.size())); }
  void commit();

 private:
  std::string path_, temporary_;
  int fd_ = -1;
  bool committed_ = false;
};

void write_file(const std::string& path, std::string_view text);

// Fill the folder at path() with files; commit() syncs all of them and puts the folder in place, exchanging it with an
// older one of that name in a single step. Without commit the older one stays and the new one goes.
class AtomicFolder {
 public:
  explicit AtomicFolder(const std::string& final_path);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;
  const std::string& path() const { return temporary_; }
  void commit();

 private:
  std::string final_path_, temporary_;
  bool committed_ = false;
};

// Removes a folder with what is in it. At once it bears a leftover's name, so that no half of it is taken for the
// whole; what cannot be removed stays under that name. Raises Error when the folder is there as it was.
void remove_folder(const std::string& path);

// Removes what killed writers left in this folder: temporary names whose process is gone. For the start of a command,
// before this process writes there.
void remove_leftovers(const std::string& folder);

}  // namespace hone::io
