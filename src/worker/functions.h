// The functions of the worker (contract 1), one file each. `payload` is the call's JSON, valid during the call only.
#pragma once
#include <yyjson.h>

#include "worker/worker.h"

typedef void cr_function(struct cr_worker *worker, yyjson_val *payload, cr_reply *reply, void *of);

cr_function cr_function_run;
cr_function cr_function_teardown;
cr_function cr_function_register;
cr_function cr_function_guidance;
cr_function cr_function_ui_content;
cr_function cr_function_config_change;
