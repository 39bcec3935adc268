"""Every way in which the tool refuses: one sentence what is wrong and where, one what to do.

Each class carries its exit code. Rooms raise; only the hallway turns an error into text and a code.

    StudyError
      BadInput (2)     BadStudyFile  BadArchive  BadShelfFile  BadUsage
      NotReady (3)
      OurFault (4)
"""


class StudyError(Exception):
    """A sentence what is wrong and where, and a remedy."""

    exit_code = 4

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy


class BadInput(StudyError):
    """Something that the user wrote or pointed at cannot be used."""

    exit_code = 2


class BadUsage(BadInput):
    """A command line that asks for what does not exist."""


class BadStudyFile(BadInput):
    """A study file, or one key of it, is wrong. `place` is the file and the key path."""

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem}", remedy)
        self.place = place


class BadArchive(BadInput):
    """A file under runs/ cannot be read, or does not say what its hash says."""

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem}", remedy)
        self.place = place


class BadShelfFile(BadInput):
    """A file on a shelf does not keep the shelf's contract."""

    def __init__(self, module: str, problem: str) -> None:
        super().__init__(
            f"{module}: {problem}", "Mend that file; the shelf's contract is in its __init__ docstring."
        )


class NotReady(StudyError):
    """The machine cannot run this now."""

    exit_code = 3


class OurFault(StudyError):
    """A mistake of this program."""

    exit_code = 4
