#!/usr/bin/env python3
"""Holds Hone's tokenizer against Hugging Face's `tokenizers` library, and makes the stored results that the tests use.

    tools/make_tokenizer_references.py compare --hone build/release/hone [--lines 20000] FOLDER...
    tools/make_tokenizer_references.py subset FOLDER tests/text/NAME [--lines 120]
    tools/make_tokenizer_references.py variants FOLDER tests/text/variants
    tools/make_tokenizer_references.py from-gguf FILE.gguf FOLDER
    tools/make_tokenizer_references.py qwen2.5 FOLDER_OF_QWEN3 FOLDER
    tools/make_tokenizer_references.py code-points --hone build/release/hone FOLDER...

compare: ids of made lines, special tokens on and off, and the text of the ids; every FOLDER holds a tokenizer.json.
subset: the tokenizer cut to the tokens that its lines need, ids unchanged, with ids and texts of the library.
variants: a small tokenizer.json and changes of it (flags, components) with ids and texts of the library.
from-gguf: the tokenizer.json of SmolLM2 from the tokens and merges of its GGUF file.
qwen2.5: the tokenizer.json of Qwen2.5 from that of Qwen3: the same vocabulary, fewer added tokens, merges as strings.
code-points: every code point of Unicode alone and between neighbours.
Needs the Python package tokenizers (0.20 or newer). The same seed makes the same lines.
"""
import argparse
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import unicodedata

from tokenizers import Tokenizer

SEED = 20261129

# Case K1 and its relatives: always among the lines.
FIXED = [
    "This is 🦙.cpp",
    "Hello world! Café déjà vu — 123 😊",
    "Fu\u0308hrer",
    "Führer",
    "a literal \\n here",
    "",
    "   ",
    " ",
    "\n",
    "\r\n\r\n",
    "don't we'LL it'S 'hello 'tis I'd've x'\u017fs",
    "def f(x):\n    return x  # 12345\n\n\n    y = 3.14159\t\n",
    "e\u0323\u0301 \u212b \ufb01 \u1112\u1161\u11ab \uac00\u11a8 \u0958 \u2126",
    "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 👍🏽 ☺️",
    "日本語のテキスト。한국어 텍스트 中文文本 ไทย עברית العربية हिन्दी",
    "\u00a0\u3000\u2003x\u200b\ufeff\u0085\u2028y \u180e",
    "١٢٣ ⅧⅨ ½ ² 𝟘𝟙 1234567",
    "a\x00b\x01c\x7f\x1b[0m",
    "x" * 300 + " " * 300 + "\n" * 300 + "1" * 300 + "!" * 300,
    "<|im_start|>user\nhi<|im_end|>\n<|endoftext|><think></think><tool_call>",
    "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>",
    "<|im_end|",
    "#### 72\n<<48/2=24>>24 $1,234.56",
    "\\boxed{\\frac{1}{2}} $$x^2_{i}$$",
]

WORDS = """the of and to in is that it was for on are with as his they be at one have this from or had by hot but some
what there we can out other were all your when up use word how said an each she which do their time if will way about
many then them would write like so these her long make thing see him two has look more day could go come did my sound
no most number who over know water than call first people may down side been now find any new work part take get place
made live where after back little only round man year came show every good me give our under name very through just
form much great think say help low line before turn cause same mean differ move right boy old too does tell sentence
Natalia sold clips altogether Weng earns hour babysitting minutes doesn't couldn't they're we'll I've he'd
internationalization Donaudampfschifffahrtsgesellschaft antidisestablishmentarianism""".split()

CODE = [
    "for (int i = 0; i < n; ++i) {\n\tsum += a[i];\n}\n",
    "def main():\n    print(f\"{x!r:>10}\")\n\n\nif __name__ == '__main__':\n    main()\n",
    "<div class=\"a\">\r\n  <p>text</p>\r\n</div>",
    "SELECT * FROM t WHERE a >= 10 AND b != 'x';",
    "{\"key\": [1, 2.5e-3, null, true], \"s\": \"\\u00e9\\n\"}",
    "https://example.org/a/b?c=d&e=%20f#g",
    "C:\\Users\\me\\file.txt",
    "x = y ** 2 // 3 -> z => w <- v ::= u",
    "```python\nimport os\n```\n",
    "| a | b |\n|---|---|\n| 1 | 2 |",
]

