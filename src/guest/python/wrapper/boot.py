# Runs once, when the snapshot is made: sets up the interpreter that every runtime is a copy of. What it leaves in its
# own namespace under the names that cpython/reactor.c looks for is what the host calls.
# Everything here has builtins of its own, so that a guest that changes builtins changes only its own.
import builtins
import sys

own_builtins = dict(vars(builtins))


def load(name, **given):
    with open(f'/wrapper/{name}.py', encoding='utf-8') as file:
        text = file.read()
    space = {'__builtins__': own_builtins, '__name__': f'code_runner.{name}', **given}
    exec(compile(text, '<code-runner>', 'exec'), space)
    return space


absent = load('absent')
zones = load('zones')
stdlib = load('stdlib', changes={**absent['changes'], **zones['changes']}, missing=absent['missing'])
stdlib['install']('/lib/stdlib.zip')
load('preload')
absent['finish']()
values = load('values')
bus_object = load('bus', send=bus, dump=values['dump'], parse=values['decode'])
main = load('main', bus=bus_object, cpu_time=cpu_time)
failures = load('failures', space=main['globals'])

globals = main['globals']
compile = own_builtins['compile']
wake = main['wake']
prepare = failures['prepare']
encode = values['encode']
decode = values['decode']
explain = failures['explain']
name = bus_object['rename']

main['freeze']()
