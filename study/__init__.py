"""`study` measures how PyTorch training and inference scale over devices, and publishes what it found."""

__version__ = "0.1.0"
