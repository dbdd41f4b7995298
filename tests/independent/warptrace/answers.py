"""What a conformance suite asks about traces: what one access of a warp costs, what a replay counts."""

from types import SimpleNamespace

from warp import Refused

from .common import BadInput
from .compressed import NoZstd
from .costs import Executed, plain_access
from .replay import Replay

WINDOWS = SimpleNamespace(top=1 << 64)  # of addresses whose space is given
BINARY = b"WARPLOAD"  # the project's own format, which is not modelled
DEFAULT_OPTIONS = {"fill": "none", "image": None, "address_bits": None}


def replayed(question):
    """Returns the counts of a trace, or that it is refused."""
    options = DEFAULT_OPTIONS | {"shared_window": None, "local_window": None}
    for name, value in question.get("options", {}).items():
        if name not in options:
            raise Refused(f"no option {name}")
        if name.endswith("_window"):
            base, _, size = value.partition(",")
            value = int(base, 0), int(size, 0)
        options[name] = value
    with open(question["file"], "rb") as file:
        if file.read(len(BINARY)) == BINARY:
            raise Refused("binary traces are not read")
    try:
        return Replay(SimpleNamespace(**options)).run(question["file"])
    except BadInput:
        return {"refused": True}
    except NoZstd as reason:
        raise Refused(str(reason)) from None


def cost(question):
    """Returns sectors, lines, ideal sectors and wavefronts; `None` what the space does not have."""
    active = int(question["active"], 0)
    lanes = [lane for lane in range(32) if active >> lane & 1]
    addresses = {lane: int(question["addresses"][lane], 0) for lane in lanes}
    record = SimpleNamespace(lanes=lanes, addresses=addresses, plg=None)
    space = question["space"]
    executed = Executed(record, plain_access(question["bytes"], space), WINDOWS, None)
    answer = dict.fromkeys(("sectors", "lines", "ideal_sectors", "wavefronts"))
    if space == "global":
        answer |= {"sectors": len(executed.sectors), "lines": len(executed.lines)}
        answer["ideal_sectors"] = executed.ideal_sectors
    elif space == "shared":
        answer["wavefronts"] = executed.shared[0] if executed.shared else 0
    elif space == "local":
        answer["sectors"], answer["ideal_sectors"] = executed.local or (0, 0)
    return answer
