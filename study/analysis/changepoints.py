"""Where a series changes its level: the best fit by steps, with a price on each change.

The cost of a segment is the sum of squares about its mean. Among all ways to cut the series into
segments that are not too short, the one is taken whose cost plus `penalty` for each cut is least.

Sources: Jackson et al., IEEE Signal Processing Letters 12(2), 2005 (the recursion over the last cut);
Killick, Fearnhead & Eckley, JASA 107(500), 2012 (PELT: the same minimum, with candidates pruned on the
way). Pruning pays when there are many cuts. Here segments are long and cuts are few, and it is quicker
to answer a whole segment length of positions at once.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FINEST = 2000
"""Most positions at which a cut is looked for. A longer series is cut on a grid, to a resolution of
1/2000 of its length, so that the time does not grow with the square of the length."""


def change_points(values: "NDArray[np.float64]", penalty: float, shortest: int) -> tuple[int, ...]:
    """The first index of each segment after the first, in order; empty if one level fits best.

    `penalty` is in squared units of `values`; no segment has fewer than `shortest` of them. Of equally
    good cuttings, the one with the longest last segment is taken.

    The sum of all squares is the same for every cutting, so what is made greatest is the part that the
    segments explain: (sum of deviations)^2 / length in each, less the penalties.
    """
    import numpy as np

    stride = -(-len(values) // FINEST)
    at = np.arange(0, len(values) + 1, stride, dtype=float)
    at[-1] = len(values)
    shortest = -(-shortest // stride)
    # Sums of deviations from the mean: in large sums, small differences would get lost.
    sums = np.concatenate(([0.0], np.cumsum(values - values.mean())))[at.astype(np.intp)]
    ends = len(at)
    explained = np.full(ends, -np.inf)  # by the best cutting of all that lies before a position
    explained[0] = 0.0
    # Of the segments that end in a block of positions, the k-th may begin only k positions later.
    too_short = ~np.tri(shortest, shortest - 1, k=-1, dtype=bool)
    for first in range(shortest, ends, shortest):
        end = slice(first, min(first + shortest, ends))  # these segments all begin before `first`
        within = sums[end, None] - sums[:first]
        gain = within * within / (at[end, None] - at[:first]) + explained[:first]
        np.copyto(gain[:, first - shortest + 1 :], -np.inf, where=too_short[: len(gain)])
        explained[end] = gain.max(axis=1) - penalty
    cuts: list[int] = []
    position = ends - 1
    while position >= 2 * shortest:
        begin = slice(0, position - shortest + 1)
        within = sums[position] - sums[begin]
        position = int((within * within / (at[position] - at[begin]) + explained[begin]).argmax())
        cuts.append(int(at[position]))
    return tuple(cut for cut in reversed(cuts) if cut)
