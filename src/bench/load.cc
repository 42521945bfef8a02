#include "bench/load.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>

#include "bench/model_shapes.h"
#include "bench/pin.h"
#include "bench/timing.h"
#include "core/error.h"
#include "io/file.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "loop/process_memory.h"
#include "weights/hf_config.h"
#include "weights/hf_folder.h"

namespace hone::bench {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kPiece = 4 << 20;  // bytes of one read

// A temporary folder with random weights in bf16, as checkpoints are published; gone with the object.
class DummyFolder {
 public:
  explicit DummyFolder(const ModelShape& shape)
      : path_(fs::temp_directory_path() / fmt::format("hone-bench-load-{}-{}", shape.name, ::getpid())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
    write_dummy_model(path_.string(), shape);
  }
  ~DummyFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  DummyFolder(const DummyFolder&) = delete;
  DummyFolder& operator=(const DummyFolder&) = delete;
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

struct WeightFile {
  std::string path;
  int64_t size_bytes = 0;
};

std::vector<WeightFile> weight_files(const std::string& folder) {
  std::vector<WeightFile> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".safetensors") continue;
    files.push_back({entry.path().string(), static_cast<int64_t>(entry.file_size())});
  }
  if (files.empty()) throw Error(fmt::format("{}: expected safetensors files, found none", folder));
  return files;
}

// Reads every byte of the files with all threads, in pieces of kPiece bytes: into memory of their size that is newly
// had from the system, as a program that keeps what it reads has to; or over and over into one piece a thread, which is
// the page cache alone.
void read_all(kernels::Context& ctx, const std::vector<WeightFile>& files, bool keep) {
  for (const WeightFile& file : files) {
    Buffer<char> memory(keep ? file.size_bytes : ctx.team.num_threads() * kPiece);
    const int fd = ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) io::raise_system("open", file.path, errno);
    ctx.team.run((file.size_bytes + kPiece - 1) / kPiece, [&](int64_t piece, int thread) {
      const int64_t begin = piece * kPiece, end = std::min(file.size_bytes, begin + kPiece);
      char* to = memory.data() + (keep ? begin : thread * kPiece);
      for (int64_t at = begin; at < end;) {
        const ssize_t n = ::pread(fd, to + (at - begin), static_cast<size_t>(end - at), at);
        HONE_CHECK(n > 0, "read {} bytes of {} at {}", n, file.path, at);
        at += n;
      }
    });
    ::close(fd);
  }
}

// Takes the files out of the page cache, where the file system lets go of them.
void drop_from_page_cache(const std::vector<WeightFile>& files) {
  for (const WeightFile& file : files) {
    const int fd = ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) io::raise_system("open", file.path, errno);
    ::fdatasync(fd);  // only pages that are on the disk can go
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
  }
}

// Has the system's memory at hand before a timing: on a virtual machine the first touch of memory waits for its host,
// for seconds a gigabyte, and whoever comes first would pay for it.
void touch_memory(kernels::Context& ctx, double size_bytes) {
  Buffer<char> memory(static_cast<int64_t>(size_bytes));
  ctx.team.run((memory.size() + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t end = std::min(memory.size(), (piece + 1) * kPiece);
    for (int64_t at = piece * kPiece; at < end; at += 4096) memory[at] = 1;
  });
}

double process_cpu_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Wall and processor seconds of every repetition of one thing.
struct Times {
  std::vector<double> wall, cpu;

  void add(const std::function<void()>& body) {
    let_spinners_sleep();
    const double before = process_cpu_seconds();
    wall.push_back(seconds_of(body));
    cpu.push_back(process_cpu_seconds() - before);
  }
};

// Weights, the file in page cache and once more as it is read.
double needed_bytes(const ModelConfig& config) {
  return static_cast<double>(config.num_parameters()) * (4.0 + 2.0 + 0.2);
}

io::Json numbers(const std::vector<double>& values) {
  io::Json list = io::Json::array();
  for (const double value : values) list.push_back(value);
  return list;
}

