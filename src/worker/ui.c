// code-runner::ui-content: contract 16.2.
#include "base/json.h"
#include "worker/functions.h"
#include "worker/request.h"

void cr_function_ui_content(struct cr_worker *worker, yyjson_val *payload, cr_reply *reply, void *of) {
  struct cr_error err = {0};
  const char *path = NULL;
  size_t length = 0;
  (void)worker;
  if (!cr_request_object(payload, &err) && !cr_request_text(payload, "path", 0, &path, &length, &err))
    cr_error_set(&err, "UNKNOWN_UI_ASSET", "no asset `%.120s`; this build has no assets", path);
  reply(of, NULL, 0, &err);
  cr_error_clear(&err);
}
