"""The shelf of accelerators: one file each, found by its name.

A file states `FACTS` as one literal (`study.domain.shelf.AcceleratorFacts`) and offers the device of
a rank, marks in time on that device, synchronising, and peak memory.
"""
