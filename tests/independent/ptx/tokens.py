"""The tokens of a module, and constant expressions."""

import re
from dataclasses import dataclass

from warp import Refused

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<text>"[^"\n]*")
    |(?P<directive>\.[A-Za-z0-9_]+(::[A-Za-z0-9_]+)*(?![A-Za-z0-9_]))
    |(?P<real>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b
        |[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
    |(?P<integer>(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)[uU]?\b)
    |(?P<name>[A-Za-z][A-Za-z0-9_$]*|[_$%][A-Za-z0-9_$]*)
    |(?P<mark><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!?:;,(){}\[\]<>=@])""",
    re.VERBOSE | re.DOTALL,
)
LEVELS = [
    ["||"],
    ["&&"],
    ["|"],
    ["^"],
    ["&"],
    ["==", "!="],
    ["<=", ">=", "<", ">"],
    ["<<", ">>"],
    ["+", "-"],
    ["*", "/", "%"],
]
MASK = (1 << 64) - 1


@dataclass
class Token:
    kind: str
    text: str
    line: int


def tokens_of(module):
    """Returns the tokens of a module, without comments; raises `Refused` for a foreign character."""
    tokens, at, line = [], 0, 1
    while at < len(module):
        match = TOKEN.match(module, at)
        if not match:
            raise Refused(f"a character on line {line} that is not read")
        if match.lastgroup != "space":
            tokens.append(Token(match.lastgroup, match.group(), line))
        line += match.group().count("\n")
        at = match.end()
    return tokens


class Reader:
    """Tokens that are read from the left to the right."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.at = 0

    @property
    def peek(self):
        """Returns the text of the next token, or an empty text at the end."""
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    @property
    def kind(self):
        return self.tokens[self.at].kind if self.at < len(self.tokens) else ""

    @property
    def is_done(self):
        return self.at >= len(self.tokens)

    def next(self):
        if self.is_done:
            raise Refused("the text ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def take(self, *texts):
        """Returns whether the next token is one of `texts`, and skips it if so."""
        if self.is_done or self.peek not in texts:
            return False
        self.at += 1
        return True

    def expect(self, text):
        if not self.take(text):
            raise Refused(f"expected {text}, got {self.peek}")

    def integer(self):
        """Reads one number."""
        token = self.next()
        if token.kind != "integer":
            raise Refused(f"expected a number, got {token.text}")
        return number(token.text)


def number(text):
    """Returns the value of an integer as PTX writes it."""
    digits = text.rstrip("uU")
    if digits.startswith("0") and digits.isdigit() and len(digits) > 1:
        return int(digits, 8)
    return int(digits, 0)


def constant(reader):
    """Returns the value of an integer expression, as 64 bits with a sign."""
    value = conditional(reader) & MASK
    return value - (1 << 64) if value >> 63 else value


def conditional(reader):
    condition = binary(reader, 0)
    if not reader.take("?"):
        return condition
    first = conditional(reader)
    reader.expect(":")
    second = conditional(reader)
    return first if condition else second


def binary(reader, level):
    if level == len(LEVELS):
        return unary(reader)
    left = binary(reader, level + 1)
    while reader.peek in LEVELS[level]:
        left = applied(reader.next().text, left, binary(reader, level + 1))
    return left


def applied(operator, left, right):
    """Returns the result of one operator on two integers."""
    if operator in ("/", "%"):
        if not right:
            raise Refused("a division by zero")
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    if operator in ("<<", ">>") and not 0 <= right < 64:
        raise Refused("a shift of 64 bits or more")
    results = {
        "||": lambda: int(bool(left) or bool(right)),
        "&&": lambda: int(bool(left) and bool(right)),
        "|": lambda: left | right,
        "^": lambda: left ^ right,
        "&": lambda: left & right,
        "==": lambda: int(left == right),
        "!=": lambda: int(left != right),
        "<=": lambda: int(left <= right),
        ">=": lambda: int(left >= right),
        "<": lambda: int(left < right),
        ">": lambda: int(left > right),
        "<<": lambda: left << right,
        ">>": lambda: left >> right,
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
    }
    return results[operator]()


def unary(reader):
    signs = {
        "-": lambda value: -value,
        "+": lambda value: value,
        "~": lambda value: ~value,
        "!": lambda value: int(not value),
    }
    if reader.peek in signs:
        return signs[reader.next().text](unary(reader))
    if reader.take("("):
        value = conditional(reader)
        reader.expect(")")
        return value
    return reader.integer()
