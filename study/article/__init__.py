"""The article: one run, its records and the desk's analysis arranged as a page, as data.

`compose` is the room's only function. Every word is a frame with slots; the press makes the digits.
"""

from study.article.skeleton import compose

__all__ = ["compose"]
