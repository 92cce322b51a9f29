// The interpreter as a WASI reactor: what our host calls inside the guest. It is linked with CPython to base.wasm; the
// bake tool calls cr_start once and freezes what that leaves in memory, runtimes call the rest. All addresses are the
// guest's.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <wasi/api.h>

#include "guest/frame.h"
#include "guest/python/bridge.h"

#define EXPORT(name) __attribute__((export_name(#name)))
#define IMPORT(name) __attribute__((import_module(CR_BRIDGE_MODULE), import_name(#name)))

// Memory that is given back before a failure for want of memory is written down.
#define BALLAST (1u << 20)
// With less than this left a runtime is not worth keeping.
#define LEFT_TO_LIVE (4u << 20)

// The host sends the call and waits; it answers with the length of what take() then copies, -1 - length for an error.
IMPORT(trigger)
int32_t host_trigger(const char *id, uint32_t id_length, const char *payload, uint32_t length, int32_t timeout);
IMPORT(take) void host_take(void *to);

void __wasilibc_reset_preopens(void);

// The head of struct sqlite3_vfs (sqlite.org/c3ref/vfs.html), which never changes: SQLite's source is not part of the
// build.
struct sqlite3_vfs {
  int version, file_size, path_most;
  struct sqlite3_vfs *next;
  const char *name;
  void *data;
  void (*file_calls[4])(void);
  void (*library_calls[4])(void);
  int (*randomness)(struct sqlite3_vfs *vfs, int count, char *out);
};
int sqlite3_initialize(void);
struct sqlite3_vfs *sqlite3_vfs_find(const char *name);
void sqlite3_randomness(int count, void *out);

// From the wrapper (wrapper/boot.py).
static struct {
  PyObject *globals;  // of __main__
  PyObject *compile;  // the builtin
  PyObject *wake;     // in a new runtime
  PyObject *prepare;  // before a turn
  PyObject *encode;   // a result as JSON
  PyObject *decode;   // a payload
  PyObject *explain;  // an exception as exit code, flags, text
  PyObject *name;     // iii.namespace
} boot;

static PyObject *handlers;  // function id → callable
static void *ballast;
static char *input;
static struct cr_bridge_answer answer;
static PyObject *answer_holds[3];

static PyObject *bus(PyObject *self, PyObject *arguments) {
  const char *id, *payload;
  Py_ssize_t id_length, length;
  int timeout;
  (void)self;
  if (!PyArg_ParseTuple(arguments, "s#s#i", &id, &id_length, &payload, &length, &timeout)) return NULL;
  int32_t got = host_trigger(id, (uint32_t)id_length, payload, (uint32_t)length, timeout);
  uint32_t size = (uint32_t)(got < 0 ? -1 - got : got);
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, size);
  if (!bytes) return NULL;
  host_take(PyBytes_AS_STRING(bytes));
  PyObject *text = PyUnicode_DecodeUTF8(PyBytes_AS_STRING(bytes), size, "replace");
  Py_DECREF(bytes);
  if (got >= 0 || !text) return text;
  PyErr_SetObject(PyExc_RuntimeError, text);
  Py_DECREF(text);
  return NULL;
}

// clock(3) is only emulated here, by a clock that runs while we sleep.
static PyObject *cpu_time(PyObject *self, PyObject *none) {
  __wasi_timestamp_t nanoseconds = 0;
  (void)self;
  (void)none;
  (void)!__wasi_clock_time_get(__WASI_CLOCKID_PROCESS_CPUTIME_ID, 1, &nanoseconds);
  return PyLong_FromUnsignedLongLong(nanoseconds);
}

static PyMethodDef methods[] = {{"bus", bus, METH_VARARGS, NULL}, {"cpu_time", cpu_time, METH_NOARGS, NULL}};

// SQLite would take its seed from the clock.
static int randomness(struct sqlite3_vfs *vfs, int count, char *out) {
  (void)vfs;
  for (int at = 0; at < count; at += 256) getentropy(out + at, (size_t)(count - at < 256 ? count - at : 256));
  return count;
}

