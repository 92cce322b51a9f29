# What a sandbox has not: each attempt fails at once, and says so.
import errno
import os

NETWORK = 'this sandbox has no network; sandbox-code-runner has'
PROCESSES = 'this sandbox cannot start processes; sandbox-code-runner can'
THREADS = 'this sandbox cannot start threads; sandbox-code-runner can'
NATIVE = 'this sandbox has no native code; sandbox-code-runner has'

# Modules of the standard library that are not there, and why.
missing = {'ssl': NETWORK, '_ssl': NETWORK, 'multiprocessing': PROCESSES, 'ctypes': NATIVE, 'pty': PROCESSES}


def refusal(make, *arguments):
    def refused(*_, **__):
        raise make(*arguments)
    return refused


def no(reason):
    return refusal(OSError, errno.ENOTSUP, reason)


def change_os(module):
    for name in ('system', 'popen', 'posix_spawn', 'posix_spawnp', 'execl', 'execle', 'execlp', 'execlpe', 'execv', 'execve',
                 'execvp', 'execvpe', 'spawnl', 'spawnle', 'spawnlp', 'spawnlpe', 'spawnv', 'spawnve', 'spawnvp',
                 'spawnvpe'):
        setattr(module, name, no(PROCESSES))


# After the libraries have been imported, which take these for a sign that there are processes.
def finish():
    os.fork = os.forkpty = no(PROCESSES)


def change_subprocess(module):
    module.Popen.__init__ = no(PROCESSES)
    module._fork_exec = no(PROCESSES)


def change_thread(module):
    for name in ('start_new_thread', 'start_new', 'start_joinable_thread', '_start_joinable_thread', '_start_new_thread'):
        if hasattr(module, name):
            setattr(module, name, refusal(RuntimeError, "can't start new thread: " + THREADS))


def change_socket(module):
    module.socket.__init__ = no(NETWORK)
    # Its destructor would look for what the constructor did not make.
    module.socket.__del__ = lambda self: None
    for name in ('create_connection', 'create_server', 'fromfd', 'socketpair', 'getaddrinfo', 'gethostbyname',
                 'gethostbyname_ex', 'gethostbyaddr', 'getnameinfo', 'getfqdn', 'gethostname'):
        setattr(module, name, no(NETWORK))


def change_urllib(module):
    unknown = module.UnknownHandler.unknown_open

    def unknown_open(self, request):
        if request.type == 'https':
            raise module.URLError(OSError(errno.ENOTSUP, NETWORK))
        return unknown(self, request)
    module.UnknownHandler.unknown_open = unknown_open


changes = {'os': change_os, 'subprocess': change_subprocess, '_thread': change_thread, 'threading': change_thread,
           'socket': change_socket, 'urllib.request': change_urllib}
