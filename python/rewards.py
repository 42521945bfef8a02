# -- the user's reward function ---------------------------------------------------------------------------------------

_reward = None  # the function that is loaded
_start = None  # the working folder and the recursion limit that it left when it was loaded

SIGNATURES = """\
  f(data_source, solution_str, ground_truth, extra_info, **kwargs) -> number, dict with "score", or None
  f(data_sources, solution_strs, ground_truths, extra_infos, **kwargs) -> list of these
  f(prompts, completions, **columns) -> list of numbers or None"""
ONE = ("data_source", "solution_str", "ground_truth", "extra_info")
BATCH = ("data_sources", "solution_strs", "ground_truths", "extra_infos")


class _Reward:
    """A function, what it is called with and how."""

    def __init__(self, function, label, kwargs, path):
        self.function, self.label, self.kwargs, self.path = function, label, kwargs, path
        if not callable(function):
            raise Failure("%s is no function but %s" % (label, _described(function)))
        self.signature = inspect.signature(function)
        parameters = self.signature.parameters
        self.takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        if "completions" in parameters:
            self.form = "completions"
        elif "solution_strs" in parameters:
            self.form = "batch"
        elif "solution_str" in parameters or self.takes_all:
            self.form = "one"
        else:
            raise Failure("%s%s has none of the signatures\n%s" % (label, self.signature, SIGNATURES))
        called = getattr(function, "__call__", None)
        self.is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)

    def given(self, arguments):
        """Of these arguments the ones that the function takes, and the reward_kwargs."""
        parameters = self.signature.parameters
        taken = {name: value for name, value in arguments.items() if self.takes_all or name in parameters}
        taken.update(self.kwargs)
        return taken

    def check(self, arguments):
        for name in self.kwargs:
            if name in arguments:
                raise Failure("reward_kwargs.%s: every call gives %s already" % (name, name))
        try:
            self.signature.bind(**self.given(arguments))
        except TypeError as error:
            names = ", ".join(list(arguments) + list(self.kwargs))
            raise Failure(
                "%s%s cannot be called with %s: %s; known signatures:\n%s"
                % (self.label, self.signature, names, error, SIGNATURES)
            )


def _described(value):
    text = repr(value)
    return "%s %s" % (type(value).__name__, text if len(text) <= 60 else text[:60] + "...")


def _last_frames(error):
    """The traceback without the frames of this program."""
    step = error.__traceback__
    while step is not None and step.tb_frame.f_code.co_filename == "<string>":
        step = step.tb_next
    return "".join(traceback.format_exception(type(error), error, step)).rstrip("\n")


def _last_line(error, path):
    """The last line of the traceback, with the last line of the user's file that it went through."""
    text = " ".join(traceback.format_exception_only(type(error), error)[-1].split())
    line, step = None, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == path:
            line = step.tb_lineno
        step = step.tb_next
    where = "" if line is None else " (%s:%d)" % (os.path.basename(path), line)
    return text[:500] + where


def _end_with(parent):
    """Ends this process and what it started when hone is gone: a function may never come back to look for requests."""
    while os.getppid() == parent:
        time.sleep(1)
    os.killpg(0, signal.SIGKILL)