void measure_load(const Options& options, kernels::Context& ctx, DType dtype, const std::string& name,
                  const std::string& folder) {
  const std::vector<WeightFile> files = weight_files(folder);
  double bytes = 0;
  for (const WeightFile& file : files) bytes += static_cast<double>(file.size_bytes);
  read_all(ctx, files, false);  // into the page cache
  Times sample, train, read, cached, disk_sample, disk_read;
  const ModelConfig config = weights::load_config(folder);
  const auto load = [&](Times& times, DecoderUse use) {
    touch_memory(ctx, Decoder::weight_bytes(config, dtype, use));
    std::unique_ptr<Decoder> decoder;
    times.add([&] { decoder = weights::load_decoder(ctx, folder, dtype, use); });
  };
  for (int i = 0; i < std::min(options.repetitions, 5); ++i) {
    load(sample, DecoderUse::sample);
    touch_memory(ctx, bytes);
    read.add([&] { read_all(ctx, files, true); });
    load(train, DecoderUse::train);
    cached.add([&] { read_all(ctx, files, false); });
    drop_from_page_cache(files);
    load(disk_sample, DecoderUse::sample);
    touch_memory(ctx, bytes);
    drop_from_page_cache(files);
    disk_read.add([&] { read_all(ctx, files, true); });
  }
  const double seconds = median(sample.wall), read_seconds = median(read.wall);
  const io::SafetensorsReader reader(folder);
  const std::string stored = io::name(reader.tensors().front().type);
  const io::Json line = io::Json::object({{"name", "load_" + name},
                                          {"dtype", hone::name(dtype)},
                                          {"stored", stored},
                                          {"target", ctx.target.name},
                                          {"threads", int64_t{ctx.team.num_threads()}},
                                          {"parameters", config.num_parameters()},
                                          {"bytes", bytes},
                                          {"seconds", seconds},
                                          {"load_bytes_per_s", bytes / seconds},
                                          {"read_seconds", read_seconds},
                                          {"read_bytes_per_s", bytes / read_seconds},
                                          {"ratio", read_seconds / seconds},
                                          {"disk_seconds", median(disk_sample.wall)},
                                          {"disk_read_seconds", median(disk_read.wall)},
                                          {"disk_read_bytes_per_s", bytes / median(disk_read.wall)},
                                          {"disk_ratio", median(disk_read.wall) / median(disk_sample.wall)},
                                          {"train_seconds", median(train.wall)},
                                          {"page_cache_seconds", median(cached.wall)},
                                          {"cpu_seconds", median(sample.cpu)},
                                          {"read_cpu_seconds", median(read.cpu)},
                                          {"train_cpu_seconds", median(train.cpu)},
                                          {"page_cache_cpu_seconds", median(cached.cpu)},
                                          {"all_seconds", numbers(sample.wall)},
                                          {"all_read_seconds", numbers(read.wall)}});
  options.print(
      options.json
          ? line.dump()
          : fmt::format("load_{:<14} {} {} x{}: {:.2f} GB of {} in {:.3f} s, {:.2f} GB/s; read into memory "
                        "{:.2f} GB/s, ratio {:.3f}; from disk {:.3f} s, ratio {:.3f} of {:.2f} GB/s; page cache "
                        "alone {:.2f} GB/s; ready to train {:.3f} s",
                        name, hone::name(dtype), ctx.target.name, ctx.team.num_threads(), bytes * 1e-9, stored, seconds,
                        bytes / seconds * 1e-9, bytes / read_seconds * 1e-9, read_seconds / seconds,
                        median(disk_sample.wall), median(disk_read.wall) / median(disk_sample.wall),
                        bytes / median(disk_read.wall) * 1e-9, bytes / median(cached.wall) * 1e-9, median(train.wall)));
}

}  // namespace

int run_load(const Options& options) {
  kernels::Context ctx(resolve_threads(options.threads));
  pin(ctx.team);
  const DType dtype = options.dtype.value_or(ctx.target.has_bf16_dot ? DType::bf16 : DType::f32);
  if (!options.model.empty()) {
    measure_load(options, ctx, dtype, fs::path(options.model).filename().string(), options.model);
    return 0;
  }
  for (const ModelShape& shape : chosen_shapes(options.families)) {
    const double needed = needed_bytes(shape.config());
    if (needed > static_cast<double>(available_bytes())) {
      options.print(fmt::format("load_{}: left out, it takes {:.1f} GiB of memory", shape.name, needed * 0x1p-30));
      continue;
    }
    const DummyFolder folder(shape);
    measure_load(options, ctx, dtype, shape.name, folder.path());
  }
  return 0;
}

}  // namespace hone::bench
