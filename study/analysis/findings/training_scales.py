"""What more devices do to training throughput: strong and weak scaling, each against one device."""

from study.analysis import scaling_claims
from study.analysis.parts import Parts
from study.domain.finding import Finding

FACTS = {
    "summary": "Training throughput on more devices against one, strong and weak scaling by name.",
    "section": "more_devices",
    "rank": 20,
}

FRAMES = scaling_claims.FRAMES


def find(parts: Parts) -> list[Finding]:
    """One finding for each series of training and each count of devices above one."""
    return scaling_claims.scaling_claims(parts, shelf="training-scales", task="train")
