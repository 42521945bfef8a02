// What a scorer outside of this program is asked and replies for an answer, as JSON.
#pragma once

#include "io/json.h"
#include "records/prompt.h"
#include "records/trajectory.h"

namespace hone {

// The ground truth of the kind that it has in its row.
io::Json json_truth(const Prompt& prompt);

// {"score": number, "extras": [[name, number or text], ...]}, {"none": true, "extras"} or {"absent": "reason"}; what is
// of another form, and a number that float cannot hold, makes the score absent with that as the reason.
Score outside_score(const io::Json& reply);

}  // namespace hone
