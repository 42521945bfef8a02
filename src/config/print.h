// What a schema looks like to people: the effective config, the help of a terminal, the tables of the docs.
#pragma once

#include <string>

#include "config/schema.h"

namespace hone::config {

// Every honoured field with its value now, as YAML that reads back to the same values.
std::string effective_yaml(const Schema& schema);
// A paragraph for each option of all three classes: key, class, type, range, default, meaning or reason, when it has an
// effect. With `part`, the option of that key; when there is none, those whose key begins with it; when none does,
// those whose key, names elsewhere or meaning contain it, in any case of letters.
std::string help_text(const Schema& schema, const std::string& part = "");
// "CLASS key", one a line, in the order of the schema; classes: honoured, accepted, refused, old-name.
std::string class_list(const Schema& schema);
// "81 honoured, 230 accepted without a meaning here, 60 refused unless neutral".
std::string class_counts(const Schema& schema);
// Markdown: a table of the fields, then one of the accepted and one of the refused keys.
std::string help_markdown(const Schema& schema);

}  // namespace hone::config
