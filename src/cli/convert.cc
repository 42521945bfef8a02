// hone convert: a GGUF file to a Hugging Face folder, and the other way, or to a GGUF file of another type.
#include "cli/commands.h"
#include "core/error.h"
#include "io/file.h"
#include "io/gguf.h"
#include "weights/gguf_convert.h"

namespace hone::cli {

namespace {

io::GgmlType type_of(const std::string& name) {
  if (name.empty()) return io::GgmlType::f16;
  if (const io::GgmlForm* form = io::find_written_ggml_form(name)) return form->type;
  throw Error(fmt::format("--outtype: expected one of {}, found {}", io::ggml_types_written(), name));
}

}  // namespace

int run_convert(const ConvertArgs& args) {
  if (io::is_gguf(args.out)) {
    const io::GgmlType type = type_of(args.outtype);
    if (io::exists(args.out) && !args.force) {
      throw Error(fmt::format("{}: expected no such file yet, found one", args.out),
                  "--force writes over it, once all of the new file is written");
    }
    weights::model_to_gguf(args.in, args.out, type);
    fmt::print("{}\n", args.out);
    return 0;
  }
  if (!io::is_gguf(args.in)) {
    throw Error(fmt::format("convert: expected one of the two to end with .gguf, found {} and {}", args.in, args.out),
                "hone convert MODEL.gguf FOLDER, or hone convert FOLDER MODEL.gguf");
  }
  if (!args.outtype.empty()) {
    throw Error("--outtype: expected only where a GGUF file is written",
                "in a folder F16 and BF16 stay what they are, and quantised weights become float32");
  }
  if (io::exists(args.out)) throw Error(fmt::format("{}: expected no such folder yet, found one", args.out));
  weights::gguf_to_folder(args.in, args.out);
  fmt::print("{}\n", args.out);
  return 0;
}

}  // namespace hone::cli
