// key=value arguments, one a line of the input, on a small schema: every argument ends as a value or a fault, and the
// effective options read again give the same values.
#include "config/load.h"
#include "config/print.h"
#include "core/error.h"
#include "fuzz/target.h"
#include "io/yaml.h"

namespace hone::fuzz {
namespace {

struct Sample {
  int64_t batch = 1;
  double lr = 1e-3;
  bool shuffle = true;
  std::string project = "x", folder = "runs/${names.project}/y";
  std::vector<std::string> files;
  std::vector<double> betas = {0.9, 0.95};
  std::optional<int64_t> limit;
  std::optional<double> high;
  io::Json arguments = io::Json::object();
};

config::Schema schema_of(Sample& s) {
  config::Schema schema;
  schema.field("data.batch", &s.batch, "").at_least(1).at_most(1024);
  schema.field("actor.lr", &s.lr, "").at_least(0).below(1);
  schema.field("data.shuffle", &s.shuffle, "");
  schema.field("names.project", &s.project, "");
  schema.field("names.folder", &s.folder, "");
  schema.field("data.files", &s.files, "");
  schema.field("actor.betas", &s.betas, "").at_least(0).below(1);
  schema.field("data.limit", &s.limit, "");
  schema.field("actor.high", &s.high, "").above(0);
  schema.field("chat.arguments", &s.arguments, "");
  schema.accepted("trainer.*", config::ValueKind::any, "no meaning");
  schema.accepted("data.workers", 8, "no meaning");
  schema.refused("actor.kl", {io::Json(0), io::Json(0.001)}, "off");
  schema.renamed("actor.rate", "actor.lr");
  return schema;
}

void run(std::string_view text) {
  std::vector<std::string> arguments;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    arguments.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  Sample sample;
  config::Schema schema = schema_of(sample);
  io::Faults faults;
  const std::vector<config::Setting> settings = config::settings_of_arguments(arguments, faults);
  for (const std::string& note : config::apply(schema, settings, faults)) behaviour(note);
  for (const std::string& fault : faults.list()) behaviour(fault);
  FUZZ_CHECK(sample.batch >= 1 && sample.batch <= 1024, std::to_string(sample.batch));
  FUZZ_CHECK(sample.lr >= 0 && sample.lr < 1, std::to_string(sample.lr));
  for (const double beta : sample.betas) FUZZ_CHECK(beta >= 0 && beta < 1, std::to_string(beta));
  FUZZ_CHECK(!sample.high || *sample.high > 0, "bound of high");
  if (!faults.empty()) return;
  behaviour("accepted");
  // the same options from what the run folder keeps
  const io::Yaml saved = io::parse_yaml(config::effective_yaml(schema), "effective");
  FUZZ_CHECK(schema.differences(saved.tree).empty(), schema.differences(saved.tree).front());
}

Material material() {
  return {{"data.batch=3\nactor.lr=3e-4\ndata.shuffle=False", "+data.files=['a b',c]\n++data.limit=null\nactor.high=1",
           "names.project=${names.folder}", "names.project=a${data.batch}b\nnames.folder=${oc.env:HONE_NO_SUCH,zz}",
           "data={batch: 3, limit: 7}", "trainer.gpus=8\nactor.kl=0\nactor.rate=0.5", "actor.betas=[0.5,0.1]",
           "names.project=\"quoted \\n text\"", "learnign_rate=3e-4", "actor.kl=0.2", "~data.batch\n=3\nnonsense",
           "data.files=${data.files}\nnames.project=${no.such}",
           "names.project=${oc.select:${names.${no.such}},${data.batch}}",
           "trainer.a=1\ntrainer.b=[${trainer.a},${trainer.a}]\ntrainer.c=[${trainer.b},${trainer.b}]",
           "actor.high=1" + std::string(320, '0'), "chat.arguments.a=1\n+chat.arguments.b.c=[x,'y']"},
          {"data.",
           "actor.",
           "batch",
           "files",
           "chat.arguments.",
           ".a",
           "lr",
           "=",
           "\n",
           "+",
           "++",
           "~",
           "[",
           "]",
           "{",
           "}",
           "${",
           "${data.batch}",
           "${names.project}",
           "${names.folder}",
           "${oc.env:",
           "null",
           "true",
           "'",
           "\"",
           ",",
           ": "},
          {},
          1024,
          {{"${", "}"}, {"[", "]"}, {"{a: ", "}"}, {"${oc.select:x,", "}"}, {"a.", ""}}};
}

}  // namespace

FUZZ_TARGET(run, material)

}  // namespace hone::fuzz
