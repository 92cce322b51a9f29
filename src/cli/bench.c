// code-runner bench: times runs inside the worker, from request to answer.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"

#define RUNS_MAX 1000000

static const char usage[] =
    "usage: code-runner bench --lang node|python [--runs N] [--at-once N] [--pause-ms N] [--keep] CODE\n"
    "  Prints one JSON object: microseconds from request to answer inside the worker (p50, p95, p99), runs per "
    "second.\n"
    "  --pause-ms waits between runs, so that each finds a spare; --keep runs all in one kept runtime.\n";

struct bench {
  uv_loop_t loop;
  struct cr_cli_settings settings;
  struct cr_worker *worker;
  uv_timer_t pause;
  const char *lang;
  const char *code;
  uint64_t runs;
  uint64_t at_once;
  uint64_t pause_ms;
  int keep;
  char *payload;
  size_t payload_length;
  uint64_t *taken;
  uint64_t sent;
  uint64_t answered;
  uint64_t first;
  uint64_t ready_ns;
  int status;
};

struct sample {
  struct bench *bench;
  uint64_t started;
};

static void send_next(struct bench *bench);

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static double at(const struct bench *bench, double part) {
  size_t index = (size_t)((double)bench->runs * part);
  return (double)bench->taken[index < bench->runs ? index : bench->runs - 1] / 1e3;
}

static void report(struct bench *bench) {
  double seconds = (double)(uv_hrtime() - bench->first) / 1e9;
  qsort(bench->taken, bench->runs, sizeof *bench->taken, by_value);
  printf("{\"lang\":\"%s\",\"runs\":%" PRIu64 ",\"at_once\":%" PRIu64
         ",\"p50_us\":%.0f,\"p95_us\":%.0f,\"p99_us\":%.0f,"
         "\"per_second\":%.0f,\"ready_ms\":%.0f}\n",
         bench->lang, bench->runs, bench->at_once, at(bench, 0.5), at(bench, 0.95), at(bench, 0.99),
         (double)bench->runs / seconds, (double)bench->ready_ns / 1e6);
}

static void finish(struct bench *bench, int status) {
  bench->status = status;
  if (bench->worker) cr_worker_free(bench->worker);
  bench->worker = NULL;
  if (!uv_is_closing((uv_handle_t *)&bench->pause)) uv_close((uv_handle_t *)&bench->pause, NULL);
}

static void on_pause(uv_timer_t *timer) { send_next(timer->data); }

static void on_reply(void *of, const char *result, size_t length, const struct cr_error *err) {
  struct sample *sample = of;
  struct bench *bench = sample->bench;
  uint64_t taken = uv_hrtime() - sample->started;
  free(sample);
  (void)result, (void)length;
  if (!bench->worker) return;
  if (err) {
    fprintf(stderr, "%s: %s\n", err->code, err->message);
    finish(bench, cr_cli_exit_status(err->code));
    return;
  }
  bench->taken[bench->answered++] = taken;
  if (bench->answered == bench->runs) {
    report(bench);
    finish(bench, 0);
  } else if (bench->pause_ms) {
    uv_timer_start(&bench->pause, on_pause, bench->pause_ms, 0);
  } else {
    send_next(bench);
  }
}

static void send_next(struct bench *bench) {
  if (!bench->worker || bench->sent == bench->runs) return;
  struct sample *sample = cr_alloc(sizeof *sample);
  *sample = (struct sample){.bench = bench, .started = uv_hrtime()};
  bench->sent++;
  cr_worker_call(bench->worker, "code-runner::run", bench->payload, bench->payload_length, on_reply, sample);
}

static void make_payload(struct bench *bench, const char *runtime_id) {
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  yyjson_mut_doc_set_root(doc, root);
  yyjson_mut_obj_add_str(doc, root, "lang", bench->lang);
  yyjson_mut_obj_add_str(doc, root, "code", bench->code);
  if (runtime_id) yyjson_mut_obj_add_str(doc, root, "runtime_id", runtime_id);
  if (bench->keep && !runtime_id) yyjson_mut_obj_add_bool(doc, root, "keep", true);
  free(bench->payload);
  bench->payload = cr_json_mut_text(doc, &bench->payload_length);
  yyjson_mut_doc_free(doc);
}

static void begin(struct bench *bench) {
  bench->first = uv_hrtime();
  for (uint64_t i = 0; i < bench->at_once; i++) send_next(bench);
}

static void on_kept(void *of, const char *result, size_t length, const struct cr_error *err) {
  struct bench *bench = of;
  if (err) {
    fprintf(stderr, "%s: %s\n", err->code, err->message);
    finish(bench, cr_cli_exit_status(err->code));
    return;
  }
  yyjson_doc *doc = cr_json_parse(result, length, NULL);
  make_payload(bench, yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "runtime_id")));
  yyjson_doc_free(doc);
  begin(bench);
}

static void on_ready(void *of, struct cr_worker *worker) {
  struct bench *bench = of;
  bench->ready_ns = uv_hrtime() - bench->first;
  make_payload(bench, NULL);
  if (bench->keep)
    cr_worker_call(worker, "code-runner::run", bench->payload, bench->payload_length, on_kept, bench);
  else if (bench->pause_ms)
    uv_timer_start(&bench->pause, on_pause, 100, 0);
  else
    begin(bench);
  if (bench->pause_ms) bench->first = uv_hrtime();
}

static int take_number(const char *value, uint64_t *number) {
  char *end;
  *number = strtoull(value, &end, 10);
  return *end || *number > RUNS_MAX ? -1 : 0;
}

static int parse(int argc, char **argv, struct bench *bench) {
  for (int i = 1; i < argc; i++) {
    const char *value;
    int taken = cr_cli_common_option(argc, argv, &i, &bench->settings);
    if (taken < 0) return -1;
    if (taken) continue;
    if ((value = cr_cli_value(argc, argv, &i, "--lang")))
      bench->lang = value;
    else if ((value = cr_cli_value(argc, argv, &i, "--runs")))
      taken = take_number(value, &bench->runs);
    else if ((value = cr_cli_value(argc, argv, &i, "--at-once")))
      taken = take_number(value, &bench->at_once);
    else if ((value = cr_cli_value(argc, argv, &i, "--pause-ms")))
      taken = take_number(value, &bench->pause_ms);
    else if (!strcmp(argv[i], "--keep"))
      bench->keep = 1;
    else if (argv[i][0] == '-' || bench->code)
      return -1;
    else
      bench->code = argv[i];
    if (taken) return -1;
  }
  return bench->lang && bench->code && bench->runs && bench->at_once ? 0 : -1;
}

int cr_cli_bench(int argc, char **argv) {
  static struct bench bench = {.runs = 500, .at_once = 1};
  cr_cli_settings_init(&bench.settings);
  if (parse(argc, argv, &bench)) {
    fputs(usage, stderr);
    cr_config_free(&bench.settings.worker.config);
    cr_cli_settings_free(&bench.settings);
    return CR_EXIT_USAGE;
  }
  bench.taken = cr_alloc(sizeof *bench.taken * bench.runs);
  bench.first = uv_hrtime();
  uv_loop_init(&bench.loop);
  uv_timer_init(&bench.loop, &bench.pause);
  bench.pause.data = &bench;
  bench.worker = cr_worker_create(&bench.loop, &bench.settings.worker, on_ready, &bench);
  uv_run(&bench.loop, UV_RUN_DEFAULT);
  uv_loop_close(&bench.loop);
  free(bench.taken);
  free(bench.payload);
  cr_cli_settings_free(&bench.settings);
  return bench.status;
}