def load_reward(request):
    """Runs the user's file and takes the function `name` out of it."""
    global _reward, _start, inspect, random, threading, time, traceback, types, zlib
    import inspect, random, threading, time, traceback, types, zlib  # here: chat templates need none of them

    _reward = None
    path, name = request["path"], request["name"]
    if not any(thread.name == "hone" for thread in threading.enumerate()):
        threading.Thread(target=_end_with, args=(os.getppid(),), name="hone", daemon=True).start()
        sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    if "numpy" in request["source"]:
        try:
            import numpy  # here, not by the first call that wants it: its seed is set for every call that finds it
        except BaseException:
            pass
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.append(folder)  # modules beside the file; those of Python itself come first
    module = types.ModuleType("hone_reward_function")
    module.__file__ = path
    sys.modules[module.__name__] = module
    try:
        exec(compile(request["source"], path, "exec", dont_inherit=True), module.__dict__)
    except BaseException as error:
        hint = ""
        if isinstance(error, ImportError):
            hint = "\n(the Python that runs it is %s; HONE_PYTHON names another one)" % sys.executable
        raise Failure("%s cannot be loaded:\n%s%s" % (path, _last_frames(error)[-2000:], hint))
    if not hasattr(module, name):
        functions = [n for n, v in vars(module).items() if inspect.isfunction(v) and v.__module__ == module.__name__]
        raise Failure("%s has no function %s; it has: %s" % (path, name, ", ".join(functions) or "none"))
    reward = _Reward(getattr(module, name), name, request["kwargs"], path)
    if reward.form == "one":
        reward.check(dict.fromkeys(ONE))
    elif reward.form == "batch":
        reward.check(dict.fromkeys(BATCH))
    _reward, _start = reward, (os.getcwd(), sys.getrecursionlimit())
    return {"form": reward.form, "is_async": reward.is_async}


def _columns(row, prompt_key, count):
    """Every field of the row but its prompt as a list, one item for each answer, as TRL gives them."""
    left_out = (prompt_key, "prompt", "completion", "prompts", "completions")
    return {key: [value] * count for key, value in row.items() if key not in left_out}


def check_row(request):
    """Whether the function, of TRL's signature, can be called with the fields of a row."""
    row = json.loads(request["row"]) if request["row"] is not None else {}
    _reward.check(dict(_columns(row, request["prompt_key"], 1), prompts=None, completions=None))
    return {}


def _one_arguments(request, i):
    row = json.loads(request["row"]) if request["row"] is not None else {}  # anew: functions change what they get
    extra_info = row.get("extra_info")
    extra_info = dict(extra_info) if isinstance(extra_info, dict) else {}
    extra_info.setdefault("num_turns", 2)
    extra_info.setdefault("rollout_reward_scores", {})
    extra_info.setdefault("finish_reason", request["finish_reasons"][i])
    if request["response_lengths"][i] is not None:
        extra_info.setdefault("response_length", request["response_lengths"][i])
    return {
        "data_source": request["data_source"],
        "solution_str": request["answers"][i],
        "ground_truth": json.loads(request["ground_truth"]),
        "extra_info": extra_info,
    }


def _list_arguments(request, form):
    count = len(request["answers"])
    if form == "batch":
        each = [_one_arguments(request, i) for i in range(count)]
        return {many: [arguments[one] for arguments in each] for one, many in zip(ONE, BATCH)}
    row = json.loads(request["row"]) if request["row"] is not None else {}
    prompt = row.get(request["prompt_key"], request["prompt"])
    completions = list(request["answers"])
    if isinstance(prompt, list):  # a conversation
        completions = [[{"role": "assistant", "content": text}] for text in completions]
    arguments = _columns(row, request["prompt_key"], count)
    arguments.update(prompts=[prompt] * count, completions=completions)
    return arguments


def _number(value):
    if isinstance(value, (str, bytes, bytearray)):
        raise Failure("gave %s, expected a number" % _described(value))
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise Failure("gave %s, expected a number" % _described(value))
    if number != number or number in (float("inf"), float("-inf")):
        raise Failure("gave %s" % number)
    return number


def _extra(value):
    if isinstance(value, str):
        return value
    try:
        return _number(value)
    except Exception:
        pass
    try:
        return json.dumps(value, ensure_ascii=False)
    except Exception:
        return str(value)


def _score(result):
    """What a reply says of one answer: its score, or why it is absent, and what the function reports beside."""
    if result is None:
        return {"none": True}
    if not isinstance(result, dict):
        return {"score": _number(result)}
    if "score" not in result:
        raise Failure("gave a dict without \"score\": %s" % _described(list(result)))
    extras = [[str(key), _extra(value)] for key, value in result.items() if key != "score" and value is not None]
    if result["score"] is None:
        return {"none": True, "extras": extras}
    return {"score": _number(result["score"]), "extras": extras}