RANGES = [  # scripts, symbols, marks; both ends inside
    (0x20, 0x7E), (0x20, 0x7E), (0x20, 0x7E), (0xA0, 0xFF), (0x100, 0x24F), (0x250, 0x2FF), (0x300, 0x36F),
    (0x370, 0x3FF), (0x400, 0x4FF), (0x530, 0x58F), (0x590, 0x5FF), (0x600, 0x6FF), (0x700, 0x74F), (0x900, 0x97F),
    (0x980, 0x9FF), (0xA00, 0xA7F), (0xB80, 0xBFF), (0xE00, 0xE7F), (0xF00, 0xFFF), (0x1000, 0x109F), (0x10A0, 0x10FF),
    (0x1100, 0x11FF), (0x1200, 0x137F), (0x13A0, 0x13FF), (0x1780, 0x17FF), (0x1800, 0x18AF), (0x1E00, 0x1EFF),
    (0x1F00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x209F), (0x20A0, 0x20CF), (0x20D0, 0x20FF), (0x2100, 0x214F),
    (0x2150, 0x218F), (0x2190, 0x21FF), (0x2200, 0x22FF), (0x2460, 0x24FF), (0x2500, 0x257F), (0x2600, 0x26FF),
    (0x2700, 0x27BF), (0x3000, 0x303F), (0x3040, 0x309F), (0x30A0, 0x30FF), (0x3130, 0x318F), (0x3300, 0x33FF),
    (0x4E00, 0x9FFF), (0x4E00, 0x9FFF), (0xA000, 0xA48F), (0xAC00, 0xD7A3), (0xE000, 0xF8FF), (0xF900, 0xFAFF),
    (0xFB00, 0xFB4F), (0xFE00, 0xFE0F), (0xFE20, 0xFE2F), (0xFF00, 0xFFEF), (0x10000, 0x1007F), (0x10330, 0x1034F),
    (0x1D100, 0x1D1FF), (0x1D400, 0x1D7FF), (0x1F100, 0x1F1FF), (0x1F300, 0x1F5FF), (0x1F600, 0x1F64F),
    (0x1F680, 0x1F6FF), (0x1F900, 0x1F9FF), (0x20000, 0x2A6DF), (0x2F800, 0x2FA1F), (0xE0100, 0xE01EF),
]
SPACES = [" ", "  ", "   ", "\n", "\n\n", "\r\n", "\r", "\t", "\t\t", " \n", "\n ", " \n \n  ", "\u00a0", "\u3000",
          "\u2003", "\u2028", "\u0085", "\u200b", "\ufeff", "\u000b", "\u000c", "        ", "\n    "]
EMOJI = ["😊", "🦙", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "🇫🇷🇯🇵", "👍🏽", "☺️", "❤️‍🔥", "1️⃣", "🧑🏿‍🚀", "\U0001faf6🏻"]


class Lines:
    def __init__(self, seed, special):
        self.random = random.Random(seed)
        self.special = special

    def character(self):
        low, high = self.random.choice(RANGES)
        return chr(self.random.randint(low, high))

    def atom(self):
        r = self.random
        kind = r.randrange(20)
        if kind < 5:
            return r.choice(WORDS)
        if kind == 5:
            return str(r.randrange(10 ** r.randint(1, 12)))
        if kind == 6:
            return r.choice(CODE)
        if kind == 7:
            return r.choice(EMOJI)
        if kind == 8 and self.special:
            token = r.choice(self.special)
            return token if r.random() < 0.8 else token[: r.randint(1, len(token))]
        if kind == 9:
            return "".join(chr(r.randrange(0x20)) for _ in range(r.randint(1, 3)))
        if kind == 10:
            word = r.choice(WORDS)
            return r.choice([word.upper(), word.title(), word + r.choice(["'s", "'S", "'ll", "'VE", "'d", "'x", "'"])])
        if kind == 11:
            return "".join(r.choice("!?.,;:-_+*/=<>()[]{}|\\\"'`~@#$%^&") for _ in range(r.randint(1, 6)))
        if kind == 12:
            base = r.choice("aeiounAEIOUNg가한か")
            return base + "".join(chr(r.randint(0x300, 0x36F)) for _ in range(r.randint(1, 4)))
        if kind == 13:
            return unicodedata.normalize("NFD", "".join(self.character() for _ in range(r.randint(1, 6))))
        if kind == 14:
            low, high = r.choice(RANGES)
            return "".join(chr(r.randint(low, high)) for _ in range(r.randint(2, 12)))
        if kind == 15:
            return r.choice(SPACES) * r.randint(1, 5)
        if kind == 16 and r.random() < 0.1:
            return r.choice(["a", " ", "\n", "9", "-", "é", "日", "\u0301", "ab", " a", "\r\n", "😊"]) * r.randint(50, 1500)
        if kind == 17:
            return chr(r.choice([r.randrange(0x80, 0xD800), r.randrange(0xE000, 0x110000)]))
        return "".join(self.character() for _ in range(r.randint(1, 8)))

    def line(self):
        r = self.random
        parts = []
        for _ in range(r.randint(1, 14)):
            parts.append(self.atom())
            if r.random() < 0.7:
                parts.append(r.choice([" ", " ", " ", " ", r.choice(SPACES)]))
        return "".join(parts)


