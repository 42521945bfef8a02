// OutputLog: what processes beside this one print, line by line, in a file: never in the way of ours. Any number of
// threads may add. A write that fails, and what is beyond the limit, is left out: no run ends or differs for it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace hone::workers {

class OutputLog {
 public:
  explicit OutputLog(int num_sources, int64_t max_bytes = int64_t{64} << 20);
  ~OutputLog();  // lines without an end are written too

  // Kept in memory until there is a file; empty: the error output of this program.
  void open(const std::string& path);
  // Bytes of a source; a line is written when it is whole, after "[source] ".
  void add(int source, std::string_view bytes);

 private:
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stderr) std::fclose(file);
    }
  };
  void write(int source, std::string_view line);

  std::mutex mutex_;
  std::vector<std::string> begun_;  // of each source, a line without its end
  int64_t left_;                    // bytes
  std::string early_;               // while there is no file
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace hone::workers
