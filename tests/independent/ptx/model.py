"""What the model answers: what each load of a function did."""

from warp import Refused
from warp.machine import LANES, number

from . import parse, tensor
from .execute import NoValue, execute
from .layout import Memory
from .loads import Illegal, is_load, is_tensor, load_of, written_by_other
from .rules import check
from .state import ALL, State


def run(question):
    """Returns the answer to a question of `ptx-execute`; raises `Refused` for what is not modelled."""
    if "grid" in question:
        raise Refused("this model launches no kernels")
    module = parse.read(question["module"])
    function = module.function(question.get("function"))
    memory = Memory(module, function, question)
    state = State(function, module, question.get("registers", {}))
    active = number(question.get("active", ALL))
    loads = []
    for statement in function.statements:
        if is_load(statement):
            loads.append({"line": statement[0].line} | answer(statement, state, memory, active))
        else:
            compute(statement, state, active)
    return {"loads": loads}


def compute(statement, state, active):
    """Makes unknown what an instruction that is not a load computes."""
    (name, is_negated), written = written_by_other(statement, state.function)
    lanes = perhaps_executing(state.guard(name, is_negated), active)
    for register in written:
        state.forget(register, lanes)


def answer(statement, state, memory, active):
    """Returns what a load did. One that is not executed leaves its registers unknown."""
    load = None
    try:
        if is_tensor(statement):
            found = tensor.tensor_load_of(statement)
            load = found.load
            tensor.check(found, state.function, state.module)
            return tensor.execute(found, state, active, memory.question)
        load = load_of(statement)
        check(load, state.function, state.module)
        return execute(load, state, memory, active)
    except (Illegal, NoValue):
        if load:
            forget_destinations(load, state, active)
        return {"registers": {}, "lane_faults": {}, "error": True}


def forget_destinations(load, state, active):
    lanes = perhaps_executing(state.guard(load.guard, load.is_negated), active)
    for name in filter(None, load.destinations):
        if state.function.register(name.partition(".")[0]):
            state.forget(name, lanes)


def perhaps_executing(guard, active):
    """Returns the active lanes whose guard is true or unknown."""
    return [lane for lane in LANES if active >> lane & 1 and guard[lane] is not False]
