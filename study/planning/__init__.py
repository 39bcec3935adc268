"""Planning: from a study file to everything that a run is going to do, before it starts."""

from study.planning.plan import make_plan
from study.planning.study_file import load_study, preset_names

__all__ = ["load_study", "make_plan", "preset_names"]
