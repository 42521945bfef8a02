"""A reward function in verl's form (docs/rewards.md): the last number of an answer, and a little for being short."""

import re


def compute_score(data_source, solution_str, ground_truth, extra_info=None, short_bonus=0.0):
    numbers = re.findall(r"-?\d+", solution_str)
    right = bool(numbers) and numbers[-1] == ground_truth
    score = float(right)
    if right and len(solution_str) <= 8:
        score += short_bonus
    return {"score": score, "acc": right, "pred": numbers[-1] if numbers else ""}
