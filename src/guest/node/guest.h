// The addon of the node guest: what the harness (harness/*.js) can ask of it. One environment, one runtime, one thread.
#pragma once
#define NAPI_VERSION 9
#include <node_api.h>
#include <uv.h>

#include "base/buf.h"
#include "guest/zygote.h"

struct guest {
  napi_env env;
  uv_loop_t *loop;
  napi_ref dispatch;  // (type, flags, id, …fields) → a function to call for the guest, or undefined
  napi_ref ended;     // (outcome of that function: ok, value)
  napi_ref resource;
  napi_async_context context;
  struct cr_runtime runtime;
  uv_idle_t parked;
  uv_poll_t readable;
  uv_idle_t backlog;  // runs while whole frames wait in `in`
  struct cr_buf in;
  struct cr_buf out;
  int turns;  // frames of turns delivered so far
  char version[32];
};

extern struct guest guest;

// A turn with this id is for warming up: its answer is made and thrown away.
#define REHEARSAL 0

// values.c: arguments and strings. A function that returns an int gives 0, or -1 with an exception pending.
struct arguments {
  size_t count;
  napi_value at[10];
};
struct arguments take_arguments(napi_env env, napi_callback_info info);
int append_string(napi_env env, napi_value string, struct cr_buf *buf);
int64_t to_number(napi_env env, napi_value number);
napi_value make_undefined(napi_env env);
napi_value make_number(napi_env env, double number);
napi_value make_string(napi_env env, const void *utf8, size_t length);
napi_value throw_error(napi_env env, const char *message);
napi_value throw_type_error(napi_env env, const char *message);

// park.c: serve(version, dispatch, ended) ends the zygote's boot; from then on the event loop belongs to its forks.
napi_value guest_serve(napi_env env, napi_callback_info info);

// channel.c: frames. Each exits the process when the stream has ended.
void channel_start(void);  // first frames, blocking, until a turn has been delivered; then from the loop
// Harness work that no frame asks for: a turn of no effect, which is sample `number`; the last act of the zygote; the
// first of a fork, with a random number.
enum prompt { PROMPT_REHEARSE = 0, PROMPT_SETTLE = -1, PROMPT_WAKE = -2 };
void channel_prompt(int what, uint32_t number);
int channel_waiting(void);                                     // whether something has come already
void channel_send(void);                                       // sends what is in guest.out
napi_value guest_call(napi_env env, napi_callback_info info);  // (operation, id, …fields): sends a wish
napi_value guest_ask(napi_env env, napi_callback_info info);   // the same, waits, returns the answer or throws
napi_value guest_mark(napi_env env, napi_callback_info info);  // waits until all output has been read

// answer.c: done(id, flags, exit code, JSON text or undefined, result_max, failure, note)
napi_value guest_done(napi_env env, napi_callback_info info);

// json.c: `text` is the output of JSON.stringify. Escapes of lone surrogates become U+FFFD, in place.
void json_repair(struct cr_buf *text);
// enum cr_result_shape, and its number of elements, keys or code points.
int json_shape(const struct cr_buf *text, int64_t *count);

// files.c: iii.files (contract 8)
napi_value guest_files_list(napi_env env, napi_callback_info info);
napi_value guest_files_read(napi_env env, napi_callback_info info);       // (name)
napi_value guest_files_read_text(napi_env env, napi_callback_info info);  // (name)
napi_value guest_files_remove(napi_env env, napi_callback_info info);     // (name)
napi_value guest_files_write(napi_env env, napi_callback_info info);      // (name, contents, max bytes, max files)
