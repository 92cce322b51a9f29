// `code-runner trigger`: one call over the bus, with the grammar, output and exit status of `iii trigger` (spec 9).
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "bus/client.h"
#include "cli/cli.h"

#define RETRY_MS 2000
#define HELP_MS 5000
#define PAYLOAD_MAX (16u << 20)

static const char usage[] =
    "usage: code-runner trigger [OPTION…] [FUNCTION] [KEY=VALUE]…\n"
    "Calls a function on the bus and prints its result as JSON. A value is JSON where it can be, else text.\n"
    "  --json JSON        the payload; KEY=VALUE pairs override its members\n"
    "  --address HOST     of the engine (localhost)\n"
    "  --port PORT        of the engine (49134)\n"
    "  --url URL          of the engine, instead of the two\n"
    "  --timeout-ms MS    for everything, --timeout too (30000)\n"
    "  -n, --namespace NS of the function (III_NAMESPACE, else default)\n"
    "FUNCTION --help      what the engine knows of the function\n";

struct program {
  const char *function, *json, *address, *url, *name_space;
  long port, timeout_ms;
  char **pairs;
  int pair_count;
  int help;

  struct cr_bus *bus;
  int status;
  int listening;  // somebody answered on the address
};

// Text for stderr, and the exit status 1.
static int __attribute__((format(printf, 1, 2))) fail(const char *format, ...) {
  va_list arguments;
  fputs("Error: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  return 1;
}

// --- output -------------------------------------------------------------------------------------------------------

static int by_key(const void *a, const void *b) {
  return strcmp(yyjson_get_str(*(yyjson_val *const *)a), yyjson_get_str(*(yyjson_val *const *)b));
}

// A copy with sorted keys, as a real engine's clients print it. Depth is bounded by the bus.
static yyjson_mut_val *sorted(yyjson_mut_doc *doc, yyjson_val *value) {
  size_t index, count;
  yyjson_val *key, *item;
  if (yyjson_is_arr(value)) {
    yyjson_mut_val *array = yyjson_mut_arr(doc);
    yyjson_arr_foreach(value, index, count, item) yyjson_mut_arr_append(array, sorted(doc, item));
    return array;
  }
  if (!yyjson_is_obj(value)) return yyjson_val_mut_copy(doc, value);
  yyjson_val **keys = cr_alloc(yyjson_obj_size(value) * sizeof *keys);
  yyjson_obj_foreach(value, index, count, key, item) keys[index] = key;
  (void)item;
  size_t size = yyjson_obj_size(value);
  if (size) qsort(keys, size, sizeof *keys, by_key);
  yyjson_mut_val *object = yyjson_mut_obj(doc);
  for (size_t i = 0; i < size; i++)
    yyjson_mut_obj_add(object, yyjson_val_mut_copy(doc, keys[i]), sorted(doc, yyjson_obj_iter_get_val(keys[i])));
  free(keys);
  return object;
}

static void print_doc(FILE *to, yyjson_mut_doc *doc) {
  char *text = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, NULL);
  if (!text) cr_out_of_memory();
  fprintf(to, "%s\n", text);
  free(text);
}

static void print_result(const char *json, size_t length) {
  yyjson_doc *parsed = yyjson_read_opts((char *)json, length, YYJSON_READ_NUMBER_AS_RAW, NULL, NULL);
  yyjson_val *root = yyjson_doc_get_root(parsed);
  if (root && !yyjson_is_null(root)) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc_set_root(doc, sorted(doc, root));
    print_doc(stdout, doc);
    yyjson_mut_doc_free(doc);
  }
  yyjson_doc_free(parsed);
}

static void print_failure(const struct cr_bus_failure *failure) {
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  yyjson_mut_doc_set_root(doc, root);
  yyjson_mut_obj_add_strcpy(doc, root, "code", failure->code);
  yyjson_mut_obj_add_strcpy(doc, root, "message", failure->message);
  if (failure->stacktrace)
    yyjson_mut_obj_add_strcpy(doc, root, "stacktrace", failure->stacktrace);
  else
    yyjson_mut_obj_add_null(doc, root, "stacktrace");
  fputs("Error: ", stderr);
  print_doc(stderr, doc);
  yyjson_mut_doc_free(doc);
}

static void print_unreachable(const struct program *program) {
  fail(
      "Timed out waiting for the engine (no response within the timeout). Is the engine running at the given address "
      "and port?");
  if (!program->listening)
    fputs("Nothing listens there. `code-runner serve --embedded` starts a worker with an engine of its own.\n", stderr);
}

