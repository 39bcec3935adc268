"""The shelf of accelerators: one file each, found by its name. No file imports torch at its top.

A file states `FACTS` as one literal (`study.domain.shelf.AcceleratorFacts`) and offers these
functions; `study.worker.contracts.Accelerator` has their types:

- `open_device(local_rank, threads, precision)`: choose this rank's device, set its number of host
  threads and every switch that decides rounding, and return the device for `model.to`;
- `device_name()`: the product name of that device;
- `threads()`: host threads per operation as read back, null where torch is not loaded;
- `mark()`: a mark at this point of the device's work, without waiting for it; and
  `elapsed_ns(earlier, later)`: nanoseconds between two marks, once `synchronise()` has passed both;
- `synchronise()`: wait until the device has done all that was asked of it;
- `reset_peak_memory()`: begin a new peak; returns why it cannot be known, or ""; and
  `peak_memory_bytes()`: the peak since then;
- `autocast(precision)`: the context in which a forward pass and its loss run;
- `numerics()`: the rounding switches as they stand (`study.domain.record.Numerics`);
- `visible_devices()`: names of the devices that work here, in order, or none.

It may offer besides:

- `temperature_c()`: the temperature of this rank's device, or null and the reason;
- `events(model)`: counters, by name, of what should have happened before a window opens
  (`study.worker.events`).
"""
