# The namespace that guests run in, and what a runtime does when it wakes up as a copy.
import _sitebuiltins
import asyncio
import asyncio.selector_events
import builtins
import gc
import linecache
import logging
import os
import random
import selectors
import sys
import tempfile
import time

module = sys.modules['__main__']
globals = module.__dict__
now, seed, sleep = time.time_ns, random.seed, time.sleep


# asyncio without sockets: nothing can wake the loop from outside, so it needs no pipe to itself.
class Selector(selectors.SelectSelector):
    def select(self, timeout=None):
        # WASI's poll wants something to wait for: with no descriptor, time goes by, or nothing ever happens.
        if self.get_map():
            return super().select(timeout)
        while timeout is None:
            sleep(3600)
        sleep(max(timeout, 0))
        return []


class Loop(asyncio.SelectorEventLoop):
    def __init__(self):
        super().__init__(Selector())

    def _make_self_pipe(self):
        self._ssock = self._csock = None

    def _close_self_pipe(self):
        pass

    def _write_to_self(self):
        pass


class Policy(asyncio.DefaultEventLoopPolicy):
    _loop_factory = Loop


def add_builtins():
    builtins.iii = bus['iii']
    builtins.exit = _sitebuiltins.Quitter('exit', 'Ctrl-D (i.e. EOF)')
    builtins.quit = _sitebuiltins.Quitter('quit', 'Ctrl-D (i.e. EOF)')
    builtins.help = _sitebuiltins._Helper()


def add_clocks():
    def process_time():
        return cpu_time() / 1e9
    time.process_time = time.thread_time = process_time
    time.process_time_ns = time.thread_time_ns = cpu_time


def reset():
    globals.clear()
    globals.update(__name__='__main__', __doc__=None, __package__=None, __loader__=None, __spec__=None,
                   __builtins__=builtins)
    linecache._interactive_cache.clear()


def wake():
    """What every copy must have for itself: seeds, names, the time."""
    reset()
    seed()
    tempfile._name_sequence = None
    logging._startTime = now()


def freeze():
    """The last thing before the snapshot."""
    add_builtins()
    add_clocks()
    asyncio.set_event_loop_policy(Policy())
    tempfile.tempdir = '/work'
    sys.argv[:] = ['<code>']
    os.chdir('/work')
    reset()
    for name in list(sys.modules):
        if name.startswith('encodings.cp437'):
            del sys.modules[name]
    sys.path_importer_cache.clear()
    gc.collect()
    gc.freeze()
