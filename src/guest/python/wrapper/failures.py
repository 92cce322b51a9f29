# How a turn that raised ends: exit code, flags, text (contract 3.2, 9.5).
import errno
import linecache
import sqlite3
import traceback
from types import CodeType

RUN, DEFINE, INVOKE = 2, 3, 4  # enum cr_frame_type
MEMORY, DISK = 2, 4  # enum cr_done_flag
MESSAGE_MOST = 4096
TRACEBACK_MOST = 16384
FRAMES_MOST = 2000
FRAMES_SHOWN = 300
SOURCES_MOST = 4096
TOO_COMPLEX = 'Parser stack overflowed'
NO_FRAME = 'error return without exception set'
TOO_LARGE = "cannot fit 'int' into an index-sized integer"

sources = linecache._interactive_cache
read_name = type.__dict__['__name__'].__get__
PACKAGES = 'only the standard library is in this sandbox; sandbox-code-runner can install packages'


def prepare(source, code):
    """Keeps the lines of a source for tracebacks, also those of later turns that call what it defined."""
    if len(sources) > SOURCES_MOST:
        sources.clear()
    entry = (len(source), None, [line + '\n' for line in source.split('\n')], '<code>')
    stack = [code]
    while stack:
        code = stack.pop()
        sources[code.co_filename, code.co_qualname, code.co_firstlineno] = entry
        for constant in code.co_consts:
            if type(constant) is CodeType:
                stack.append(constant)


def text_of(error):
    try:
        return str(error)
    except MemoryError:
        raise
    except BaseException:
        return f'<exception {read_name(type(error))}: its text cannot be had>'


def summary(error):
    message = f'{read_name(type(error))}: {text_of(error)}'
    if len(message) > MESSAGE_MOST:
        message = message[:MESSAGE_MOST] + '... message truncated'
    return message


def without_ours(shown):
    """Takes frames of the sandbox itself out of a traceback and of those it was caused by."""
    seen, stack = set(), [shown]
    while stack:
        part = stack.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        part.stack[:] = [frame for frame in part.stack if frame.filename != '<code-runner>']
        stack += [part.__cause__, part.__context__, *(part.exceptions or ())]


def depth(trace):
    count = 0
    while trace is not None:
        trace, count = trace.tb_next, count + 1
    return count


def trace_of(error):
    trace = error.__traceback__
    limit = -FRAMES_SHOWN if depth(trace) > FRAMES_MOST else None
    shown = traceback.TracebackException(type(error), error, trace, limit=limit, compact=True)
    without_ours(shown)
    parts, length = [], 0
    for part in shown.format():
        parts.append(part)
        length += len(part)
        if length > TRACEBACK_MOST:
            break
    text = ''.join(parts)
    if length > TRACEBACK_MOST:
        text = text[:TRACEBACK_MOST].rstrip('\n') + '\n... traceback truncated\n'
    return text


def with_trace(error):
    try:
        return f'{summary(error)}\n{trace_of(error)}'
    except MemoryError:
        raise
    except BaseException:
        return f'{summary(error)}\n'


def of_syntax(error):
    line = f' (line {error.lineno})' if error.lineno else ''
    message = str(error.msg)
    if len(message) > MESSAGE_MOST:
        message = message[:MESSAGE_MOST] + '... message truncated'
    return f'{message}{line}\n'


def flags_of(error):
    kind = type(error)
    if issubclass(kind, MemoryError):
        return 0 if text_of(error).startswith(TOO_COMPLEX) else MEMORY
    # No size over 2 GiB can be had here, whatever the cap.
    if kind is OverflowError and text_of(error) == TOO_LARGE:
        return MEMORY
    # How a call that found no room for its frame ends.
    if kind is SystemError and text_of(error) == NO_FRAME:
        return MEMORY
    if issubclass(kind, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DISK
    if issubclass(kind, sqlite3.Error) and getattr(error, 'sqlite_errorcode', None) == sqlite3.SQLITE_FULL:
        return DISK
    return 0


def left(error, form):
    """sys.exit: (exit code, text)."""
    code = error.code
    if issubclass(type(code), int):
        return (code & 255 or 1), ('' if form == RUN else f'SystemExit: {code}')
    text = summary(error)[len('SystemExit: '):] if form == RUN else summary(error)
    return 1, text


def unhandled():
    if 'handler' not in space:
        return 'the source must define handler(payload), and nothing of that name was found'
    try:
        found = repr(space['handler'])
    except BaseException:
        found = f'an object of type {read_name(type(space["handler"]))}'
    return f'the source must define handler(payload), and found instead: {found[:MESSAGE_MOST]}'


def note_packages(error):
    if type(error) is ModuleNotFoundError and text_of(error) == f'No module named {error.name!r}':
        error.add_note(PACKAGES)


def explain(error, form, compiling):
    """`compiling`: 1 if the source itself did not compile, 2 if it left no handler."""
    flags, exit_code = flags_of(error), 1
    if compiling == 2:
        text = unhandled()
    elif compiling and issubclass(type(error), SyntaxError):
        text = of_syntax(error)
    elif issubclass(type(error), SystemExit):
        exit_code, text = left(error, form)
    elif form == INVOKE:
        text = summary(error)
    else:
        note_packages(error)
        text = with_trace(error)
    return exit_code, flags, text.encode('utf-8', 'replace')
