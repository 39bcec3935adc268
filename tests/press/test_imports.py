"""The press at rest: importing it loads none of the libraries that it prints with."""

import subprocess
import sys

HEAVY = ("matplotlib", "jinja2", "babel", "markdown", "nh3", "torch", "pandas", "scipy", "PIL")


def test_importing_the_press_loads_nothing_heavy() -> None:
    """The command line can import the room to ask for its functions, and stay fast."""
    program = (
        "import sys, pkgutil, importlib, study.press;"
        "names = [m.name for m in pkgutil.iter_modules(study.press.__path__)];"
        "[importlib.import_module(f'study.press.{name}') for name in names];"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)

    assert done.stdout.strip() == "[]"


def test_the_room_has_two_functions() -> None:
    """Pages are published, sentences are said; the rest is the room's own business."""
    import study.press

    assert study.press.__all__ == ["Published", "publish", "say"]
