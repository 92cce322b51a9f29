// Node-API addon: https://nodejs.org/api/n-api.html
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "guest/node/guest.h"

struct guest guest = {.in = {.max = 3ul * CR_FRAME_MAX}, .out = {.max = 2ul * CR_FRAME_MAX}};

// (descriptor, string or Uint8Array): all of it, blocking; errors are swallowed, as nobody could be told.
static napi_value write_output(napi_env env, napi_callback_info info) {
  struct arguments arguments = take_arguments(env, info);
  cr_autobuf text = CR_BUF(4ul << 30);
  void *bytes = NULL;
  size_t size = 0;
  bool is_array = false;
  napi_is_typedarray(env, arguments.at[1], &is_array);
  if (is_array) {
    napi_get_typedarray_info(env, arguments.at[1], NULL, &size, &bytes, NULL, NULL);
  } else {
    if (append_string(env, arguments.at[1], &text)) return NULL;
    bytes = text.data;
    size = text.len;
  }
  (void)cr_stream_write((int)to_number(env, arguments.at[0]), bytes, size);
  return make_undefined(env);
}

// Never exit(3): that waits for threads which a fork does not have.
static napi_value leave(napi_env env, napi_callback_info info) {
  struct arguments arguments = take_arguments(env, info);
  _exit((int)to_number(env, arguments.at[0]));
}

static napi_value pid(napi_env env, napi_callback_info info) {
  (void)info;
  return make_number(env, getpid());
}

// The largest resident size so far, in bytes: there is no /proc here that would tell the present one. getrusage(2)
static napi_value resident(napi_env env, napi_callback_info info) {
  (void)info;
  struct rusage usage = {0};
  getrusage(RUSAGE_SELF, &usage);
  return make_number(env, (double)usage.ru_maxrss * 1024);
}

// Declared nowhere, looked up by Node when it loads the addon.
int32_t node_api_module_get_api_version_v1(void);
napi_value napi_register_module_v1(napi_env env, napi_value exports);

NAPI_MODULE_INIT() {
  static const napi_property_descriptor functions[] = {
      {.utf8name = "serve", .method = guest_serve},
      {.utf8name = "done", .method = guest_done},
      {.utf8name = "call", .method = guest_call},
      {.utf8name = "ask", .method = guest_ask},
      {.utf8name = "mark", .method = guest_mark},
      {.utf8name = "write", .method = write_output},
      {.utf8name = "leave", .method = leave},
      {.utf8name = "pid", .method = pid},
      {.utf8name = "resident", .method = resident},
      {.utf8name = "filesList", .method = guest_files_list},
      {.utf8name = "filesRead", .method = guest_files_read},
      {.utf8name = "filesReadText", .method = guest_files_read_text},
      {.utf8name = "filesRemove", .method = guest_files_remove},
      {.utf8name = "filesWrite", .method = guest_files_write},
  };
  // A huge page would be copied as a whole at the first write of a fork.
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  guest.env = env;
  napi_get_uv_event_loop(env, &guest.loop);
  napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions);
  return exports;
}
