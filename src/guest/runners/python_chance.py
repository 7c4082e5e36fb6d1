# Part of the runner of children of a zygote, in its names (python.py): a copy draws other random numbers than its source, as
# Python sees to after a fork. docs/decisions/randomness.md says who is reached and who is not.
LOOKED_AT_MAX, LOOKED_INTO_MAX = 10000, 1000  # values, while generators are looked for


def reseed_numpy():
    """The generator behind the functions of numpy.random."""
    numpy_random = modules.get("numpy.random")
    if numpy_random is None:
        return
    try:  # a state of pure chance: seed() asks for chance too, by three times as many pages of its own
        key = modules["numpy"].frombuffer(os.urandom(624 * 4), "uint32")
        numpy_random.set_state(("MT19937", key, 624))
    except Exception:  # a user chose another generator
        numpy_random.seed()


def reseed_generators():
    """Generators of NumPy that the user's names lead to, through two containers or objects at most, and that were seeded by
    chance. Who gave a seed wants the same numbers again."""
    numpy_random = modules.get("numpy.random")
    if numpy_random is None:
        return
    look, seen = list(names.values()), set()
    for _ in range(3):
        values, look = look, []
        for value in values:
            if id(value) in seen or len(seen) == LOOKED_AT_MAX:
                continue
            seen.add(id(value))
            kind = type(value)
            if issubclass(kind, (numpy_random.Generator, numpy_random.BitGenerator)):
                reseed_generator(getattr(value, "bit_generator", value))
            elif kind in (list, tuple, set, frozenset) and len(value) <= LOOKED_INTO_MAX:
                look += value
            elif kind is dict and len(value) <= LOOKED_INTO_MAX:
                look += value.values()
            elif kind.__module__ == "__main__":
                look += getattr(value, "__dict__", {}).values()


def reseed_generator(bits):
    sequence = bits._seed_seq
    if type(sequence.entropy) is int and sequence.entropy.bit_length() > 64:
        sequence.__init__()
        bits.state = type(bits)(sequence).state


def reseed_names():
    """Names that are made up once for a process: of uuid1(), of temporary files."""
    uuid, tempfile = modules.get("uuid"), modules.get("tempfile")
    if uuid is not None:
        uuid._generate_time_safe = None  # the C library's keeps its node and its clock's number to itself
        uuid._node = int.from_bytes(os.urandom(6), "big") | 1 << 40
    if tempfile is not None and tempfile._name_sequence is not None:
        tempfile._name_sequence = None


def reseed():
    random = modules.get("random")
    for step in (random and random.seed, reseed_numpy, reseed_generators, reseed_names):
        try:
            step and step()
        except BaseException:
            pass  # the user's own module of that name
