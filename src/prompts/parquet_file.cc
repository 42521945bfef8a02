#include "prompts/parquet_file.h"

#include <optional>

#include "core/error.h"
#include "workers/python.h"

namespace hone {

namespace {

constexpr int64_t kPieceBytes = int64_t{4} << 20;
constexpr double kSecondsForAPiece = 120;

workers::WorkerOptions parquet_worker() {
  workers::WorkerOptions options = workers::python_worker("the Python worker for Parquet files");
  options.memory_bytes = int64_t{16} << 30;  // of addresses: a row group is mapped as a whole
  return options;
}

// The object of a row, or a fault.
std::optional<io::Json> parquet_row(const io::Json& given, const std::string& path, int64_t number,
                                    io::Faults& faults) {
  if (const io::Json* fault = given.find("fault")) {
    faults.add(fmt::format("{}:{}: {}", path, number, fault->as_string()));
    return {};
  }
  try {
    return io::parse_json(given.as_string(), path, number);
  } catch (const Error& error) {
    faults.add(error.what());
    return {};
  }
}

}  // namespace

void read_parquet(const std::string& path, io::Faults& faults, const io::TakeRow& take) {
  workers::Worker worker(parquet_worker());
  int64_t num_rows = 0;
  for (bool is_end = false; !is_end;) {
    io::Json reply;
    try {
      io::Json question = io::Json::object({{"path", path}, {"first", num_rows}, {"max_bytes", kPieceBytes}});
      reply = workers::ask_python(worker, "parquet_rows", std::move(question), kSecondsForAPiece);
    } catch (const workers::WorkerError& error) {
      throw workers::WorkerError(fmt::format("{}: {}", path, error.what()), error.hint());
    } catch (const Error& error) {
      faults.add(error);
      return;
    }
    for (const io::Json& given : reply.at("rows").as_array()) {
      ++num_rows;
      if (std::optional<io::Json> row = parquet_row(given, path, num_rows, faults)) take({num_rows, std::move(*row)});
    }
    is_end = reply.at("end").as_bool();
  }
  if (num_rows == 0) faults.add(fmt::format("{}: expected at least one row, found none", path));
}

int64_t count_parquet_rows(const std::string& path) {
  workers::Worker worker(parquet_worker());
  const io::Json question = io::Json::object({{"path", path}});
  return workers::ask_python(worker, "parquet_count", question, kSecondsForAPiece).at("num_rows").as_int();
}

}  // namespace hone
