// What a schema looks like to people: the effective config, the help of a terminal, the table of the docs.
#pragma once

#include <string>

#include "config/schema.h"

namespace hone::config {

// Every honoured field with its value now, as YAML that reads back to the same values.
std::string effective_yaml(const Schema& schema);
// The fields whose key contains `part`, a paragraph each: key, type, range, default, meaning, when it has an effect.
std::string help_text(const Schema& schema, const std::string& part = "");
// Markdown: a table of the fields, then one of the accepted and one of the refused keys.
std::string help_markdown(const Schema& schema);

}  // namespace hone::config
