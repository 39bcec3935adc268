"""The models: plain modules that know nothing of strategies, and state their seams as data.

Every model has an attribute `seams` (`study.worker.models.seams.Seams`): its blocks in order, what
stands before and after them, and which of their matrices may be split by column and by row.
"""