def make_lines(count, seed, special):
    lines = Lines(seed, special)
    return FIXED + [lines.line() for _ in range(max(0, count - len(FIXED)))]


def without_missing_bytes(folder, texts):
    """Texts without the characters for whose bytes the tokenizer has no token: the library drops these bytes, Hone
    refuses the text."""
    vocab = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    letters = {**{b: chr(b) for b in printable}, **{b: chr(256 + i) for i, b in enumerate(others)}}
    missing = {b for b in range(256) if letters[b] not in vocab}
    if not missing:
        return texts
    bad = {c for text in texts for c in text if missing.intersection(c.encode())}
    print(f"{folder}: no token for {len(missing)} bytes; {len(bad)} characters are left out of the lines")
    return ["".join(c for c in text if c not in bad) for text in texts]


def special_contents(folder):
    spec = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    return [t["content"] for t in spec.get("added_tokens", []) if "reserved_special" not in t["content"]]


def load_library(path):
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def reference_row(tokenizer, text, special):
    tokenizer.encode_special_tokens = not special
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    return {"text": text, "special": special, "ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False),
            "shown": tokenizer.decode(ids, skip_special_tokens=True)}


def dump(row):
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def run_hone(hone, folder, rows, *flags):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    command = [hone, "tokenize", "--tokenizer", str(folder), "--jsonl", *flags]
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True)
    # JSONL ends its lines with \n alone: no str.splitlines, which knows other line ends
    return [json.loads(line) for line in done.stdout.decode().split("\n") if line]


def count_equal(what, inputs, ours, theirs):
    assert len(ours) == len(theirs) == len(inputs), (len(ours), len(theirs), len(inputs))
    unequal = [i for i in range(len(inputs)) if ours[i] != theirs[i]]
    print(f"{what}: {len(inputs) - len(unequal)} of {len(inputs)} equal")
    for i in unequal[:5]:
        print(f"  {inputs[i]!r}\n    library {theirs[i]!r}\n    hone    {ours[i]!r}")
    return not unequal


def compare(hone, folders, count, seed):
    good = True
    for folder in folders:
        tokenizer = load_library(folder / "tokenizer.json")
        texts = without_missing_bytes(folder, make_lines(count, seed, special_contents(folder)))
        random_ids = random.Random(seed)
        size = max(tokenizer.get_vocab(with_added_tokens=True).values()) + 1
        for special in (True, False):
            rows = [reference_row(tokenizer, text, special) for text in texts]
            flags = [] if special else ["--no-special"]
            mine = run_hone(hone, folder, [{"text": text} for text in texts], *flags)
            name = f"{folder}, special tokens {'on' if special else 'off'}"
            good &= count_equal(f"{name}: ids", texts, [r["ids"] for r in mine], [r["ids"] for r in rows])
            lists = [r["ids"] for r in rows]
            lists += [[random_ids.randrange(size) for _ in range(random_ids.randint(1, 12))] for _ in range(2000)]
            shown = run_hone(hone, folder, [{"ids": ids} for ids in lists], "--decode", *flags)
            theirs = [tokenizer.decode(ids, skip_special_tokens=not special) for ids in lists]
            good &= count_equal(f"{name}: text", lists, [r["text"] for r in shown], theirs)
    return good