static PyStatus configure(PyConfig *config) {
  PyPreConfig before;
  PyPreConfig_InitIsolatedConfig(&before);
  before.utf8_mode = 1;
  PyStatus status = Py_PreInitialize(&before);
  if (PyStatus_Exception(status)) return status;
  PyConfig_InitIsolatedConfig(config);
  config->site_import = 0;
  config->write_bytecode = 0;
  config->install_signal_handlers = 0;
  config->pathconfig_warnings = 0;
  config->buffered_stdio = 0;
  config->parse_argv = 0;
  // One seed for all: strings that are hashed already are in the snapshot.
  config->use_hash_seed = 1;
  config->module_search_paths_set = 1;
  PyWideStringList_Append(&config->module_search_paths, L"/lib/stdlib.zip");
  PyConfig_SetString(config, &config->stdio_encoding, L"utf-8");
  PyConfig_SetString(config, &config->stdio_errors, L"backslashreplace");
  PyConfig_SetString(config, &config->program_name, L"python");
  PyConfig_SetString(config, &config->executable, L"");
  PyConfig_SetString(config, &config->base_executable, L"");
  PyConfig_SetString(config, &config->home, L"/lib");
  PyConfig_SetString(config, &config->stdlib_dir, L"/lib");
  PyConfig_SetString(config, &config->prefix, L"/");
  PyConfig_SetString(config, &config->exec_prefix, L"/");
  PyConfig_SetString(config, &config->base_prefix, L"/");
  return PyConfig_SetString(config, &config->base_exec_prefix, L"/");
}

static int take_hooks(PyObject *from) {
  const struct {
    const char *name;
    PyObject **to;
  } hooks[] = {{"globals", &boot.globals}, {"compile", &boot.compile}, {"wake", &boot.wake},
               {"prepare", &boot.prepare}, {"encode", &boot.encode},   {"decode", &boot.decode},
               {"explain", &boot.explain}, {"name", &boot.name}};
  for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
    if (!(*hooks[i].to = Py_XNewRef(PyDict_GetItemString(from, hooks[i].name)))) return -1;
  return 0;
}

// Boots the interpreter and runs the wrapper, whose text is in the input buffer. 0, or 1 after a traceback on stderr.
EXPORT(cr_start) uint32_t cr_start(uint32_t length) {
  PyConfig config;
  PyStatus status = configure(&config);
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  if (PyStatus_Exception(status)) Py_ExitStatusException(status);
  sqlite3_initialize();
  sqlite3_vfs_find(NULL)->randomness = randomness;
  handlers = PyDict_New();
  PyObject *space = PyDict_New(), *text = PyUnicode_DecodeUTF8(input, length, "strict");
  if (!handlers || !space || !text) return 1;
  PyDict_SetItemString(space, "__builtins__", PyEval_GetBuiltins());
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
    PyDict_SetItemString(space, methods[i].ml_name, PyCFunction_New(&methods[i], NULL));
  PyObject *code = Py_CompileString(PyUnicode_AsUTF8(text), "<code-runner>", Py_file_input);
  PyObject *done = code ? PyEval_EvalCode(code, space, space) : NULL;
  if (!done || take_hooks(space)) {
    PyErr_Print();
    return 1;
  }
  Py_DECREF(done);
  Py_DECREF(code);
  Py_DECREF(text);
  Py_DECREF(space);
  free(input);
  input = NULL;
  return 0;
}

// A buffer for what the next call needs; 0 when there is no memory.
EXPORT(cr_input) char *cr_input(uint32_t length) {
  free(input);
  input = malloc(length + 1);
  return input;
}

// In a new runtime, before its first turn: nothing of the snapshot that must be its own stays shared.
EXPORT(cr_wake) uint32_t cr_wake(void) {
  __wasilibc_reset_preopens();
  sqlite3_randomness(0, NULL);
  PyDict_Clear(handlers);
  PyObject *done = PyObject_CallNoArgs(boot.wake);
  if (!done) {
    PyErr_Print();
    return 1;
  }
  Py_DECREF(done);
  if (!ballast) ballast = malloc(BALLAST);
  return 0;
}

static int hold(struct cr_bridge_span *span, int slot, PyObject *bytes) {
  if (!bytes || bytes == Py_None) return 0;
  if (!PyBytes_Check(bytes)) return -1;
  answer_holds[slot] = Py_NewRef(bytes);
  span->address = (uint32_t)(uintptr_t)PyBytes_AS_STRING(bytes);
  span->length = (uint32_t)PyBytes_GET_SIZE(bytes);
  return 0;
}

