"""Hone's Python worker: answers requests of the hone binary, which carries this file and starts it as `python3 -c`.

A request and a reply are one JSON object each, as UTF-8 bytes after their length (4 bytes, little end first), on the
standard input and output that the process was started with. Anything that is printed goes to the error output. A reply
holds the result, or "error" with what went wrong, or "missing_module".

Needs Python 3.7. Packages beyond the standard library are imported by the operation that needs them.
"""

import sys

sys.path[:] = [entry for entry in sys.path if entry not in ("", ".")]  # no modules from the working folder

import datetime
import json
import os
import signal
import struct


class Failure(Exception):
    """What a reply gives as its error."""


# -- chat templates ---------------------------------------------------------------------------------------------------

GENERATION_BEGIN, GENERATION_END = "\ufdd2", "\ufdd3"  # as in src/text/chat_marks.h


def _environment(mark_generation, now):
    import jinja2
    import jinja2.ext
    import jinja2.sandbox

    class Generation(jinja2.ext.Extension):
        """{% generation %} ... {% endgeneration %}: what the model is trained on."""

        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            if mark_generation:
                begin = jinja2.nodes.Output([jinja2.nodes.TemplateData(GENERATION_BEGIN)])
                end = jinja2.nodes.Output([jinja2.nodes.TemplateData(GENERATION_END)])
                body = [begin] + body + [end]
            return jinja2.nodes.Scope(body).set_lineno(line)

    def raise_exception(message):
        raise Failure(str(message))

    def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def strftime_now(form):
        return now.strftime(form)

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = strftime_now
    return environment


_templates = {}


def _compiled(text, mark_generation, date):
    key = (text, mark_generation, date)
    if key not in _templates:
        if len(_templates) >= 32:
            _templates.clear()
        now = datetime.datetime.strptime(date, "%Y-%m-%d")
        _templates[key] = _environment(mark_generation, now).from_string(text)
    return _templates[key]


def _template_line(error):
    line, step = None, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == "<template>":
            line = step.tb_lineno
        step = step.tb_next
    return line


def _broken(error):
    return Failure("the chat template is broken at line %d: %s" % (error.lineno, error.message))


def _rendered(text, mark_generation, date, variables, max_characters):
    import jinja2

    try:
        parts, size = [], 0
        for part in _compiled(text, mark_generation, date).generate(**variables):
            size += len(part)
            if size > max_characters:
                raise Failure("the chat template prints more than %d characters" % max_characters)
            parts.append(part)
        return "".join(parts)
    except jinja2.TemplateSyntaxError as error:
        raise _broken(error)
    except MemoryError:
        raise Failure("the chat template needs more memory than its limit")
    except Failure as error:
        line = _template_line(error)
        raise Failure(str(error) if line is None else "the chat template says, at line %d: %s" % (line, error))
    except Exception as error:  # whatever a template can do wrong is its author's news
        line = _template_line(error)
        where = "" if line is None else " at line %d" % line
        raise Failure("the chat template fails%s: %s: %s" % (where, type(error).__name__, error))


def render_chat(request):
    """Renders `template` with `variables`, and `marked_template` with `marked_variables`, which differ in marks alone."""
    date, most = request["date"], request["max_characters"]
    marked = dict(request["variables"])
    marked.update(request["marked_variables"])
    return {
        "text": _rendered(request["template"], False, date, request["variables"], most),
        "marked": _rendered(request["marked_template"], True, date, marked, 2 * most),
    }


def chat_variables(request):
    """The names that a template looks at and does not set itself."""
    import jinja2.meta

    try:
        tree = _environment(False, datetime.datetime(2024, 7, 26)).parse(request["template"])
        return {"names": sorted(jinja2.meta.find_undeclared_variables(tree))}  # looks filters and tests up
    except jinja2.TemplateSyntaxError as error:
        raise _broken(error)


OPERATIONS = {"render_chat": render_chat, "chat_variables": chat_variables}


# -- the conversation with hone ---------------------------------------------------------------------------------------


def _read_exactly(stream, size):
    data = stream.read(size)
    if len(data) != size:
        sys.exit(0)  # hone has gone
    return data


MOST_SAID = 4000  # characters of a fault


def _failed(error):
    if isinstance(error, ModuleNotFoundError):
        return {"missing_module": (error.name or "").split(".")[0], "python": sys.executable}
    if isinstance(error, Failure):
        return {"error": str(error)[:MOST_SAID]}
    if isinstance(error, MemoryError):
        return {"error": "more memory is needed than the limit allows"}
    if isinstance(error, RecursionError):
        return {"error": "nested too deeply"}
    return {"error": ("the Python worker fails: %s: %s" % (type(error).__name__, error))[:MOST_SAID]}


def _encoded(reply):
    return json.dumps(reply, ensure_ascii=False).encode("utf-8", "replace")


def _answer(message):
    """The reply to a request, as bytes. No exception ends the process: hone names the row that the request was for."""
    try:
        request = json.loads(message.decode("utf-8"))
        # Ends this process should the request last longer, also when hone is gone: its default action.
        signal.setitimer(signal.ITIMER_REAL, request["seconds"])
        return _encoded(OPERATIONS[request["operation"]](request))
    except Exception as error:
        return _encoded(_failed(error))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main():
    stream = os.fdopen(os.dup(0), "rb")
    channel = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # prints of templates and scorers do not mix with replies
    while True:
        (size,) = struct.unpack("<I", _read_exactly(stream, 4))
        reply = _answer(_read_exactly(stream, size))
        data = struct.pack("<I", len(reply)) + reply
        while data:
            data = data[os.write(channel, data) :]


main()