// --- payload ------------------------------------------------------------------------------------------------------

// The value of a pair: JSON where it is, else the text itself.
static yyjson_mut_val *pair_value(yyjson_mut_doc *doc, const char *text) {
  yyjson_doc *parsed = yyjson_read_opts((char *)text, strlen(text), YYJSON_READ_NUMBER_AS_RAW, NULL, NULL);
  yyjson_mut_val *value = parsed ? yyjson_val_mut_copy(doc, yyjson_doc_get_root(parsed)) : yyjson_mut_strcpy(doc, text);
  yyjson_doc_free(parsed);
  return value;
}

static int add_pair(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *pair) {
  const char *equals = strchr(pair, '=');
  if (!equals) return fail("invalid argument `%s`: expected KEY=VALUE", pair);
  if (equals == pair) return fail("invalid argument `%s`: the key is empty", pair);
  yyjson_mut_obj_put(object, yyjson_mut_strncpy(doc, pair, (size_t)(equals - pair)), pair_value(doc, equals + 1));
  return 0;
}

// The payload's text, owned by the caller; NULL after a message.
static char *payload_text(const struct program *program, size_t *length) {
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  yyjson_read_err why;
  if (program->json) {
    yyjson_doc *given =
        yyjson_read_opts((char *)program->json, strlen(program->json), YYJSON_READ_NUMBER_AS_RAW, NULL, &why);
    if (!given) {
      fail("--json is not valid JSON\n\nCaused by:\n    %s at byte %zu", why.msg, why.pos);
      yyjson_mut_doc_free(doc);
      return NULL;
    }
    root = yyjson_val_mut_copy(doc, yyjson_doc_get_root(given));
    yyjson_doc_free(given);
  }
  int failed = program->pair_count && !yyjson_mut_is_obj(root) &&
               fail("--json must be an object when KEY=VALUE arguments are given");
  for (int i = 0; i < program->pair_count && !failed; i++) failed = add_pair(doc, root, program->pairs[i]);
  yyjson_mut_doc_set_root(doc, root);
  char *text = failed ? NULL : cr_json_mut_text(doc, length);
  yyjson_mut_doc_free(doc);
  return text;
}

// --- the call -----------------------------------------------------------------------------------------------------

static void on_state(void *of, enum cr_bus_state state, const char *why) {
  struct program *program = of;
  (void)why;
  if (state == CR_BUS_CONNECTED) program->listening = 1;
}

static void on_answer(void *of, const char *result, size_t length, const struct cr_bus_failure *failure) {
  struct program *program = of;
  program->status = failure != NULL;
  if (!failure && result)
    print_result(result, length);
  else if (failure && !strcmp(failure->code, CR_BUS_TIMED_OUT))
    print_unreachable(program);
  else if (failure)
    print_failure(failure);
  cr_bus_close(program->bus, NULL, NULL);
}

static void print_parameters(yyjson_val *schema) {
  yyjson_val *properties = yyjson_obj_get(schema, "properties"), *required = yyjson_obj_get(schema, "required");
  size_t index, count, i, n;
  yyjson_val *name, *property, *other;
  if (!yyjson_obj_size(properties)) return;
  puts("\nParameters:");
  yyjson_obj_foreach(properties, index, count, name, property) {
    const char *type = yyjson_get_str(yyjson_obj_get(property, "type"));
    const char *what = yyjson_get_str(yyjson_obj_get(property, "description"));
    int needed = 0;
    yyjson_arr_foreach(required, i, n, other) needed |= yyjson_equals(name, other);
    printf("  %s%s%s%s%s\n", yyjson_get_str(name), type ? " <" : "", type ? type : "", type ? ">" : "",
           needed ? " (required)" : "");
    if (what) printf("      %s\n", what);
  }
}

static void on_description(void *of, const char *result, size_t length, const struct cr_bus_failure *failure) {
  struct program *program = of;
  if (failure && (!strcmp(failure->code, CR_BUS_TIMED_OUT) || !program->listening)) {
    fputs("warning: the engine cannot be reached, so nothing is known of this function\n", stderr);
    fputs(usage, stdout);
  } else if (failure) {
    fail("%s", failure->message);
    program->status = 1;
  } else {
    yyjson_doc *doc = cr_json_parse(result ? result : "{}", result ? length : 2, NULL);
    yyjson_val *root = yyjson_doc_get_root(doc);
    const char *what = yyjson_get_str(yyjson_obj_get(root, "description"));
    printf("%s\n", program->function);
    if (what) printf("%s\n", what);
    print_parameters(yyjson_obj_get(root, "request_schema"));
    yyjson_doc_free(doc);
  }
  cr_bus_close(program->bus, NULL, NULL);
}

