#include "worker/link.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "bus/client.h"
#include "worker/functions.h"
#include "worker/internal.h"
#include "worker/schemas.h"
#include "worker/settings.h"
#include "worker/ui.h"

void cr_link_reply(void *of, const char *result, size_t length, const struct cr_error *err) {
  if (!err) {
    cr_bus_reply(of, result, length);
    return;
  }
  cr_autofree char *message = cr_format("%s: %s", err->code, err->message);
  cr_bus_reply_error(of, "invocation_failed", message);
}

static void on_own(void *of, struct cr_bus_invocation *invocation) {
  cr_worker_call(of, invocation->function_id, invocation->payload, invocation->payload_length, cr_link_reply,
                 invocation);
}

static void announce(struct cr_worker *worker, const struct cr_own_function *own) {
  struct cr_error err = {0};
  const struct cr_bus_function function = {.id = own->id,
                                           .description = own->description,
                                           .request_format = own->request,
                                           .response_format = own->response,
                                           .metadata = own->internal ? "{\"internal\":true}" : NULL};
  if (cr_bus_register(worker->bus, &function, on_own, worker, &err))
    cr_log(CR_LOG_ERROR, "%s: %s", own->id, err.message);
  cr_error_clear(&err);
}

static void bind_own(struct cr_worker *worker, const char *type, const char *function_id, const char *config) {
  struct cr_error err = {0};
  const struct cr_bus_trigger trigger = {.trigger_type = type, .function_id = function_id, .config = config};
  if (cr_bus_bind(worker->bus, &trigger, NULL, &err)) cr_log(CR_LOG_WARN, "cannot bind %s: %s", type, err.message);
  cr_error_clear(&err);
}

// --- settings that change -------------------------------------------------------------------------------------------

static void on_settings(void *of, struct cr_config *config, const struct cr_error *err) {
  struct cr_worker *worker = of;
  worker->reloading = 0;
  if (err) {
    cr_log(CR_LOG_ERROR, "settings stay as they are: %s", err->message);
  } else {
    if (cr_config_apply(&worker->config, config))
      cr_log(CR_LOG_WARN, "a settings change is saved and takes effect at the next worker restart");
    cr_config_free(config);
    cr_worker_settings_changed(worker);
  }
  if (worker->reload_again) cr_worker_reload(worker);
}

void cr_worker_reload(struct cr_worker *worker) {
  worker->reload_again = worker->reloading;
  if (worker->reloading || !worker->bus) return;
  worker->reloading = 1;
  cr_settings_read(worker->bus, on_settings, worker);
}

void cr_function_config_change(struct cr_worker *worker, yyjson_val *payload, cr_reply *reply, void *of) {
  (void)payload;
  cr_worker_reload(worker);
  reply(of, "{\"ok\":true}", 11, NULL);
}

void cr_worker_attach(struct cr_worker *worker, struct cr_bus *bus) {
  worker->bus = bus;
  for (size_t i = 0; i < cr_own_functions_count; i++) announce(worker, &cr_own_functions[i]);
  worker->ui = cr_ui_start(worker);
  bind_own(worker, "harness::hook::pre-generate", "code-runner::inject-guidance", "{\"on_error\":\"fail_open\"}");
  cr_autofree char *config =
      cr_format("{\"configuration_id\":\"%s\",\"event_types\":[\"configuration:updated\"]}", cr_settings_entry());
  bind_own(worker, "configuration", "code-runner::on-config-change", config);
  cr_worker_reload(worker);
}
