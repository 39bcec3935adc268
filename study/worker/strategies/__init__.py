"""The shelf of strategies: one file each, found by its name. No file imports torch at its top.

A strategy is generic and is applied from outside to an unchanged model. A file states `FACTS` as one
literal (`study.domain.shelf.StrategyFacts`) and offers; `study.worker.contracts.Strategy` has the types:

- `JOINS_GROUP`: whether its ranks join a process group, even a rank that is alone;
- `share(batch, rank, world_size)`: the indices within the global batch of the samples that a rank
  works on. The shares of all ranks cover each sample once, and a rank's work is counted from its
  share. Raises `study.worker.contracts.Invalid` if the batch cannot be shared so;
- `apply(model, training=, device=)`: the model under the strategy. The model stands on `device`
  already and has the same values on every rank. What a model allows is stated by its `seams`
  (`study.worker.models.seams.Seams`); a seam that is missing is an `Invalid` with a sentence;
- `events(model)`, if it has any: counters, by name, of what `apply`'s model does once, after its first
  steps (`study.worker.events`).
"""
