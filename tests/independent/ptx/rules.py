"""Which loads are legal: the rules of docs/ptx.md by their names."""

from warp import Refused

from .loads import Illegal

FLOOR = (0, 0)
# What a qualifier needs: a version of PTX, and an SM.
NEEDS = {
    ".volatile": ((1, 1), 0),
    ".nc": ((3, 1), 32),
    ".weak": ((6, 0), 70),
    ".relaxed": ((6, 0), 70),
    ".acquire": ((6, 0), 70),
    ".mmio": ((8, 2), 70),
    ".L2::256B": (FLOOR, 80),
    ".L2::cache_hint": ((7, 4), 80),
    ".cluster": ((7, 8), 90),
    ".b128": ((8, 3), 70),
}
KIND_NEEDS = {"cop": ((2, 0), 20), "scope": ((6, 0), 70), "l1": ((7, 4), 70), "prefetch": ((7, 4), 75)}
WINDOW_NEEDS = {"cta": ((7, 8), 0), "cluster": ((7, 8), 90), "entry": ((8, 3), 0), "func": ((8, 3), 0)}
# The first version that knows a target; `a` and `f` have their own.
TARGETS = {
    50: (4, 0), 52: (4, 1), 53: (4, 2), 60: (5, 0), 61: (5, 0), 62: (5, 0), 70: (6, 0),
    72: (6, 1), 75: (6, 3), 80: (7, 0), 86: (7, 1), 87: (7, 4), 89: (7, 8), 90: (7, 8),
    100: (8, 6), 101: (8, 6), 103: (8, 8), 110: (9, 0), 120: (8, 7), 121: (8, 8),
}  # fmt: skip
FAMILY, HOPPER_ALONE = (8, 8), (8, 0)


def sm_of(target):
    """Returns the number of a target and its suffix."""
    name = target.removeprefix("sm_")
    number = name.rstrip("af")
    if not number.isdigit() or int(number) not in TARGETS:
        raise Refused(f"the target {target} is not modelled")
    return int(number), name[len(number) :]


def check(load, function, module):
    """Raises `Illegal` for the first rule that a load breaks."""
    for rules in (needed, structure, orders, caches, width, destination, address, parameter):
        for rule, is_broken in rules(load, function, module):
            if is_broken:
                raise Illegal(rule)


def check_target(module):
    number, suffix = sm_of(module.target)
    own = HOPPER_ALONE if module.target == "sm_90a" else FAMILY if suffix == "f" else FLOOR
    if module.version < max(TARGETS[number], own):
        raise Illegal("target-version")
    if module.address_size is None:
        raise Refused("no .address_size")
    if module.address_size != 64:
        raise Illegal("address-size")


def needed(load, function, module):
    """Yields the rules on versions and targets."""
    check_target(module)
    sm = sm_of(module.target)[0]
    needs = [NEEDS[word] for word in load.qualifiers.values() if word in NEEDS]
    needs += [KIND_NEEDS[kind] for kind in load.qualifiers if kind in KIND_NEEDS]
    if load.window:
        needs.append(WINDOW_NEEDS[load.window])
    if not load.get("space"):
        needs.append(((2, 0), 20))
    if load.get("mmio") and load.get("order") == ".acquire":
        needs.append(((9, 3), 0))
    if load.get("type") == ".b128" and load.get("scope") == ".sys":
        needs.append(((8, 4), 0))
    if load.get("type") and load.bytes == 32:
        needs.append(((8, 8), 100))
    if load.get("order") == ".volatile" and load.get("space") == ".local":
        needs.append(((9, 1), 0))
    for version, target in needs:
        yield "needs-version", module.version < version
        yield "needs-target", sm < target


def structure(load, function, module):
    yield "one-type", not load.get("type")
    register = function.register(load.guard) if load.guard else None
    yield "guard", load.guard is not None and (register is None or register.type.kind != "pred")


def orders(load, function, module):
    order, scope, space = load.get("order"), load.get("scope"), load.get("space")
    is_strong = order in (".relaxed", ".acquire")
    yield "order-without-scope", is_strong and not scope
    yield "scope-without-order", scope and not is_strong
    yield "order-space", order not in (None, ".weak") and space in (".const", ".param")
    yield "order-space", is_strong and space == ".local"
    if load.get("mmio"):
        yield "mmio-order", not is_strong
        yield "mmio-scope", scope != ".sys"
        yield "mmio-space", space not in (None, ".global")
        others = ("vector", "cop", "l1", "l2", "prefetch", "hint")
        yield "mmio-combination", any(load.get(kind) for kind in others)
    if load.get("nc"):
        yield "nc-space", space != ".global"
        yield "nc-order", order or load.get("mmio")
        yield "nc-cache-op", load.get("cop") in (".lu", ".cv")


