# Python values as JSON and back (contract 9.2, decisions 7), with what was there before any guest ran.
import json
import sys
from json.encoder import c_make_encoder, encode_basestring

NULL, JSON, OMITTED = range(3)  # enum cr_result_kind
VALUE, ARRAY, OBJECT, STRING = range(4)  # enum cr_result_shape
MOST = 1048576  # what a result may have where no cap keeps it small
DEEPEST = 5000
PATH_SHOWN = 200

scan = json.JSONDecoder().scan_once
limit_digits, digits_limit = sys.set_int_max_str_digits, sys.get_int_max_str_digits
write_int, write_float = int.__repr__, float.__repr__


class NotJSON(Exception):
    pass


def utf8(text):
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Pairs of surrogates are characters, single ones are nothing.
        return text.encode('utf-16-le', 'surrogatepass').decode('utf-16-le', 'replace').encode()


def refuse(value):
    raise TypeError(f'Object of type {type(value).__name__} is not JSON serializable')


def encoder():
    return c_make_encoder({}, refuse, encode_basestring, None, ':', ',', False, False, False)


# Integers are exact however long they are.
def with_all_digits(function, *arguments):
    limit = digits_limit()
    limit_digits(0)
    try:
        return function(*arguments)
    finally:
        limit_digits(limit)


def dump(value):
    """The value as bytes of JSON; raises what json.dumps raises."""
    return utf8(''.join(with_all_digits(encoder(), value, 0)))


def decode(text):
    return with_all_digits(scan, text.strip(), 0)[0]


def scalar(value):
    """The text of a value that holds no others, or None."""
    if value is None:
        return 'null'
    if value is True:
        return 'true'
    if value is False:
        return 'false'
    kind = type(value)
    if issubclass(kind, str):
        return encode_basestring(value)
    if issubclass(kind, int):
        return write_int(value)
    if issubclass(kind, float):
        if value - value != 0:
            raise NotJSON(f'the number {write_float(value)}')
        return write_float(value)
    return None


def key_text(key):
    if issubclass(type(key), str):
        return encode_basestring(key)
    text = scalar(key)
    if text is None:
        raise NotJSON(f'a key of type {type(key).__name__}')
    return f'"{text}"'


def place(path):
    shown = ''.join(f'[{write_int(step)}]' if type(step) is int else f'[{encode_basestring(step)}]'
                    if issubclass(type(step), str) else '[…]' for step in path)
    return 'result' + (shown if len(shown) <= PATH_SHOWN else shown[:PATH_SHOWN] + '…')


# The same text as the encoder's, without recursion: for what is nested deeper than that goes, and to say where a value is
# that JSON cannot carry. An open container is [iterator of its items, its identity, its end, is it a dict].
def opened(value):
    kind = type(value)
    if issubclass(kind, dict):
        return [iter(list(value.items())), id(value), '}', True]
    if issubclass(kind, (list, tuple)):
        return [iter(list(enumerate(value))), id(value), ']', False]
    raise NotJSON(kind.__name__)


def write(value, put):
    """Puts pieces of JSON; raises NotJSON with what and where."""
    path, stack, inside = [], [], set()
    try:
        while True:
            text = scalar(value)
            if text is None:
                level = opened(value)
                if level[1] in inside:
                    raise NotJSON('a circular reference')
                if len(stack) == DEEPEST:
                    raise NotJSON('what is nested this deep')
                inside.add(level[1])
                stack.append(level)
                path.append(None)
                put('{' if level[3] else '[')
            else:
                put(text)
            while stack:
                item = next(stack[-1][0], None)
                if item is not None:
                    break
                _, identity, end, _ = stack.pop()
                path.pop()
                inside.discard(identity)
                put(end)
            if not stack:
                return
            if path[-1] is not None:
                put(',')
            path[-1], value = item
            if stack[-1][3]:
                put(key_text(item[0]) + ':')
    except NotJSON as found:
        if len(path) > 20:
            path[10:-10] = [...]
        raise NotJSON(f'{found} at {place([step for step in path if step is not None])} is not JSON') from None


def measured(value):
    """The length of the JSON when there is no memory for the text."""
    length = 0

    def put(text):
        nonlocal length
        length += len(utf8(text))
    write(value, put)
    return length


def text_of(value):
    try:
        return with_all_digits(encoder(), value, 0)
    except MemoryError:
        raise
    except Exception:
        pieces = []
        with_all_digits(write, value, pieces.append)
        return pieces


def shape_of(value):
    kind = type(value)
    if issubclass(kind, str):
        return STRING, len(utf8(value).decode())
    if issubclass(kind, dict):
        return OBJECT, len(value)
    if issubclass(kind, (list, tuple)):
        return ARRAY, len(value)
    return VALUE, 0


# What DONE says of a result, in the order of its fields: kind, JSON, failure, note, shape, length, count.
def done(kind, json=None, failure=None, note=None, shape=VALUE, length=0, count=0):
    return kind, json, failure, note, shape, length, count


def omitted(value, length):
    shape, count = shape_of(value)
    return done(OMITTED, shape=shape, length=length, count=count)


def encode(value, most, noting):
    """`most`: bytes of JSON from which on only its size is told, 0 for no limit. `noting`: say why a result is null."""
    if value is None:
        return done(NULL)
    try:
        text = utf8(''.join(text_of(value)))
    except MemoryError:
        if not most:
            raise
        length = with_all_digits(measured, value)
        if length <= most:
            raise
        return omitted(value, length)
    except BaseException as error:
        what = str(error) if type(error) is NotJSON else f'{type(error).__name__} while it was read'
        return done(NULL, note=utf8(f'[code-runner] result is null: {what}\n') if noting else None)
    if most and len(text) > most:
        return omitted(value, len(text))
    if len(text) > MOST:
        return done(NULL, failure=utf8(f'serialized result is {len(text)} bytes; max {MOST}\n'))
    return done(JSON, text)
