// The turns of a python runtime: frames from the worker (docs/protocol.md) become calls of the interpreter.
#pragma once
#include "guest/python/engine.h"

struct cr_turns;

// Defines what the interpreter imports for iii.trigger; before cr_engine_instantiate. `engine` must stay where it is.
struct cr_turns *cr_turns_create(struct cr_engine *engine, struct cr_error *err);

// In the zygote, and in a fork before its first frame: runs what a turn runs, so that the real one finds it warm.
// Ends the process when the interpreter does not work.
void cr_turns_warm(struct cr_turns *turns);

// Serves the frames of `stream` until it closes or the interpreter is lost; then ends the process.
_Noreturn void cr_turns_serve(struct cr_turns *turns, int stream);
