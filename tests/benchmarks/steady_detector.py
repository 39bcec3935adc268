"""What it costs to judge the steadiness of a trial: many series, by the CPU time of this process.

Run by hand: `python tests/benchmarks/steady_detector.py`. The last line is one JSON document. Half of
the series are flat and half have a warm-up; series that wander cost a second pass over their levels.
"""

import json
import math
import time

import numpy as np
from scipy import signal

from study.analysis.steady import assess

SERIES = 5_000
STEPS = 200


def logs(seed: int, correlation: float) -> "np.ndarray":
    """Logs of 1 % of noise of this lag-one correlation; every other series warms up."""
    fresh = np.random.default_rng(seed).normal(size=STEPS) * math.sqrt(1 - correlation**2)
    warm = np.log1p(0.3 * np.exp(-np.arange(STEPS) / 10)) if seed % 2 else 0.0
    return warm + 0.01 * signal.lfilter([1.0], [1.0, -correlation], fresh)


def main() -> None:
    """Judge the series of three correlations and tell the CPU seconds of each set."""
    assess([10**8] * STEPS)  # the first call imports
    found = {}
    for correlation in (0.0, 0.5, 0.8):
        several = [(1e8 * np.exp(logs(seed, correlation))).tolist() for seed in range(SERIES)]
        before = time.process_time()
        for each in several:
            assess(each)
        found[str(correlation)] = round(time.process_time() - before, 2)
        print(
            f"correlation {correlation}: {found[str(correlation)]} CPU s for {SERIES} series of {STEPS} steps"
        )
    print(json.dumps({"cpu_s_by_correlation": found, "series": SERIES, "steps": STEPS}))


if __name__ == "__main__":
    main()
