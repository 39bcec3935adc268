"""How long `study --help` takes over bare Python: alternated in one run, medians, printed."""

import statistics
import subprocess
import sys
import time

ROUNDS = 15
BARE = [sys.executable, "-c", "pass"]
HELP = [sys.executable, "-c", "from study.cli import main; main(['--help'])"]


def seconds(command: list[str]) -> float:
    """Wall time of one process from start to end."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Alternate the two, so that whatever else the machine does hits both."""
    pairs = [(seconds(BARE), seconds(HELP)) for _ in range(ROUNDS)]
    bare = statistics.median(pair[0] for pair in pairs)
    over = statistics.median(pair[1] - pair[0] for pair in pairs)
    print(f"bare python {bare * 1e3:.0f} ms; study --help {over * 1e3:.0f} ms over it (medians of {ROUNDS})")


if __name__ == "__main__":
    main()