def caches(load, function, module):
    is_global = load.get("space") in (None, ".global")
    is_volatile = load.get("order") == ".volatile"
    yield "cache-op-order", load.get("cop") and load.get("order") not in (None, ".weak")
    yield "cache-op-eviction", load.get("cop") and load.get("l1")
    yield "eviction-space", (load.get("l1") or load.get("l2")) and not is_global
    yield "eviction-order", load.get("l1") and is_volatile
    yield "l2-eviction-width", load.get("l2") and load.bytes != 32
    yield "cache-hint-space", load.get("hint") and not is_global
    yield "cache-hint-order", load.get("hint") and is_volatile
    yield "hint-without-policy", load.get("hint") and not load.policy
    yield "policy-without-hint", load.policy and not load.get("hint")
    yield "policy-operand", load.policy and not is_policy(load.policy, function)
    yield "prefetch-space", load.get("prefetch") and not is_global
    yield "unified-space", load.is_unified and not is_global


def is_policy(token, function):
    register = function.register(token.text)
    if register is None:
        return token.kind == "integer"
    return register.type.bits == 64 and register.type.kind in "bus"


def width(load, function, module):
    kind, bits = load.type
    is_wide = (load.get("vector"), bits) in ((".v8", 32), (".v4", 64))
    yield "vector-width", load.bytes > 16 and not is_wide
    yield "vector-width", load.get("vector") == ".v8" and not is_wide
    yield "wide-space", load.bytes == 32 and load.get("space") not in (None, ".global")


def destination(load, function, module):
    written = registers_of(load, function)
    yield "vector-size", len(written) != load.count
    yield "sink-scalar", load.count == 1 and None in written
    yield "sink-only", not any(written)
    kept = [register for register in written if register]
    kind, bits = load.type
    kinds = {(register.type.kind, register.type.bits) for register in kept}
    for register in kept:
        # Registers of different types in one vector are taken for bits.
        taken = register.type.kind if len(kinds) == 1 else "b"
        yield "destination-type", register.type.kind == "pred" or register.type.bits < 16
        yield "destination-width", register.type.bits < bits
        yield "destination-width", load.count == 8 and register.type.bits > bits
        yield "destination-type", not goes_into(kind, bits, taken, register.type.bits, load.count > 1)
    yield "vector-mix", len({register.type.bits for register in kept}) > 1
    classes = [class_of(register.type.kind) for register in kept]
    neighbours = zip(classes, classes[1:])
    yield "vector-mix", any(None not in pair and pair[0] != pair[1] for pair in neighbours)


def class_of(kind):
    """Returns what a register's type mixes with; `None` for bits, which go with all."""
    return {"u": "integer", "s": "integer", "b": None}.get(kind, kind)


def goes_into(kind, bits, register, register_bits, is_vector):
    """Returns whether a type goes into a register's."""
    if kind == "b" or register == "b":
        return True
    if kind in "us":
        return register in ("u", "s", "f16x2")
    return (register == "f" and register_bits == bits) or (
        is_vector and register in "us" and register_bits == bits
    )


def registers_of(load, function):
    """Returns the register of each element, `None` for a sink; a vector register once an element."""
    found = []
    for name in load.destinations:
        if name is None:
            found.append(None)
            continue
        base, _, element = name.partition(".")
        register = function.register(base)
        if register is None:
            raise Illegal("destination-register")
        if element and (element not in tuple("xyzw")[: register.elements] or register.elements == 1):
            raise Illegal("destination-register")
        found += [register] * (1 if element else register.elements)
    return found


def address(load, function, module):
    place, space = load.place, load.get("space")
    register = function.register(place.name) if place.name else None
    variable = None if register else variable_of(place.name, function, module)
    if place.name is None:
        yield "immediate-address", space != ".local"
        return
    if place.name.startswith("%") and not (register or variable):
        raise Refused("a special register")
    yield "address-base", not (register or variable)
    if register:
        is_integer = register.type.kind in ("b", "u", "s") and 16 <= register.type.bits <= 64
        yield "address-base", not is_integer or register.elements > 1
        yield "address-width", register.type.bits == 32 and space in (None, ".global")
        yield "address-index", place.index is not None
        return
    spaces = (".global", ".shared", ".local") if space is None else (space,)
    yield "address-space", variable.space not in spaces
    yield "unified-variable", load.is_unified and not variable.is_unified and place.index is None
    yield "unified-missing", variable.is_unified and not load.is_unified
    yield "address-index", place.index is not None and not variable.lengths
    if isinstance(place.index, str):
        yield "address-index", not function.register(place.index)


def variable_of(name, function, module):
    """Returns the variable of a name; those of the function are nearer."""
    for variable in function.variables + module.variables:
        if variable.name == name:
            return variable
    return None


def parameter(load, function, module):
    variable = None
    if load.place.name and not function.register(load.place.name):
        variable = variable_of(load.place.name, function, module)
    if load.get("space") != ".param":
        return
    is_body = variable is not None and variable.role == "body"
    yield "param-guard", load.guard and is_body
    yield "param-return", variable is not None and variable.role == "return"
    if function.is_kernel and is_body:
        raise Refused("a parameter of a body in a kernel")
    if module.version >= (9, 0):
        yield "param-window", load.window == "entry" and is_body
        yield "param-window", load.window == "func" and function.is_kernel
