#!/usr/bin/env python3
"""What public scorers say of the rows of tests/rewards/scorers.jsonl: tools/make_scorer_verdicts.py FILE [--check]

Writes the field `public` of every row anew ({scorer: "right" or "not right"}), or with --check only says where it
differs. The scorers are those of verl and of MathRuler, run in child processes with a limit of 20 seconds a row. Neither
build nor tests need this. In a virtual environment of its own:

    pip install --no-deps verl==0.7.0 mathruler==0.1.0
    pip install sympy==1.14.0 mpmath==1.3.0 pylatexenc==2.11 antlr4-python3-runtime==4.11.1 tqdm
"""

import importlib
import importlib.util
import json
import multiprocessing
import sys
import types


def without_package_init(name, path):
    """Makes `name` a package of the files at `path` without running its __init__, which asks for torch and ray."""
    module = types.ModuleType(name)
    module.__path__ = [path]
    sys.modules[name] = module


def load_verl():
    root = importlib.util.find_spec("verl").submodule_search_locations[0]
    for name, path in [("verl", ""), ("verl.utils", "/utils"), ("verl.utils.reward_score", "/utils/reward_score")]:
        without_package_init(name, root + path)
    names = ["gsm8k", "math_reward", "math_dapo", "prime_math", "geo3k", "search_r1_like_qa_em"]
    return {name: importlib.import_module("verl.utils.reward_score." + name) for name in names}


def search_truth(gold):
    return json.loads(gold) if gold.startswith("{") else {"target": gold}


def verdicts(modules, response, gold):
    def first(result):
        return result[0] if isinstance(result, tuple) else result

    calls = {
        "gsm8k": lambda: modules["gsm8k"].compute_score(response, gold) > 0,
        "gsm8k_flexible": lambda: modules["gsm8k"].compute_score(response, gold, method="flexible") > 0,
        "math": lambda: modules["math_reward"].compute_score(response, gold) > 0,
        "math_dapo": lambda: modules["math_dapo"].compute_score(response, gold)["acc"],
        "math_dapo_strict": lambda: modules["math_dapo"].compute_score(response, gold, strict_box_verify=True)["acc"],
        "prime_math": lambda: first(modules["prime_math"].compute_score(response, gold)),
        "geo3k": lambda: modules["geo3k"].acc_reward(response, gold) > 0,
        "search_em": lambda: modules["search_r1_like_qa_em"].compute_score(response, search_truth(gold)) > 0,
    }
    for name, call in calls.items():
        try:
            yield name, "right" if call() else "not right"
        except Exception as error:  # a scorer that fails gives no reward
            print("%s fails: %s" % (name, str(error)[:100]), file=sys.stderr)
            yield name, "not right"


def answer_rows(connection):
    modules = load_verl()
    while True:
        names, response, gold = connection.recv()
        result = {name: verdict for name, verdict in verdicts(modules, response, gold) if name in names}
        connection.send(result)


class Child:
    def __init__(self):
        self.connection, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=answer_rows, args=(other,), daemon=False)
        self.process.start()

    def end(self):
        self.process.kill()
        self.process.join()


def main():
    path, check = sys.argv[1], "--check" in sys.argv[2:]
    rows = [json.loads(line) for line in open(path, encoding="utf-8")]
    child, num_differ = Child(), 0
    for number, row in enumerate(rows, 1):
        response = row["response"]
        if isinstance(response, list):  # parts, each with how often it stands
            response = "".join(text * times for text, times in response)
        names = [name for name in row["verdicts"] if name not in ("multiple_choice", "exact_match")]
        child.connection.send((names, response, row["gold"]))
        if child.connection.poll(20 if number > 1 else 120):
            public = child.connection.recv()
        else:
            public = {name: "not right" for name in names}
            print("row %d takes more than 20 seconds" % number, file=sys.stderr)
            child.end()
            child = Child()
        if check and public != row.get("public", {}):
            num_differ += 1
            print("row %d: %s, the file says %s" % (number, public, row.get("public", {})))
        row["public"] = public
    child.end()
    if not check:
        with open(path, "w", encoding="utf-8") as file:
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print("%d rows%s" % (len(rows), ", %d differ" % num_differ if check else ""))
    return 1 if num_differ else 0


if __name__ == "__main__":
    sys.exit(main())
