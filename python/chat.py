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


OPERATIONS.update(render_chat=render_chat, chat_variables=chat_variables)
