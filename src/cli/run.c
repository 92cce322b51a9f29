// code-runner run: one run, like running a program.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"

#define SOURCE_MAX (64ul << 20)

static const char usage[] =
    "usage: code-runner run --lang node|python [--timeout-ms N] [--memory-mb N] [--json] [--config FILE]\n"
    "                       [--sandbox require|best-effort] [--file FILE | CODE | -]\n"
    "  The guest's output appears as it is written, its result (if not null) last, as JSON; the exit status is the\n"
    "  guest's. An error of the infrastructure exits with 70 or above. --json prints the response object instead.\n";

struct run {
  uv_loop_t loop;
  struct cr_cli_settings settings;
  struct cr_worker *worker;
  const char *lang;
  uint64_t timeout_ms;
  uint64_t memory_mb;
  int memory_given;
  int json;
  struct cr_buf code;
  int have_code;
  int status;
};

static void put(int descriptor, const void *bytes, size_t length) {
  const char *at = bytes;
  while (length) {
    ssize_t n = write(descriptor, at, length);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    at += n;
    length -= (size_t)n;
  }
}

static void on_output(void *of, int stream, const uint8_t *bytes, size_t length) {
  (void)of;
  put(stream, bytes, length);
}

static void print_result(struct run *run, const char *text, size_t length) {
  yyjson_doc *doc = yyjson_read_opts((char *)text, length, YYJSON_READ_NUMBER_AS_RAW, NULL, NULL);
  yyjson_val *root = yyjson_doc_get_root(doc), *result = yyjson_obj_get(root, "result");
  yyjson_val *code = yyjson_obj_get(root, "exit_code");
  run->status = (int)strtol(yyjson_get_raw(code), NULL, 10);
  size_t size = length;
  cr_autofree char *shown = run->json ? cr_strndup(text, length) : NULL;
  if (!run->json && !yyjson_is_null(result)) shown = cr_json_text(result, &size);
  if (shown) {
    put(STDOUT_FILENO, shown, size);
    put(STDOUT_FILENO, "\n", 1);
  }
  yyjson_doc_free(doc);
}

static void on_reply(void *of, const char *result, size_t length, const struct cr_error *err) {
  struct run *run = of;
  if (err) {
    // What was printed has been seen already.
    char *end = run->json ? NULL : strstr(err->message, "\n[last of ");
    int shown = end ? (int)(end - err->message) : (int)strlen(err->message);
    fprintf(stderr, "%s: %.*s\n", err->code, shown, err->message);
    run->status = cr_cli_exit_status(err->code);
  } else {
    print_result(run, result, length);
  }
  cr_worker_free(run->worker);
}

static void on_ready(void *of, struct cr_worker *worker) {
  struct run *run = of;
  char missing[256];
  if (cr_cli_missing_layers(worker, missing, sizeof missing) && run->settings.worker.require_layers) {
    struct cr_error err = {0};
    cr_error_set(&err, CR_ENGINE, "this host refuses sandbox layers: %s (--sandbox=best-effort runs without them)",
                 missing);
    on_reply(run, NULL, 0, &err);
    cr_error_clear(&err);
    return;
  }
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  yyjson_mut_doc_set_root(doc, root);
  yyjson_mut_obj_add_str(doc, root, "lang", run->lang);
  yyjson_mut_obj_add_strn(doc, root, "code", run->code.data ? (const char *)run->code.data : "", run->code.len);
  if (run->timeout_ms) yyjson_mut_obj_add_uint(doc, root, "timeout_ms", run->timeout_ms);
  if (run->memory_given) yyjson_mut_obj_add_uint(doc, root, "memory_mb", run->memory_mb);
  size_t length = 0;
  char *payload = yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, &length);
  yyjson_mut_doc_free(doc);
  cr_worker_call(worker, "code-runner::run", payload ? payload : "0", payload ? length : 1, on_reply, run);
  free(payload);
}

static int read_code(struct run *run, const char *path) {
  int file = strcmp(path, "-") != 0 ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  ssize_t n = -1;
  while (file >= 0 && !cr_buf_reserve(&run->code, 65536) && (n = read(file, run->code.data + run->code.len, 65536)) > 0)
    run->code.len += (size_t)n;
  if (n == 0) return 0;
  fprintf(stderr, "code-runner: cannot read %s: %s\n", path, strerror(errno));
  return CR_EXIT_USAGE;
}

static int number(const char *text, uint64_t *value) {
  char *end;
  errno = 0;
  *value = strtoull(text, &end, 10);
  return errno || *end || !*text || *text == '-' ? -1 : 0;
}

static int complain(void) {
  fputs(usage, stderr);
  return CR_EXIT_USAGE;
}

static int parse_word(int argc, char **argv, int *at, struct run *run) {
  const char *value;
  if ((value = cr_cli_value(argc, argv, at, "--lang"))) {
    run->lang = value;
    return 0;
  }
  if ((value = cr_cli_value(argc, argv, at, "--timeout-ms"))) return number(value, &run->timeout_ms) ? complain() : 0;
  if ((value = cr_cli_value(argc, argv, at, "--memory-mb"))) {
    run->memory_given = 1;
    return number(value, &run->memory_mb) ? complain() : 0;
  }
  if (!strcmp(argv[*at], "--json")) {
    run->json = 1;
    return 0;
  }
  value = cr_cli_value(argc, argv, at, "--file");
  if (run->have_code || (!value && argv[*at][0] == '-' && argv[*at][1])) return complain();
  run->have_code = 1;
  if (value) return read_code(run, value);
  if (!strcmp(argv[*at], "-")) return read_code(run, "-");
  return cr_buf_puts(&run->code, argv[*at]) ? complain() : 0;
}

static int parse(int argc, char **argv, struct run *run) {
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--help")) {
      fputs(usage, stdout);
      return -1;
    }
    int taken = cr_cli_common_option(argc, argv, &i, &run->settings);
    int status = taken < 0 ? CR_EXIT_USAGE : taken ? 0 : parse_word(argc, argv, &i, run);
    if (status) return status;
  }
  if (!run->have_code || !run->lang) return complain();
  if (strcmp(run->lang, "node") != 0 && strcmp(run->lang, "python") != 0) return complain();
  return 0;
}

static void set_up(struct run *run) {
  struct cr_worker_settings *settings = &run->settings.worker;
  settings->langs[CR_NODE] = !strcmp(run->lang, "node");
  settings->langs[CR_PYTHON] = !settings->langs[CR_NODE];
  settings->spares = 0;
  if (run->json) return;
  settings->config.max_result_bytes = 0;
  settings->config.max_stream_bytes = 1024;  // nobody looks at what is captured
}

int cr_cli_run(int argc, char **argv) {
  static struct run run;
  run.code = CR_BUF(SOURCE_MAX);
  cr_cli_settings_init(&run.settings);
  int status = parse(argc, argv, &run);
  if (status) {
    cr_config_free(&run.settings.worker.config);
    run.status = status < 0 ? 0 : status;
  } else {
    set_up(&run);
    uv_loop_init(&run.loop);
    run.worker = cr_worker_create(&run.loop, &run.settings.worker, on_ready, &run);
    if (!run.json) cr_worker_listen(run.worker, on_output, &run);
    uv_run(&run.loop, UV_RUN_DEFAULT);
    uv_loop_close(&run.loop);
  }
  cr_buf_free(&run.code);
  cr_cli_settings_free(&run.settings);
  return run.status;
}