static void fail_plainly(const char *text) {
  answer.exit_code = 1;
  answer.kind = CR_RESULT_NULL;
  answer.failure = (struct cr_bridge_span){(uint32_t)(uintptr_t)text, (uint32_t)strlen(text)};
}

// There may be no memory left to explain that there is none.
static void fail_without_words(void) {
  answer.flags |= PyErr_ExceptionMatches(PyExc_MemoryError) ? CR_DONE_MEMORY : 0;
  PyErr_Clear();
  fail_plainly(answer.flags & CR_DONE_MEMORY ? "MemoryError: \n" : "the exception could not be shown\n");
}

// After a failure for want of memory: is there enough for another turn?
static void take_stock(void) {
  void *room = malloc(LEFT_TO_LIVE);
  free(room);
  ballast = malloc(BALLAST);
  if (!room || !ballast) answer.flags |= CR_DONE_LOST;
}

// Answers with the current exception. `form`: the frame type, which decides what the text has in it; `source` what was
// being compiled, or NULL.
static void fail(int form, int compiling) {
  PyObject *exception = PyErr_GetRaisedException();
  if (PyErr_GivenExceptionMatches(exception, PyExc_MemoryError)) {
    free(ballast);
    ballast = NULL;
  }
  PyObject *said = PyObject_CallFunction(boot.explain, "Oii", exception, form, compiling);
  PyObject *text = NULL;
  int exit_code, flags;
  if (said && PyArg_ParseTuple(said, "iiO", &exit_code, &flags, &text)) {
    answer.exit_code = (uint32_t)exit_code;
    answer.flags |= (uint32_t)flags;
  }
  if (!text || hold(&answer.failure, 1, text)) fail_without_words();
  Py_XDECREF(said);
  Py_DECREF(exception);
  if (!ballast) take_stock();
}

static void succeed(PyObject *value, int form, uint32_t most) {
  PyObject *said = PyObject_CallFunction(boot.encode, "OIi", value, most, form == CR_FRAME_RUN);
  PyObject *json = NULL, *failure = NULL, *note = NULL;
  unsigned kind, shape;
  unsigned long long bytes, count;
  if (!said || !PyArg_ParseTuple(said, "IOOOIKK", &kind, &json, &failure, &note, &shape, &bytes, &count)) {
    fail(form, 0);
  } else {
    answer.kind = kind;
    answer.shape = shape;
    answer.bytes = bytes;
    answer.count = count;
    answer.exit_code = failure == Py_None ? 0 : 1;
    if (hold(&answer.value, 0, json) || hold(&answer.failure, 1, failure) || hold(&answer.note, 2, note))
      fail_without_words();
  }
  Py_XDECREF(said);
}

static int forget(PyObject *space, const char *name) {
  int has = PyDict_ContainsString(space, name);
  return has > 0 ? PyDict_DelItemString(space, name) : has;
}

