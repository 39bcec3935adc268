"""The words for tasks and scalings, as sentences and labels share them."""

from study.domain.text import Term

TASKS = {"train": Term(text="training"), "infer": Term(text="inference"), "check": Term(text="check")}

SCALINGS = {"strong": Term(text="strong scaling"), "weak": Term(text="weak scaling")}

OPENINGS = {"train": Term(text="Training throughput"), "infer": Term(text="Inference throughput")}
"""What is measured, where a sentence begins with it."""

THROUGHPUTS = {"train": Term(text="training throughput"), "infer": Term(text="inference throughput")}
"""What is measured, inside a sentence."""
