#include "worker/ui.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "bus/client.h"
#include "ui/assets.h"
#include "worker/functions.h"
#include "worker/internal.h"
#include "worker/request.h"

#define POLL_MS 1000
#define FILE_MAX (4u << 20)
#define ASSETS 2

// What is served for one path: the embedded bytes, or those of the watched file.
struct served {
  const char *path;
  const char *file;
  const char *trigger_type;
  struct cr_buf bytes;  // of the watched file; empty: the embedded ones
  struct timespec changed;
  char trigger[37];
};

struct cr_ui {
  struct cr_worker *worker;
  char *folder;  // watched, or NULL
  struct served served[ASSETS];
  uv_timer_t poll;
};

static void announce(struct cr_ui *ui, struct served *served) {
  struct cr_error err = {0};
  char former[37];
  memcpy(former, served->trigger, sizeof former);
  cr_autofree char *config = cr_format("{\"path\":\"%s\"}", served->path);
  const struct cr_bus_trigger trigger = {
      .trigger_type = served->trigger_type, .function_id = "code-runner::ui-content", .config = config};
  if (cr_bus_bind(ui->worker->bus, &trigger, served->trigger, &err))
    cr_log(CR_LOG_WARN, "cannot announce %s: %s", served->path, err.message);
  else if (*former)
    cr_bus_unbind(ui->worker->bus, former);
  cr_error_clear(&err);
}

static int read_file(const char *path, struct cr_buf *bytes) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = -1;
  bytes->len = 0;
  while (file >= 0 && !cr_buf_reserve(bytes, 65536) && (n = read(file, bytes->data + bytes->len, 65536)) > 0)
    bytes->len += (size_t)n;
  if (file >= 0) close(file);
  return n == 0 && bytes->len ? 0 : -1;
}

static void look(struct cr_ui *ui, struct served *served) {
  cr_autofree char *path = cr_format("%s/%s", ui->folder, served->file);
  struct stat status;
  if (stat(path, &status) ||
      (status.st_mtim.tv_sec == served->changed.tv_sec && status.st_mtim.tv_nsec == served->changed.tv_nsec))
    return;
  int first = !served->changed.tv_sec;
  if (read_file(path, &served->bytes)) return;
  served->changed = status.st_mtim;
  if (!first) announce(ui, served);
}

static void on_poll(uv_timer_t *timer) {
  struct cr_ui *ui = timer->data;
  for (int i = 0; i < ASSETS; i++) look(ui, &ui->served[i]);
}

// Unset, empty, 0, false: off. 1, true: ui/dist. A path: it; of a file, its folder.
static char *watched_folder(void) {
  const char *value = getenv("III_CODE_RUNNER_UI_WATCH");
  if (!value || !*value || !strcmp(value, "0") || !strcmp(value, "false")) return NULL;
  if (!strcmp(value, "1") || !strcmp(value, "true")) return cr_strdup("ui/dist");
  size_t length = strlen(value);
  if (length < 3 || strcmp(value + length - 3, ".js") != 0) return cr_strdup(value);
  const char *slash = strrchr(value, '/');
  return slash ? cr_strndup(value, (size_t)(slash - value)) : cr_strdup(".");
}

struct cr_ui *cr_ui_start(struct cr_worker *worker) {
  struct cr_ui *ui = cr_alloc(sizeof *ui);
  *ui = (struct cr_ui){
      .worker = worker,
      .folder = watched_folder(),
      .served = {{.path = "code-runner/page.js",
                  .file = "page.js",
                  .trigger_type = "console:script",
                  .bytes = CR_BUF(FILE_MAX)},
                 {.path = "code-runner/styles.css",
                  .file = "styles.css",
                  .trigger_type = "console:style",
                  .bytes = CR_BUF(FILE_MAX)}},
  };
  uv_timer_init(worker->loop, &ui->poll);
  ui->poll.data = ui;
  if (ui->folder) {
    on_poll(&ui->poll);
    uv_timer_start(&ui->poll, on_poll, POLL_MS, POLL_MS);
  }
  for (int i = 0; i < ASSETS; i++) announce(ui, &ui->served[i]);
  return ui;
}

static void on_closed(uv_handle_t *handle) {
  struct cr_ui *ui = handle->data;
  for (int i = 0; i < ASSETS; i++) cr_buf_free(&ui->served[i].bytes);
  free(ui->folder);
  free(ui);
}

void cr_ui_free(struct cr_ui *ui) {
  if (ui) uv_close((uv_handle_t *)&ui->poll, on_closed);
}

static void reply_content(const char *type, const void *bytes, size_t length, cr_reply *reply, void *of) {
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  yyjson_mut_doc_set_root(doc, root);
  yyjson_mut_obj_add_strn(doc, root, "content", bytes, length);
  yyjson_mut_obj_add_str(doc, root, "content_type", type);
  size_t size;
  cr_autofree char *text = cr_json_mut_text(doc, &size);
  yyjson_mut_doc_free(doc);
  reply(of, text, size, NULL);
}

void cr_function_ui_content(struct cr_worker *worker, yyjson_val *payload, cr_reply *reply, void *of) {
  struct cr_error err = {0};
  const char *path = NULL;
  size_t length = 0;
  if (!cr_request_object(payload, &err) && !cr_request_text(payload, "path", 0, &path, &length, &err)) {
    int page = !strcmp(path, "code-runner/page.js"), styles = !strcmp(path, "code-runner/styles.css");
    const struct cr_asset *asset = page ? cr_asset_find("page.js") : styles ? cr_asset_find("styles.css") : NULL;
    const struct served *served = worker->ui && asset ? &worker->ui->served[styles] : NULL;
    if (asset) {
      int watched = served && served->bytes.len;
      reply_content(asset->type, watched ? served->bytes.data : asset->bytes,
                    watched ? served->bytes.len : asset->length, reply, of);
      return;
    }
    cr_error_set(&err, "UNKNOWN_UI_ASSET",
                 "no asset `%.120s`; there are code-runner/page.js and code-runner/styles.css", path);
  }
  reply(of, NULL, 0, &err);
  cr_error_clear(&err);
}