// Runs `source` as a module in __main__. Returns 0, or -1 with the exception set.
static int execute(PyObject *source, int *compiling) {
  *compiling = 1;
  PyObject *code = PyObject_CallFunction(boot.compile, "OssiO", source, "<code>", "exec", 0, Py_True);
  if (!code) return -1;
  *compiling = 0;
  PyObject *noted = PyObject_CallFunctionObjArgs(boot.prepare, source, code, NULL);
  PyObject *done = noted ? PyEval_EvalCode(code, boot.globals, boot.globals) : NULL;
  Py_XDECREF(noted);
  Py_DECREF(code);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

// A python exit with status 0 is a success, and what was assigned to `result` counts.
static int left_quietly(void) {
  if (!PyErr_ExceptionMatches(PyExc_SystemExit)) return 0;
  PyObject *exception = PyErr_GetRaisedException();
  PyObject *code = ((PySystemExitObject *)exception)->code;
  int quiet = !code || code == Py_None || (PyLong_Check(code) && PyObject_Not(code) == 1);
  if (quiet)
    Py_DECREF(exception);
  else
    PyErr_SetRaisedException(exception);
  return quiet;
}

static void flush(void) {
  static const char *const names[] = {"stdout", "stderr"};
  PyObject *raised = PyErr_GetRaisedException();
  for (int i = 0; i < 2; i++) {
    PyObject *stream = PySys_GetObject(names[i]);
    PyObject *done = stream && stream != Py_None ? PyObject_CallMethod(stream, "flush", NULL) : NULL;
    Py_XDECREF(done);
    PyErr_Clear();
  }
  PyErr_SetRaisedException(raised);
}

static void run(PyObject *source, uint32_t most) {
  int compiling = 0;
  int failed = execute(source, &compiling) && !left_quietly();
  flush();
  PyObject *value = failed ? NULL : PyDict_GetItemString(boot.globals, "result");
  if (failed)
    fail(CR_FRAME_RUN, compiling);
  else
    succeed(value ? value : Py_None, CR_FRAME_RUN, most);
}

static void define(PyObject *id, PyObject *source) {
  int compiling = 0;
  if (forget(boot.globals, "handler") || (execute(source, &compiling) && !left_quietly())) {
    flush();
    fail(CR_FRAME_DEFINE, compiling);
    return;
  }
  flush();
  PyObject *handler = PyDict_GetItemString(boot.globals, "handler");
  if (handler && PyCallable_Check(handler)) {
    if (PyDict_SetItem(handlers, id, handler)) fail(CR_FRAME_DEFINE, 0);
    return;
  }
  answer.flags |= CR_DONE_UNHANDLED;
  if (handler)
    PyErr_SetObject(PyExc_TypeError, handler);
  else
    PyErr_SetNone(PyExc_NameError);
  fail(CR_FRAME_DEFINE, 2);
}

static void invoke(PyObject *id, PyObject *payload) {
  PyObject *handler = PyDict_GetItemWithError(handlers, id);
  if (!handler) {
    answer.flags |= CR_DONE_UNHANDLED;
    fail_plainly("no such handler");
    return;
  }
  PyObject *value = PyObject_CallOneArg(boot.decode, payload), *result = NULL;
  Py_INCREF(handler);
  if (value && !PyDict_SetItemString(boot.globals, "payload", value) &&
      !PyDict_SetItemString(boot.globals, "handler", handler))
    result = PyObject_CallOneArg(handler, value);
  Py_DECREF(handler);
  Py_XDECREF(value);
  if (!result && PyErr_Occurred() && left_quietly()) result = Py_NewRef(Py_None);
  flush();
  if (result)
    succeed(result, CR_FRAME_INVOKE, 0);
  else
    fail(CR_FRAME_INVOKE, 0);
  Py_XDECREF(result);
}

static void begin(void) {
  for (int i = 0; i < 3; i++) Py_CLEAR(answer_holds[i]);
  answer = (struct cr_bridge_answer){0};
  if (!ballast) ballast = malloc(BALLAST);
}

// One turn: `form` is the type of its frame. The input buffer holds a function id of `id_length` bytes and then
// `length` bytes of source, payload or (SETUP) namespace. `most`: result_max of a run.
EXPORT(cr_turn) struct cr_bridge_answer *cr_turn(uint32_t form, uint32_t id_length, uint32_t length, uint32_t most) {
  begin();
  PyObject *id = PyUnicode_DecodeUTF8(input, id_length, "replace");
  PyObject *text = PyUnicode_DecodeUTF8(input + id_length, length, "replace");
  free(input);
  input = NULL;
  if (!id || !text || forget(boot.globals, "result") || PyDict_SetItemString(boot.globals, "payload", Py_None)) {
    fail((int)form, 0);
  } else if (form == CR_FRAME_RUN) {
    run(text, most);
  } else if (form == CR_FRAME_DEFINE) {
    define(id, text);
  } else if (form == CR_FRAME_INVOKE) {
    invoke(id, text);
  } else if (form == CR_FRAME_FORGET) {
    if (PyDict_DelItem(handlers, id)) PyErr_Clear();
  } else if (form == CR_FRAME_SETUP) {
    Py_XDECREF(PyObject_CallOneArg(boot.name, text));
    PyErr_Clear();
  }
  Py_XDECREF(id);
  Py_XDECREF(text);
  return &answer;
}
