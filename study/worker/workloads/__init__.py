"""The shelf of workloads: one file each, found by its name.

A file states `FACTS` as one literal (`study.domain.shelf.WorkloadFacts`): summary, tasks with their
unit of work and options, sizes, precisions, and the seams along which it can be spread. It has one
function, `build(place)` (`study.worker.contracts.Place`), whose result keeps the contract of
`study.worker.contracts.Job`. It builds an unchanged model on the meta device and hands it to `place.run`,
which puts it under the strategy and gives it its values; it works on the samples of `place.share` and on
no others, and counts the work of `place.counted`.

With `needs_torch` false, neither the file nor anything it imports may import torch; the ranks then
meet over files and always stand on the accelerator `cpu`.
"""
