"""The shelf of strategies: one file each, found by its name. No file imports torch at its top.

A strategy is generic and is applied from outside to an unchanged model. A file states `FACTS` as one
literal (`study.domain.shelf.StrategyFacts`) and offers; `study.worker.contracts.Strategy` has the types:

- `JOINS_GROUP`: whether its ranks join a process group, even a rank that is alone;
- `share(batch, rank, mesh)`: the indices within the global batch of the samples whose data a rank needs;
  `mesh` has the degree of each axis. Raises `study.worker.contracts.Invalid` if the batch cannot be
  shared so;
- `counted(batch, rank, mesh)`: how many samples' work a rank reports. Over all ranks it is the batch;
- `apply(model, place, loss=, scale=)`: the model under the strategy, a `study.worker.contracts.Runner`.
  The model stands on the meta device and has no values: the strategy takes the part that this rank holds
  and calls `study.worker.parameters.materialise` on it. What a model allows is stated by its `seams`
  (`study.worker.models.seams.Seams`). `loss` is None if nothing is trained; `scale` multiplies the loss
  before the backward pass;
- `events(runner)`, if it has any: counters, by name, of what its runner does once, after its first steps
  (`study.worker.events`).

docs/adding-a-strategy.md tells it with an example.
"""
