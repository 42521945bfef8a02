// hone quickstart: a small model learns sums, in minutes.
#include "loop/quickstart.h"

#include "cli/commands.h"

namespace hone::cli {

int run_quickstart(const QuickstartArgs& args) {
  return hone::run_quickstart({args.recipes, args.out, args.seed, args.threads, args.control});
}

}  // namespace hone::cli
