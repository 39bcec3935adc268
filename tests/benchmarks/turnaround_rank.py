"""What a rank does in the benchmark of turnaround: join, one all-reduce, leave. Also torchrun's script."""

import os


def meet(rank: int, world_size: int, init_method: str) -> None:
    """Join a gloo group and add up a one from every rank."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=init_method, rank=rank, world_size=world_size)
    total = torch.ones(1)
    dist.all_reduce(total)
    if int(total.item()) != world_size:
        raise RuntimeError(f"{world_size} ranks added up to {total.item()}")


def serve(order: bytes) -> int:
    """The entry that the project's own launcher calls; it leaves no reading, which is not timed here."""
    import msgspec

    from study.domain.trial import Order

    told = msgspec.json.decode(order, type=Order)
    meet(told.rank, told.world_size, f"file://{told.store}")
    return 0


if __name__ == "__main__":
    meet(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), "env://")
    os._exit(0)  # as the project's own ranks end; it spares torchrun the interpreter's farewell
