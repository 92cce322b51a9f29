#include "worker/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "worker/runtime.h"
#include "worker/targets.h"

#define NO_BUS "there is no bus: this code-runner runs without an engine"

static void answer_error(struct cr_runtime *runtime, uint32_t id, const char *text) {
  struct cr_frame_writer writer =
      cr_frame_begin(cr_instance_outgoing(runtime->instance), CR_FRAME_ANSWER, CR_ANSWER_ERROR, id);
  cr_frame_text(&writer, text);
  if (!cr_frame_end(&writer)) cr_instance_flush(runtime->instance);
}

static int take_text(struct cr_fields *fields, char **text) {
  const uint8_t *bytes;
  uint32_t length;
  if (cr_fields_bytes(fields, &bytes, &length) || memchr(bytes, 0, length)) return -1;
  *text = cr_strndup((const char *)bytes, length);
  return 0;
}

static int trigger(struct cr_runtime *runtime, uint32_t call, struct cr_fields *fields) {
  cr_autofree char *id = NULL;
  const uint8_t *payload;
  uint32_t length;
  if (take_text(fields, &id) || cr_fields_bytes(fields, &payload, &length)) return -1;
  struct cr_error err = {0};
  yyjson_doc *doc = cr_json_parse((const char *)payload, length, &err);
  if (doc && !cr_target_call(id, yyjson_doc_get_root(doc), &err)) cr_error_set(&err, CR_ENGINE, NO_BUS);
  answer_error(runtime, call, err.message);
  yyjson_doc_free(doc);
  cr_error_clear(&err);
  return 0;
}

int cr_calls_take(struct cr_runtime *runtime, const struct cr_frame *frame) {
  struct cr_fields fields = cr_frame_fields(frame);
  if (frame->type != CR_FRAME_CALL) return -1;
  if (frame->flags == CR_CALL_TRIGGER) return trigger(runtime, frame->id, &fields);
  if (frame->flags < CR_CALL_TRIGGER || frame->flags > CR_CALL_UNREGISTER_TRIGGER_TYPE) return -1;
  answer_error(runtime, frame->id, NO_BUS);
  return 0;
}

void cr_calls_drop(struct cr_runtime *runtime) { (void)runtime; }
