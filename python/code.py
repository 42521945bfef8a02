# -- answers that are programs ----------------------------------------------------------------------------------------

PRELUDE = """\
import sys
del sys.path[0]  # the folder of the program
import os, math, re, random, string, time, json, copy, io
import bisect, collections, fractions, functools, heapq, itertools, operator, statistics
from bisect import *
from collections import *
from copy import copy, deepcopy
from functools import *
from heapq import *
from itertools import *
from math import *
from typing import *
sys.setrecursionlimit(600000)
random.seed(0)
"""
CALL = """
_given = json.loads(sys.stdin.read())
_result = (Solution().%s if "Solution" in globals() else %s)(*_given)
sys.stdout.flush()
with open("result.json", "w") as _file:
    json.dump(_result, _file)
"""
MOST_WRITTEN = 16 << 20  # bytes of a file; a program that prints so many fails


def _program(answer):
    """The last Python block, or the whole answer."""
    return answer.split("```python")[-1].split("```")[0]


def _confine(seconds, memory_bytes):
    """Between fork and exec of a program: limits, a session of its own, an end with this process."""
    import ctypes, math, resource

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    for kind, limit in (
        (resource.RLIMIT_CPU, math.ceil(seconds)),
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, MOST_WRITTEN),
        (resource.RLIMIT_NOFILE, 64),
    ):
        resource.setrlimit(kind, (limit, limit))


def _run_in(folder, program, given, request):
    import subprocess

    path = os.path.join(folder, "answer.py")
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write(program)
    with open(os.path.join(folder, "input"), "wb") as file:
        file.write(given.encode("utf-8", "replace"))
    with open(os.path.join(folder, "input"), "rb") as in_file, open(os.path.join(folder, "printed"), "w+b") as out_file:
        child = subprocess.Popen(
            [sys.executable, "-s", "-B", path],  # not -I, which takes no PYTHONHASHSEED
            stdin=in_file,
            stdout=out_file,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={"PATH": os.environ.get("PATH", ""), "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"},
            start_new_session=True,
            preexec_fn=lambda: _confine(request["seconds_each"], request["memory_bytes"]),
        )
        try:
            code = child.wait(request["clock_seconds_each"])
        except subprocess.TimeoutExpired:
            code = None
        try:
            os.killpg(child.pid, signal.SIGKILL)  # what it started goes with it
        except ProcessLookupError:
            pass
        child.wait()
        out_file.seek(0)
        printed = out_file.read(MOST_WRITTEN)
    if code != 0 or len(printed) == MOST_WRITTEN:
        return None
    printed = printed.decode("utf-8", "replace")
    result = os.path.join(folder, "result.json")
    if not os.path.isfile(result):
        return printed, []
    try:
        with open(result) as file:
            return printed, [json.loads(file.read(MOST_WRITTEN))]
    except (OSError, ValueError, RecursionError):
        return printed, []


def _run(program, given, request):
    """What the program prints for this input, and a list of the value of its function; None when it fails."""
    import shutil, tempfile

    folder = tempfile.mkdtemp(prefix="hone_code_")
    try:
        return _run_in(folder, program, given, request)
    finally:
        try:
            shutil.rmtree(folder, ignore_errors=True)  # whatever the program made of it
        except RecursionError:
            pass


def _same_number(text, expected):
    """Whole numbers are exact, others near."""
    if "_" in text:
        return False
    try:
        return int(text) == int(expected)
    except ValueError:
        pass
    try:
        return abs(float(text) - float(expected)) <= 1e-8 + 1e-5 * abs(float(expected))
    except (ValueError, OverflowError):
        return False


def _same_output(printed, expected):
    """Word by word, numbers as numbers."""
    if isinstance(expected, list):
        expected = "\n".join(map(str, expected))
    theirs = expected.split()
    ours = printed.split(None, len(theirs))  # what is left over stands in the last one
    if len(ours) != len(theirs):
        return False
    return all(a == b or _same_number(a, b) for a, b in zip(ours, theirs))


def _arguments(given):
    if isinstance(given, str):
        return [json.loads(line) for line in given.split("\n") if line.strip()]
    return given


def _passes(program, cases, i, request):
    given, expected, name = cases["inputs"][i], cases["outputs"][i], cases.get("fn_name")
    if name is None:
        text = "\n".join(map(str, given)) if isinstance(given, list) else str(given)
        done = _run(PRELUDE + program, text, request)
        return done is not None and _same_output(done[0], expected if isinstance(expected, list) else str(expected))
    done = _run(PRELUDE + program + CALL % (name, name), json.dumps(_arguments(given)), request)
    if done is None or not done[1]:
        return False
    value = done[1][0]
    if isinstance(expected, str):
        try:
            expected = json.loads(expected)
        except ValueError:
            pass
    return value == expected or (isinstance(expected, list) and len(expected) == 1 and value == expected[0])


def score_code(request):
    """The share of the first test cases that the answer's program passes."""
    cases = json.loads(request["ground_truth"])  # checked before the run began
    program = _program(request["answer"])
    count = min(len(cases["inputs"]), request["most_cases"])
    passed = sum(_passes(program, cases, i, request) for i in range(count))
    extras = [["acc", float(passed == count)], ["passed", float(passed)], ["cases", float(count)]]
    return {"scores": [{"score": passed / count, "extras": extras}]}


OPERATIONS.update(score_code=score_code)
WITHOUT_ALARM.add("score_code")
