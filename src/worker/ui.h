// The console's two assets on the bus (contract 16.2).
#pragma once
#include "worker/worker.h"

struct cr_ui;

// Binds the triggers; with III_CODE_RUNNER_UI_WATCH it watches a folder and binds them anew when a file changes.
struct cr_ui *cr_ui_start(struct cr_worker *worker);
void cr_ui_free(struct cr_ui *ui);
