#!/usr/bin/env python3
"""What jinja2 makes of the published chat templates: writes or checks tests/text/chat/expected.json.

    tools/chat_goldens.py check TEMPLATES             compare the stored results with jinja2 now
    tools/chat_goldens.py write TEMPLATES             store them anew
    tools/chat_goldens.py hone TEMPLATES HONE MODEL   compare `hone render` with jinja2, and its ids with tokenizers
    tools/chat_goldens.py show TEMPLATES FORMAT NAME  print one conversation as jinja2 renders it

TEMPLATES is a folder of files FORMAT.jinja (FORMAT.1.jinja and so on for other texts of the same format), taken from the
models' own folders. The texts are their owners' and are not part of Hone: stored are hashes of what they render. MODEL
is a folder with a tokenizer.json. Needs jinja2; uses transformers' own renderer where it is installed, and `tokenizers`
for the ids.
"""

import datetime
import glob
import hashlib
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "text", "chat")
TOKENS = {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"}
NOW = datetime.datetime(2024, 7, 26)
TAG = "CONTINUE_FINAL_MESSAGE_TAG "


def conversations():
    with open(os.path.join(HERE, "conversations.jsonl"), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def templates(folder):
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.jinja"))):
        with open(path, encoding="utf-8", newline="") as file:
            found.setdefault(os.path.basename(path).split(".jinja")[0], file.read())
    return found


def format_of(stem):
    parts = stem.split(".")
    return ".".join(parts[:-1]) if len(parts) > 1 and stem not in KNOWN else stem


KNOWN = ["qwen2.5", "qwen2.5-base", "qwen2.5-math", "llama3.1", "llama3.2"]


def hash_of_template(text):
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return hashlib.sha256((text[:-1] if text.endswith("\n") else text).encode()).hexdigest()


def plain_renderer():
    """As the documentation of transformers describes it."""
    import jinja2
    import jinja2.ext
    import jinja2.sandbox

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = NOW.strftime

    def render(template, row):
        messages = [{k: v for k, v in message.items() if v is not None} for message in row["messages"]]
        if row.get("continue_final_message"):
            messages[-1]["content"] += TAG
        text = environment.from_string(template).render(
            messages=messages, tools=row.get("tools"), documents=None,
            add_generation_prompt=row.get("add_generation_prompt", False), **TOKENS, **row.get("arguments", {}))
        if row.get("continue_final_message"):
            at = text.rindex(TAG.strip())
            text = text[:at] if text[at:].startswith(TAG) else text[:at].rstrip()
        return text

    return render


def transformers_renderer():
    from transformers.utils import chat_template_utils as utils

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return NOW

    utils.datetime = Clock

    def render(template, row):
        messages = utils._normalize_chat_messages(row["messages"]) if hasattr(utils, "_normalize_chat_messages") else row["messages"]
        texts, _ = utils.render_jinja_template(
            [messages], tools=row.get("tools"), chat_template=template,
            add_generation_prompt=row.get("add_generation_prompt", False),
            continue_final_message=row.get("continue_final_message", False), **TOKENS, **row.get("arguments", {}))
        return texts[0]

    return render


def renderer():
    try:
        return transformers_renderer(), "transformers"
    except ImportError:
        return plain_renderer(), "jinja2"


def rendered(render, template, row):
    try:
        return render(template, row)
    except Exception as error:  # whatever a template says no to
        return error


def mark(text):
    """What is stored of a text: 16 digits of its SHA-256."""
    return "error" if isinstance(text, Exception) else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def results(folder):
    render, by = renderer()
    plain = plain_renderer()
    rows, formats = conversations(), {}
    for stem, template in templates(folder).items():
        marks = {row["name"]: mark(rendered(render, template, row)) for row in rows}
        for row in rows:
            if mark(rendered(plain, template, row)) != marks[row["name"]]:
                sys.exit("%s, %s: two renderers differ" % (stem, row["name"]))
        entry = formats.setdefault(format_of(stem), {"templates": [], "results": marks})
        if entry["results"] != marks:
            sys.exit("%s: two templates of the format differ" % stem)
        entry["templates"].append(hash_of_template(template))
    print("%d templates of %d formats, %d conversations, rendered by %s" % (
        len(templates(folder)), len(formats), len(rows), by))
    return formats


def write(folder):
    formats = results(folder)
    names = [row["name"] for row in conversations()]
    with open(os.path.join(HERE, "expected.json"), "w", encoding="utf-8") as file:
        file.write("{\n")
        for i, (name, entry) in enumerate(sorted(formats.items())):
            stored = {"templates": entry["templates"], "results": [entry["results"][n] for n in names]}
            file.write(' "%s": %s%s\n' % (name, json.dumps(stored), "," if i + 1 < len(formats) else ""))
        file.write("}\n")


def check(folder):
    names = [row["name"] for row in conversations()]
    with open(os.path.join(HERE, "expected.json"), encoding="utf-8") as file:
        stored = json.load(file)
    faults = 0
    for name, entry in results(folder).items():
        for row, old in zip(names, stored[name]["results"]):
            if entry["results"][row] != old:
                faults += 1
                print("%s, %s: stored %s, now %s" % (name, row, old, entry["results"][row]))
    sys.exit(1 if faults else 0)


def hone(folder, binary, model):
    render, _ = renderer()
    try:
        from tokenizers import Tokenizer
        tokenizer = Tokenizer.from_file(os.path.join(model, "tokenizer.json"))
    except ImportError:
        tokenizer = None
    with open(os.path.join(model, "tokenizer.json"), encoding="utf-8") as file:
        specials = [t["content"] for t in json.load(file)["added_tokens"] if t["special"]]
    compared = same_ids = faults = 0
    for stem, template in templates(folder).items():
        with tempfile.TemporaryDirectory() as place:
            os.symlink(os.path.abspath(os.path.join(model, "tokenizer.json")), os.path.join(place, "tokenizer.json"))
            with open(os.path.join(place, "tokenizer_config.json"), "w", encoding="utf-8") as file:
                json.dump(dict(TOKENS, chat_template=template), file)
            for row in conversations():
                expected = rendered(render, template, row)
                command = [binary, "render", "--model", place, "--json"]
                command += ["--generation-prompt" if row.get("add_generation_prompt") else "--no-generation-prompt"]
                command += ["--continue-final-message"] if row.get("continue_final_message") else []
                for key, value in row.get("arguments", {}).items():
                    command += ["--arg", "%s=%s" % (key, json.dumps(value))]
                if row.get("tools") is not None:
                    with open(os.path.join(place, "tools.json"), "w", encoding="utf-8") as file:
                        json.dump(row["tools"], file)
                    command += ["--tools", os.path.join(place, "tools.json")]
                run = subprocess.run(command, input=json.dumps({"messages": row["messages"]}), stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, encoding="utf-8")
                compared += 1
                got = json.loads(run.stdout) if run.returncode == 0 else None
                if isinstance(expected, Exception) != (got is None) or (got and got["text"] != expected):
                    faults += 1
                    print("%s, %s:\n jinja2: %r\n hone:   %r" % (stem, row["name"], expected, got["text"] if got else run.stderr))
                    continue
                texts = json.dumps([row["messages"], row.get("tools")], ensure_ascii=False)
                if got and tokenizer and not any(special in texts for special in specials):
                    same_ids += 1
                    ids = tokenizer.encode(expected, add_special_tokens=False).ids
                    if ids != got["ids"]:
                        faults += 1
                        print("%s, %s: ids differ\n reference: %s\n hone:      %s" % (stem, row["name"], ids, got["ids"]))
    print("%d renderings compared, %d of them with ids; %d differ" % (compared, same_ids, faults))
    sys.exit(1 if faults else 0)


def show(folder, form, name):
    row = next(row for row in conversations() if row["name"] == name)
    print(rendered(renderer()[0], templates(folder)[form], row))


if __name__ == "__main__":
    commands = {"write": write, "check": check, "hone": hone, "show": show}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
