#!/usr/bin/env python3
"""Random blocks of ggml's quantised types with the values that the gguf package (PyPI, MIT) reads from them:
tools/make_gguf_blocks.py > tests/gguf/blocks.json. Needs: pip install gguf."""
import json

import gguf
import numpy as np

rng = np.random.default_rng(20)
rows = []
for name in ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K"]:
    kind = gguf.GGMLQuantizationType[name]
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = 3 if elements > 1 else 96
    data = rng.integers(0, 256, (blocks, size), dtype=np.uint8)
    # scales: halves of ordinary size, both signs
    halves = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q4_K": [0, 2], "Q5_K": [0, 2],
              "Q6_K": [208], "F16": [0], "BF16": []}[name]
    for at in halves:
        scale = rng.normal(0, 0.05, blocks).astype(np.float16)
        data[:, at:at + 2] = scale.view(np.uint8).reshape(blocks, 2)
    if name == "BF16":
        data[:, 1] = data[:, 1] & 0xBF  # below 2, so no NaN
    values = gguf.dequantize(data.reshape(1, -1), kind).astype("<f4").reshape(-1)
    rows.append({"type": name, "bytes": data.tobytes().hex(), "values": values.tobytes().hex()})
# what the package writes as Q8_0
values = rng.normal(0, 1, 96).astype(np.float32)
values[40:64] = 0
rows.append({"type": "Q8_0", "written": True, "bytes": gguf.quantize(values.reshape(1, -1), gguf.GGMLQuantizationType.Q8_0).tobytes().hex(),
             "values": values.astype("<f4").tobytes().hex()})
print(json.dumps(rows, indent=1))
