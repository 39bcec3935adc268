"""The type of the fixture that calls the command line."""

import subprocess
from collections.abc import Callable

Study = Callable[..., subprocess.CompletedProcess[str]]