def code_points(hone, folders):
    good = True
    points = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
    for folder in folders:
        tokenizer = load_library(folder / "tokenizer.json")
        for form in ["a{}b", " {} ", "1{}'s", "e\u0301{}\u0323", "\ud55c{}\u11a8"]:
            texts, theirs = without_missing_bytes(folder, [form.format(c) for c in points]), []
            for begin in range(0, len(texts), 20000):
                batch = tokenizer.encode_batch_fast(texts[begin:begin + 20000], add_special_tokens=False)
                theirs.extend(e.ids for e in batch)
            ours = [r["ids"] for r in run_hone(hone, folder, [{"text": text} for text in texts])]
            good &= count_equal(f"{folder}, {form!r}", texts, ours, theirs)
    return good


def pieces_of(tokenizer, texts):
    pieces = set()
    for text in texts:
        for normal in {text, tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text}:
            pieces.update(piece for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normal))
    return pieces


def cut(spec, tokenizer, texts):
    """The byte tokens and what can occur inside the pieces of the texts; merges whose sides and result are there."""
    model = spec["model"]
    longest = max(map(len, model["vocab"]))
    keep = {token for token in model["vocab"] if len(token) == 1}
    keep.update(t["content"] for t in spec["added_tokens"] if t["content"] in model["vocab"])
    contents = [t["content"] for t in spec["added_tokens"]]
    stretches = [part for text in texts for part in re.split("|".join(map(re.escape, contents)), text)]
    for piece in pieces_of(tokenizer, texts + stretches):
        for begin in range(len(piece)):
            for end in range(begin + 1, min(len(piece), begin + longest) + 1):
                if piece[begin:end] in model["vocab"]:
                    keep.add(piece[begin:end])
    used = {token for text in texts for token in contents if token in text}
    merges = []
    for merge in model["merges"]:
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        if left in keep and right in keep and left + right in keep:
            merges.append(merge)
    spec = dict(spec)
    spec["added_tokens"] = [t for i, t in enumerate(spec["added_tokens"])
                            if t["content"] in used or i == len(spec["added_tokens"]) - 1
                            or t["content"] in json.dumps(spec["post_processor"], ensure_ascii=False)]
    spec["model"] = dict(model, vocab={t: i for t, i in model["vocab"].items() if t in keep}, merges=merges)
    return spec


def write_subset(folder, out, count, seed):
    spec = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    # the vocabularies hold a merge for every way to cut a long run of spaces: without such runs the file stays small
    texts = [t for t in make_lines(count, seed, special_contents(folder)) if not re.search(r"(..?)\1{20}", t, re.S)]
    texts = without_missing_bytes(folder, texts)
    full = load_library(folder / "tokenizer.json")
    out.mkdir(parents=True, exist_ok=True)
    (out / "tokenizer.json").write_text(dump(cut(spec, full, texts)) + "\n", encoding="utf-8")
    rows = []
    for text in texts:
        for special in (True, False):
            row = reference_row(full, text, special)
            if special or row["ids"] != rows[-1]["ids"]:
                rows.append(row)
    (out / "reference.jsonl").write_text("".join(dump(row) + "\n" for row in rows), encoding="utf-8")
    print(f"{out}: {len(rows)} rows")


def read_gguf(path):
    """Metadata of a GGUF file, version 2 or 3: names and values."""
    data = path.read_bytes()
    at = 24
    formats = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}

    def number(kind):
        nonlocal at
        (value,) = struct.unpack_from("<" + formats[kind], data, at)
        at += struct.calcsize("<" + formats[kind])
        return value

    def value(kind):
        nonlocal at
        if kind == 8:
            size = number(10)
            at += size
            return data[at - size:at].decode()
        if kind == 9:
            item, count = number(4), number(10)
            return [value(item) for _ in range(count)]
        return number(kind)

    assert data[:4] == b"GGUF", path
    (count,) = struct.unpack_from("<Q", data, 16)
    return {key: value(number(4)) for key in (value(8) for _ in range(count))}


