// code-runner::run: contract 2.2, 4.
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "worker/caps.h"
#include "worker/death.h"
#include "worker/functions.h"
#include "worker/internal.h"
#include "worker/mask.h"
#include "worker/memory.h"
#include "worker/request.h"
#include "worker/response.h"
#include "worker/runtime.h"

#define PYTHON_CODE_MAX 1048576u

struct request {
  const char *code;
  size_t code_length;
  const char *runtime_id;
  int lang;
  int keep;
  uint64_t timeout_ms;
  uint64_t memory_mb;
  int memory_given;
};

struct run {
  struct cr_worker *worker;
  struct cr_runtime *runtime;
  cr_reply *reply;
  void *of;
  char *known_id;  // what the caller sent
  int keep;
  uint64_t started;
  uint64_t max_result_bytes;
  struct cr_capture streams[2];
};

static int decode(yyjson_val *payload, struct request *request, struct cr_error *err) {
  size_t id_length = 0;
  int ignored = 0;
  *request = (struct request){.lang = -1};
  if (cr_request_object(payload, err) ||
      cr_request_text(payload, "code", 0, &request->code, &request->code_length, err) ||
      cr_request_text(payload, "runtime_id", 1, &request->runtime_id, &id_length, err) ||
      cr_request_lang(payload, 1, &request->lang, err) || cr_request_boolean(payload, "keep", &request->keep, err) ||
      cr_request_unsigned(payload, "timeout_ms", &request->timeout_ms, &ignored, err))
    return -1;
  return cr_request_unsigned(payload, "memory_mb", &request->memory_mb, &request->memory_given, err);
}

static int check_size(enum cr_lang lang, const struct request *request, struct cr_error *err) {
  size_t most = lang == CR_PYTHON ? PYTHON_CODE_MAX : CR_FRAME_MAX - 64;
  if (request->code_length <= most) return 0;
  return cr_error_set(err, CR_INVALID_REQUEST, "`code` is %zu bytes; max %zu", request->code_length, most);
}

static struct cr_runtime *existing(struct cr_worker *worker, const struct request *request, struct cr_error *err) {
  struct cr_runtime *runtime = cr_runtime_find(worker, request->runtime_id, err);
  if (!runtime) return NULL;
  if (request->lang >= 0 && request->lang != (int)runtime->lang) {
    cr_error_set(err, CR_INVALID_REQUEST,
                 "this runtime is a %s runtime and languages cannot be mixed: leave `lang` out",
                 cr_lang_name(runtime->lang));
    return NULL;
  }
  if (request->memory_given) {
    cr_error_set(err, CR_INVALID_REQUEST,
                 "`memory_mb` is fixed when a runtime is created: leave it out with `runtime_id`");
    return NULL;
  }
  return check_size(runtime->lang, request, err) ? NULL : runtime;
}

static struct cr_runtime *fresh(struct cr_worker *worker, const struct request *request, struct cr_error *err) {
  if (request->lang < 0) {
    cr_error_set(err, CR_INVALID_REQUEST, "`lang` is required without `runtime_id`: \"node\" or \"python\"");
    return NULL;
  }
  enum cr_lang lang = (enum cr_lang)request->lang;
  if (check_size(lang, request, err)) return NULL;
  uint64_t memory = lang == CR_PYTHON && request->memory_given ? request->memory_mb : 0;
  if (lang == CR_PYTHON && request->memory_given && memory < CR_PYTHON_MEMORY_MIN_MB) {
    cr_error_set(
        err, CR_RESOURCE_EXHAUSTED,
        "the python interpreter does not fit: a memory cap (`memory_mb`) under %u MiB is exceeded at its start",
        CR_PYTHON_MEMORY_MIN_MB);
    return NULL;
  }
  if (memory > CR_PYTHON_MEMORY_MAX_MB) memory = CR_PYTHON_MEMORY_MAX_MB;
  if (memory == CR_PYTHON_MEMORY_DEFAULT_MB) memory = 0;
  return cr_runtime_create(worker, lang, request->keep ? CR_KEPT : CR_ONE_SHOT, NULL, memory, err);
}

// What a limit ended is an error, even where the process lived to tell (decisions 5, 6).
static void limits_are_errors(const struct run *run, struct cr_outcome *outcome) {
  if (outcome->error.code || !outcome->exit_code) return;
  if (outcome->flags & CR_DONE_MEMORY) {
    cr_error_set(&outcome->error, CR_RESOURCE_EXHAUSTED, "the runtime's memory cap was exceeded");
  } else if (outcome->flags & CR_DONE_DISK) {
    cr_autofree char *text = cr_runtime_disk_text(run->runtime);
    cr_error_set(&outcome->error, CR_RESOURCE_EXHAUSTED, "%s", text);
  }
}

