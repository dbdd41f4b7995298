"""What the models of loads share: the state of a warp, and files of vectors."""


class Refused(Exception):
    """A word or a text that is no load, or a load that must not be executed."""