def write_from_gguf(path, out):
    meta = read_gguf(path)
    tokens, types = meta["tokenizer.ggml.tokens"], meta["tokenizer.ggml.token_type"]
    assert meta["tokenizer.ggml.pre"] == "smollm", meta["tokenizer.ggml.pre"]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    controls = [dict(flags, id=i, content=t) for i, t in enumerate(tokens) if types[i] == 3]
    spec = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": controls, "normalizer": None,
            "pre_tokenizer": sequence({"type": "Digits", "individual_digits": True}, GPT2), "post_processor": None,
            "decoder": dict(GPT2, add_prefix_space=True),
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": {t: i for i, t in enumerate(tokens)}, "merges": meta["tokenizer.ggml.merges"]}}
    out.mkdir(parents=True, exist_ok=True)
    (out / "tokenizer.json").write_text(json.dumps(spec, ensure_ascii=False, indent=2), encoding="utf-8")
    print(f"{out}: {len(tokens)} tokens, {len(controls)} of them added")


def write_qwen2_5(folder, out):
    spec = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    spec["added_tokens"] = [t for t in spec["added_tokens"] if t["id"] < 151665]
    spec["model"]["merges"] = [m if isinstance(m, str) else " ".join(m) for m in spec["model"]["merges"]]
    out.mkdir(parents=True, exist_ok=True)
    (out / "tokenizer.json").write_text(json.dumps(spec, ensure_ascii=False, indent=2), encoding="utf-8")


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
GPT2 = dict(BYTE_LEVEL, use_regex=True)


def split(pattern, behavior, invert=False):
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": list(steps)}


def added(vocab, **flags):
    base = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    tokens = []
    for content in ["<a>", "<a><b>", "ab", "é", " c ", "<end>"]:
        new_id = len(vocab) + sum(t["id"] >= len(vocab) for t in tokens)
        tokens.append(dict(base, id=vocab.get(content, new_id), content=content, **flags))
    return tokens


def variant_table(spec):
    q = spec["pre_tokenizer"]["pretokenizers"][0]["pattern"]
    n = {"Regex": "\\p{N}"}
    whole = spec["model"]["vocab"]
    mixed = [dict(t, **f) for t, f in zip(added(whole), [
        {"lstrip": True}, {"rstrip": True}, {"single_word": True, "special": False}, {"normalized": True},
        {"lstrip": True, "rstrip": True}, {"normalized": True, "lstrip": True, "rstrip": True}])]
    table = {
        "pre-tokenizer GPT-2": {"pre_tokenizer": GPT2},
        "pre-tokenizer GPT-2 with a space put before": {"pre_tokenizer": dict(GPT2, add_prefix_space=True)},
        "a space put before every piece": {"pre_tokenizer": sequence(split(q, "Isolated"),
                                                                     dict(BYTE_LEVEL, add_prefix_space=True))},
        "digits one by one": {"pre_tokenizer": sequence({"type": "Digits", "individual_digits": True}, GPT2)},
        "digits in runs": {"pre_tokenizer": sequence({"type": "Digits", "individual_digits": False}, GPT2)},
        "ByteLevel alone, no cut": {"pre_tokenizer": BYTE_LEVEL},
        "nested sequences": {"pre_tokenizer": sequence(sequence(split(q, "Isolated")), sequence(BYTE_LEVEL))},
        "numbers of three": {"pre_tokenizer": sequence(split({"Regex": "\\p{N}{1,3}"}, "Isolated"),
                                                       split(q, "Isolated"), BYTE_LEVEL)},
        "no normalizer": {"normalizer": None},
        "a sequence of normalizers": {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}]}},
        "ignore_merges": {"model": {"ignore_merges": True}},
        "merges as strings": {"model": {"merges": [m if isinstance(m, str) else " ".join(m)
                                                   for m in spec["model"]["merges"]]}},
        "merges as pairs": {"model": {"merges": [m.split(" ") if isinstance(m, str) else m
                                                 for m in spec["model"]["merges"]]}},
        "truncation and padding": {
            "truncation": {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0},
            "padding": {"strategy": {"Fixed": 7}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
                        "pad_type_id": 0, "pad_token": "!"}},
        "decoder in a sequence": {"decoder": {"type": "Sequence", "decoders": [spec["decoder"], {"type": "Fuse"}]}},
        "added tokens, mixed flags": {"added_tokens": mixed},
        "added tokens, mixed flags, no normalizer, GPT-2": {"added_tokens": mixed, "normalizer": None,
                                                            "pre_tokenizer": GPT2},
    }
    for behavior in ("Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"):
        for invert in (False, True):
            word = "inverted " if invert else ""
            table[f"split at a text, {word}{behavior}"] = {
                "pre_tokenizer": sequence(split({"String": "a"}, behavior, invert), GPT2)}
            table[f"split at numbers, {word}{behavior}"] = {
                "pre_tokenizer": sequence(split(n, behavior, invert), BYTE_LEVEL)}
    for flag in ("single_word", "lstrip", "rstrip", "normalized", "special"):
        for value in (True, False):
            table[f"added tokens, {flag} {str(value).lower()}"] = {"added_tokens": added(whole, **{flag: value})}
    missing = [t for t in spec["model"]["vocab"] if t in ("z", "Ã", "Z")]
    kept = [t for t in spec["model"]["vocab"] if not set(t) & set(missing)]
    vocab = {t: i for i, t in enumerate(kept)}
    merges = [m for m in spec["model"]["merges"]
              if not set(m if isinstance(m, str) else "".join(m)) & set(missing)]
    for fuse in (False, True):
        table[f"unknown token, fuse {str(fuse).lower()}"] = {
            "normalizer": None, "added_tokens": added(vocab),
            "model": {"vocab": vocab, "merges": merges, "unk_token": "!", "fuse_unk": fuse}}
    return table


