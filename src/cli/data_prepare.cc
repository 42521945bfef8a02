// hone data prepare: a published data set as rows in verl's form.
#include "cli/commands.h"
#include "core/error.h"
#include "prompts/preparation.h"

namespace hone::cli {

int run_data_prepare(const DataPrepareArgs& args) {
  for (const PreparedFile& file : prepare_data(args.name, args.inputs, args.output)) {
    fmt::print("{}: {} rows", file.path, file.num_rows);
    if (file.num_repeated > 0)
      fmt::print(", {} more with a prompt that was there already are left out", file.num_repeated);
    fmt::print("\n");
  }
  return 0;
}

}  // namespace hone::cli
