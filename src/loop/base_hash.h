// A fingerprint of the weights that adapters were trained on, by which a resumed run knows that they are the same.
#pragma once

#include <string>

#include "models/decoder.h"

namespace hone {

// Of the decoder's own weights as floats, in hexadecimal; the same for any threads and any layout.
std::string base_hash(kernels::Context& ctx, const Decoder& decoder);

}  // namespace hone
