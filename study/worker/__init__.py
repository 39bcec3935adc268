"""Behind the wall: what runs on the devices. It is started, never imported, and alone may import torch."""
