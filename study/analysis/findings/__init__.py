"""The shelf of findings: one file a claim, number and sentence together.

A file states `FACTS` as one literal (`study.domain.shelf.PageFacts`: summary, section, rank) and
offers

    FRAMES: dict[str, str]                      every English sentence that it can say, slots in braces
    find(parts: study.analysis.parts.Parts) -> list[study.domain.finding.Finding]

A finding's sentence and its short form are whole sentences made of one frame each. No frame holds a
digit, an adjective of praise, a comparative or a cause; numbers and names come through slots, and a
slot is a number, an estimate, a name or a term. A frame for counts other than one has the key of the
frame for one with `_many` behind it. Keys are unique over the shelf and begin with the file's name.
Findings stand in the order of `rank`, then of key.
"""
