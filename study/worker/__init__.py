"""Behind the wall: what runs on the devices. It is started, never imported, and alone may import torch.

A launcher calls two doors by name in a process of its own: `study.worker.ranks:serve` runs one rank
of one trial, `study.worker.probe:describe` says what torch sees here. A forkserver may load
`study.worker.preload` first, so that ranks start in a tenth of a second.
"""