static void describe(struct program *program) {
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  yyjson_mut_doc_set_root(doc, root);
  yyjson_mut_obj_add_str(doc, root, "function_id", program->function);
  if (program->name_space) yyjson_mut_obj_add_str(doc, root, "namespace", program->name_space);
  size_t length = 0;
  cr_autofree char *payload = cr_json_mut_text(doc, &length);
  yyjson_mut_doc_free(doc);
  struct cr_bus_request request = {
      .function_id = "engine::functions::info",
      .payload = payload,
      .payload_length = length,
      .timeout_ms = program->timeout_ms < HELP_MS ? (uint64_t)program->timeout_ms : HELP_MS,
  };
  cr_bus_call(program->bus, &request, on_description, program);
}

static int call(struct program *program) {
  size_t length = 0;
  cr_autofree char *payload = program->help ? NULL : payload_text(program, &length);
  if (!program->help && !payload) return 1;
  cr_autofree char *address =
      cr_format(strchr(program->address, ':') ? "ws://[%s]:%ld" : "ws://%s:%ld", program->address, program->port);
  struct cr_bus_options options = {.url = program->url ? program->url : address, .retry_ms = RETRY_MS};
  struct cr_bus_events events = {.state = on_state};
  struct cr_error err = {0};
  uv_loop_t loop;
  if (uv_loop_init(&loop)) return fail("no event loop");
  program->bus = cr_bus_create(&loop, &options, &events, program, &err);
  if (!program->bus) {
    fail("%s", err.message);
    cr_error_clear(&err);
    uv_loop_close(&loop);
    return 1;
  }
  struct cr_bus_request request = {.function_id = program->function,
                                   .payload = payload,
                                   .payload_length = length,
                                   .name_space = program->name_space,
                                   .timeout_ms = (uint64_t)program->timeout_ms};
  if (program->help)
    describe(program);
  else
    cr_bus_call(program->bus, &request, on_answer, program);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
  return program->status;
}

// --- arguments ----------------------------------------------------------------------------------------------------

static int read_number(const char *text, long least, long most, long *number) {
  char *end = NULL;
  *number = strtol(text, &end, 10);
  return *text && !*end && *number >= least && *number <= most ? 0 : -1;
}

static int read_option(int argc, char **argv, int *at, struct program *program) {
  const char *value;
  if (!strcmp(argv[*at], "--help") || !strcmp(argv[*at], "-h"))
    program->help = 1;
  else if ((value = cr_cli_value(argc, argv, at, "--json")))
    program->json = value;
  else if ((value = cr_cli_value(argc, argv, at, "--address")))
    program->address = value;
  else if ((value = cr_cli_value(argc, argv, at, "--url")))
    program->url = value;
  else if ((value = cr_cli_value(argc, argv, at, "--namespace")) || (value = cr_cli_value(argc, argv, at, "-n")))
    program->name_space = value;
  else if ((value = cr_cli_value(argc, argv, at, "--port")))
    return read_number(value, 1, 65535, &program->port);
  else if ((value = cr_cli_value(argc, argv, at, "--timeout-ms")) ||
           (value = cr_cli_value(argc, argv, at, "--timeout")))
    return read_number(value, 1, 86400000, &program->timeout_ms);
  else
    return -1;
  return 0;
}

int cr_cli_trigger(int argc, char **argv) {
  struct program program = {.address = "localhost", .port = 49134, .timeout_ms = 30000};
  const char *inherited = getenv("III_NAMESPACE");
  if (inherited && inherited[strspn(inherited, " \t")]) program.name_space = inherited;
  program.pairs = cr_alloc((size_t)argc * sizeof *program.pairs);
  int status = 0;
  for (int at = 1; at < argc && !status; at++) {
    if (argv[at][0] == '-')
      status = read_option(argc, argv, &at, &program) ? CR_EXIT_USAGE : 0;
    else if (!program.function)
      program.function = argv[at];
    else
      program.pairs[program.pair_count++] = argv[at];
    if (status) fprintf(stderr, "error: not an option, or without a usable value: %s\n\n%s", argv[at], usage);
  }
  if (!status && program.help && !program.function)
    fputs(usage, stdout);
  else if (!status && !program.function)
    status = fail("no function is named; usage: code-runner trigger FUNCTION [KEY=VALUE]…");
  else if (!status)
    status = call(&program);
  free(program.pairs);
  return status;
}