def change(spec, changes):
    result = dict(spec)
    for key, value in changes.items():
        result[key] = dict(spec["model"], **value) if key == "model" else value
    return result


VARIANT_LINES = [
    "ab cab abc <a> ab", "  <a>  x <a><b>  y\n<a>\n", "aaa1a22aa a", "12a345 6789\t1", "\u00e9 e\u0301x \u00e9\u0301",
    "x c  c  c y", "<end> \n<end>x <end", "zZz Zebra Ã© zz", "it's Hello world! 123", "", " ", "a", "1",
    "_ab ab_ ab\u0301 ab\u200d -ab-", "\u3000<a>\u00a0<end>\u2003", "<a><a><b><b>ab",
]


def write_variants(folder, out):
    spec = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    spec = cut(spec, load_library(folder / "tokenizer.json"), VARIANT_LINES)
    # the library numbers added tokens from the size of the vocabulary on, whatever the file says
    spec["model"]["vocab"] = {t: i for i, t in enumerate(spec["model"]["vocab"])}
    spec["added_tokens"] = [dict(t, id=len(spec["model"]["vocab"]) + i) for i, t in enumerate(spec["added_tokens"])]
    out.mkdir(parents=True, exist_ok=True)
    (out / "tokenizer.json").write_text(dump(spec) + "\n", encoding="utf-8")
    rows = []
    for name, changes in variant_table(spec).items():
        tokenizer = Tokenizer.from_str(json.dumps(change(spec, changes)))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        lines = []
        for text in VARIANT_LINES:
            for special in (True, False):
                try:
                    row = reference_row(tokenizer, text, special)
                except BaseException as error:  # the library panics on overlaps of swallowed white space
                    print(f"{name}: {text!r}: {error}", file=sys.stderr)
                    continue
                if special or row["ids"] != lines[-1]["ids"]:
                    lines.append(row)
        rows.append({"name": name, "changes": changes, "lines": lines})
    (out / "variants.jsonl").write_text("".join(dump(row) + "\n" for row in rows), encoding="utf-8")
    print(f"{out}: {len(rows)} variants, {sum(len(r['lines']) for r in rows)} lines")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=SEED)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("compare", "code-points"):
        p = commands.add_parser(name)
        p.add_argument("--hone", required=True)
        p.add_argument("--lines", type=int, default=20000)
        p.add_argument("folders", type=pathlib.Path, nargs="+")
    p = commands.add_parser("subset")
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("out", type=pathlib.Path)
    p.add_argument("--lines", type=int, default=120)
    p = commands.add_parser("variants")
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("out", type=pathlib.Path)
    for name in ("from-gguf", "qwen2.5"):
        p = commands.add_parser(name)
        p.add_argument("folder", type=pathlib.Path)
        p.add_argument("out", type=pathlib.Path)
    args = parser.parse_args()
    if args.command == "compare":
        return 0 if compare(args.hone, args.folders, args.lines, args.seed) else 1
    if args.command == "code-points":
        return 0 if code_points(args.hone, args.folders) else 1
    if args.command == "from-gguf":
        write_from_gguf(args.folder, args.out)
    elif args.command == "qwen2.5":
        write_qwen2_5(args.folder, args.out)
    elif args.command == "subset":
        write_subset(args.folder, args.out, args.lines, args.seed)
    else:
        write_variants(args.folder, args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
