"""Planning: from a study file to everything that a run is going to do, before it starts."""

from study.planning.more import one_more_block
from study.planning.plan import make_plan
from study.planning.revise import Revision, revise
from study.planning.study_file import load_study, preset_names

__all__ = ["Revision", "load_study", "make_plan", "one_more_block", "preset_names", "revise"]