def _absent(request, error, path, samples):
    if isinstance(error, Failure):
        return {"absent": str(error)}
    print("-- %s, sample %s:\n%s" % (request["place"], samples, _last_frames(error)), file=sys.stderr, flush=True)
    return {"absent": _last_line(error, path)}


_event_loop = None


def _awaited(result):
    global _event_loop
    if not inspect.isawaitable(result):
        return result
    import asyncio

    if _event_loop is None:
        _event_loop = asyncio.new_event_loop()

    async def wait():
        return await result

    return _event_loop.run_until_complete(wait())


def _begin(text):
    """What a call finds does not depend on the calls before it in this process."""
    random.seed(text)
    os.chdir(_start[0])
    sys.setrecursionlimit(_start[1])
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(zlib.crc32(text.encode()))


def _one_by_one(request, reward):
    scores = []
    for i, sample in enumerate(request["samples"]):
        _begin("%s %d" % (request["seed"], sample))
        try:
            scores.append(_score(_awaited(reward.function(**reward.given(_one_arguments(request, i))))))
        except BaseException as error:  # a function that leaves the process by sys.exit() included
            scores.append(_absent(request, error, reward.path, sample))
    return scores


def _side_by_side(request, reward):
    """Of an async function: all answers of the group at once, each within the time of one."""
    import asyncio

    async def one(i):
        result = reward.function(**reward.given(_one_arguments(request, i)))
        task = asyncio.ensure_future(result)
        await asyncio.wait([task], timeout=request["seconds_each"])
        if not task.done():
            task.cancel()
            raise Failure("gave no answer within %g s" % request["seconds_each"])
        return task.result()

    async def every():
        return await asyncio.gather(*[one(i) for i in range(len(request["answers"]))], return_exceptions=True)

    _begin("%s %d" % (request["seed"], request["samples"][0]))
    scores = []
    for sample, result in zip(request["samples"], _awaited(every())):
        try:
            if isinstance(result, BaseException):
                raise result
            scores.append(_score(result))
        except BaseException as error:
            scores.append(_absent(request, error, reward.path, sample))
    return scores


def _as_list(request, reward):
    """Of a function of lists. When it fails as a whole there are no scores, but the reason."""
    count = len(request["answers"])
    _begin("%s %d" % (request["seed"], request["samples"][0]))
    try:
        results = _awaited(reward.function(**reward.given(_list_arguments(request, reward.form))))
        if isinstance(results, (str, bytes, dict)) or not hasattr(results, "__iter__"):
            raise Failure("gave %s, expected a list of %d" % (_described(results), count))
        results = list(results)
        if len(results) != count:
            raise Failure("gave a list of %d for %d answers" % (len(results), count))
    except BaseException as error:
        return _absent(request, error, reward.path, ", ".join(map(str, request["samples"])))
    scores = []
    for sample, result in zip(request["samples"], results):
        try:
            scores.append(_score(result))
        except BaseException as error:
            scores.append(_absent(request, error, reward.path, sample))
    return scores


def score(request):
    """The scores of `answers` to one prompt."""
    if _reward is None:
        return {"not_loaded": True}
    # The kernel's own end for a function that never lets Python look after its threads, should hone be gone.
    signal.setitimer(signal.ITIMER_VIRTUAL, 5 + request["seconds"] * (os.cpu_count() or 1))
    try:
        if _reward.form != "one":
            scores = _as_list(request, _reward)
        elif _reward.is_async:
            scores = _side_by_side(request, _reward)
        else:
            scores = _one_by_one(request, _reward)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        sys.stdout.flush()
    return {"id": request["id"], "failed" if isinstance(scores, dict) else "scores": scores}


OPERATIONS.update(load_reward=load_reward, check_row=check_row, score=score)
WITHOUT_ALARM.update(("load_reward", "score"))  # alarms are the function's own
