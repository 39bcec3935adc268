"""The shelf of workloads: one file each, found by its name.

A file states `FACTS` as one literal (`study.domain.shelf.WorkloadFacts`): summary, tasks with their
unit of work and options, sizes, precisions, and the strategies that it can be put under. It has one
function, `build(cell, device, seed)`, whose result keeps the contract of `study.worker.ranks.Job`.
"""
