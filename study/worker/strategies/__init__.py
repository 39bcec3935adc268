"""The shelf of strategies: one file each, found by its name.

A file states `FACTS` as one literal (`study.domain.shelf.StrategyFacts`) and has one function,
`apply(model, ...)`, which puts an unchanged model under the strategy from outside.
"""
