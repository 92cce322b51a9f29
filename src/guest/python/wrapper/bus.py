# The builtin `iii` (contract 10).
ID_MOST = 512
REQUEST_MOST = 1048576
TIMEOUT_MOST = 2**31 - 1

HINT = ("iii.trigger({'function_id': 'worker::function', 'payload': {...}, 'timeout_ms': 1000}) calls a function on the "
        "bus and returns its answer; iii.namespace is this runtime's namespace")


def utf8(text):
    return text.encode('utf-8', 'replace')


def timeout_of(request):
    given = request.get('timeout_ms')
    if given is None:
        given = request.get('timeout')
    if given is None:
        return 0
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise TypeError('iii.trigger: timeout_ms must be a number')
    if given != given:
        raise ValueError('iii.trigger: timeout_ms must be a number')
    return int(min(max(given, 1), TIMEOUT_MOST))


def trigger(request):
    if not isinstance(request, dict):
        raise TypeError('iii.trigger: the request must be a dict')
    function_id = request.get('function_id')
    if not isinstance(function_id, str) or not function_id:
        raise TypeError('iii.trigger: function_id must be a non-empty string')
    timeout = timeout_of(request)
    function_id, payload = utf8(function_id), dump(request.get('payload'))
    if len(function_id) > ID_MOST:
        raise RuntimeError(f'iii.trigger: function_id is {len(function_id)} bytes; the limit is {ID_MOST}')
    if len(payload) > REQUEST_MOST:
        raise RuntimeError(f'iii.trigger: the request is {len(payload)} bytes; the limit is {REQUEST_MOST}')
    return parse(answered(function_id, payload, timeout))


def answered(function_id, payload, timeout):
    try:
        return send(function_id, payload, timeout)
    except RuntimeError as error:
        raise RuntimeError(f'iii.trigger: {error}') from None


class Bus:
    __slots__ = ('namespace',)

    def trigger(self, request):
        """Calls a function on the bus, waits, and returns its answer."""
        return trigger(request)

    def __setattr__(self, name, value):
        raise AttributeError('iii cannot be changed')

    def __delattr__(self, name):
        raise AttributeError('iii cannot be changed')

    def __repr__(self):
        return HINT


Bus.__module__ = 'builtins'
Bus.__qualname__ = Bus.__name__ = 'iii'
iii = Bus()
set_namespace = Bus.namespace.__set__


def rename(namespace):
    set_namespace(iii, namespace)


rename('')