// Decision 9: the last of what was printed.
static void add_tail(struct cr_buf *text, const struct cr_capture *stream, const char *name) {
  cr_autobuf tail = CR_BUF(CR_CAPTURE_TAIL);
  if (cr_capture_tail(stream, CR_CAPTURE_TAIL, &tail) || !tail.len) return;
  size_t length = cr_death_words((const char *)tail.data, tail.len);
  size_t shown = cr_utf8_suffix(tail.data, length, 1024);
  if (shown)
    (void)cr_buf_printf(text, "\n[last of %s]\n%.*s", name, (int)shown, (const char *)tail.data + length - shown);
}

static void reply_error(struct run *run, struct cr_error *error) {
  cr_autobuf text = CR_BUF(64u << 10);
  (void)cr_buf_puts(&text, error->message);
  add_tail(&text, &run->streams[0], "stdout");
  add_tail(&text, &run->streams[1], "stderr");
  (void)cr_buf_append(&text, "", 1);
  struct cr_error full = {.code = error->code, .message = (char *)text.data};
  cr_mask_ids(full.message, run->known_id);
  run->reply(run->of, NULL, 0, &full);
}

// The worker's own words on stderr, on a line of their own.
static void add_line(struct run *run, const uint8_t *text, size_t length) {
  struct cr_worker *worker = run->worker;
  struct cr_capture *stream = &run->streams[1];
  if (!length) return;
  if (worker->listener) {
    static const uint8_t newline[] = "\n";
    if (stream->total && stream->last != '\n') worker->listener(worker->listener_of, 2, newline, 1);
    worker->listener(worker->listener_of, 2, text, length);
    if (text[length - 1] != '\n') worker->listener(worker->listener_of, 2, newline, 1);
  }
  cr_capture_line(stream, (const char *)text, length);
}

static void reply_response(struct run *run, const struct cr_outcome *outcome, const char *id) {
  add_line(run, outcome->failure, outcome->failure_length);
  add_line(run, outcome->note, outcome->note_length);
  struct cr_response response = {
      .runtime_id = id,
      .streams = {&run->streams[0], &run->streams[1]},
      .exit_code = outcome->exit_code,
      .duration_ms = (uv_hrtime() - run->started) / 1000000,
      .max_result_bytes = run->max_result_bytes,
      .outcome = outcome,
  };
  size_t length;
  cr_autofree char *json = cr_response_text(&response, &length);
  run->reply(run->of, json, length, NULL);
}

static void finished(void *of, struct cr_outcome *outcome) {
  struct run *run = of;
  struct cr_runtime *runtime = run->runtime;
  limits_are_errors(run, outcome);
  int failed = outcome->error.code || outcome->exit_code;
  int stays = !outcome->runtime_gone && (run->known_id || (run->keep && !failed));
  char id[CR_RUNTIME_ID_SIZE];
  memcpy(id, runtime->id, sizeof id);
  if (!run->known_id && !stays) cr_runtime_destroy(runtime, CR_ENGINE, "the runtime behind this call is gone");
  if (outcome->error.code)
    reply_error(run, &outcome->error);
  else
    reply_response(run, outcome, run->known_id || stays ? id : NULL);
  for (int i = 0; i < 2; i++) cr_capture_free(&run->streams[i]);
  free(run->known_id);
  free(run);
}

static void submit(struct run *run, const struct request *request) {
  const struct cr_config *config = &run->worker->config;
  uint64_t budget = cr_config_budget(config, request->timeout_ms);
  struct cr_turn *turn = cr_turn_create(run->runtime, CR_FRAME_RUN, budget);
  int one_shot = !run->known_id && !run->keep;
  struct cr_frame_writer writer = cr_frame_begin(&turn->frame, CR_FRAME_RUN, one_shot ? CR_RUN_ONE_SHOT : 0, 0);
  cr_frame_bytes(&writer, request->code, request->code_length);
  cr_frame_number(&writer, (int64_t)config->max_result_bytes);
  cr_frame_number(&writer, (int64_t)budget);
  if (cr_frame_end(&writer)) cr_out_of_memory();
  for (int i = 0; i < 2; i++) {
    cr_capture_start(&run->streams[i], config->max_stream_bytes);
    turn->streams[i] = &run->streams[i];
  }
  turn->finished = finished;
  turn->of = run;
  cr_runtime_submit(turn);
}

void cr_function_run(struct cr_worker *worker, yyjson_val *payload, cr_reply *reply, void *of) {
  struct request request;
  struct cr_error err = {0};
  struct cr_runtime *runtime = NULL;
  uint64_t started = uv_hrtime();
  if (!decode(payload, &request, &err))
    runtime = request.runtime_id ? existing(worker, &request, &err) : fresh(worker, &request, &err);
  if (!runtime) {
    reply(of, NULL, 0, &err);
    cr_error_clear(&err);
    return;
  }
  struct run *run = cr_alloc(sizeof *run);
  *run = (struct run){.worker = worker,
                      .runtime = runtime,
                      .reply = reply,
                      .of = of,
                      .known_id = request.runtime_id ? cr_strdup(request.runtime_id) : NULL,
                      .keep = request.keep,
                      .started = started,
                      .max_result_bytes = worker->config.max_result_bytes};
  submit(run, &request);
}
