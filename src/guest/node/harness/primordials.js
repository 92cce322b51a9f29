'use strict';
// Everything the harness uses once guest code may have run, taken before that. The guest shares this realm, so the
// harness never looks a method up on an object that the guest can reach, never iterates, and never awaits.

const { apply: ReflectApply, defineProperty: ReflectDefineProperty } = Reflect;
const { bind: functionBind, call: functionCall } = Function.prototype;
const uncurryThis = functionBind.bind(functionCall);

const FunctionPrototypeBind = uncurryThis(functionBind);
const PromiseThen = Promise.prototype.then;
const StringPrototypeCharCodeAt = uncurryThis(String.prototype.charCodeAt);
const StringPrototypeIndexOf = uncurryThis(String.prototype.indexOf);
const StringPrototypeSlice = uncurryThis(String.prototype.slice);
const StringPrototypeStartsWith = uncurryThis(String.prototype.startsWith);
const MapPrototypeDelete = uncurryThis(Map.prototype.delete);
const MapPrototypeGet = uncurryThis(Map.prototype.get);
const MapPrototypeHas = uncurryThis(Map.prototype.has);
const MapPrototypeSet = uncurryThis(Map.prototype.set);
const ObjectPrototypeIsPrototypeOf = uncurryThis(Object.prototype.isPrototypeOf);
const BigIntPrototypeValueOf = uncurryThis(BigInt.prototype.valueOf);
const ArrayIsArray = Array.isArray;
const ErrorIsError = Error.isError;
const ErrorPrototype = Error.prototype;
const JSONParse = JSON.parse;
const JSONStringify = JSON.stringify;
const MathFloor = Math.floor;
const MathMin = Math.min;
const NumberIsInteger = Number.isInteger;
const ObjectFreeze = Object.freeze;
const ObjectKeys = Object.keys;
const SafeError = Error;
const SafeMap = Map;
const SafeNumber = Number;
const SafePromise = Promise;
const SafeString = String;
const SafeSyntaxError = SyntaxError;
const SafeTypeError = TypeError;
const AsyncFunction = (async () => {}).constructor;

const { compileFunction, Script, constants: vmConstants } = require('node:vm');
const { isPromise } = require('node:util').types;
const { stripTypeScriptTypes } = require('node:module');
const byteLength = Buffer.byteLength;
const BufferFrom = Buffer.from;
const chdir = process.chdir;
const realm = globalThis;
const setFlags = require('node:v8').setFlagsFromString;

function define(object, name, value, enumerable = false, writable = true) {
  return ReflectDefineProperty(object, name, {
    __proto__: null, value, enumerable, writable, configurable: writable,
  });
}

// Frames and flags: guest/frame.h.
const FRAME_SETUP = 1;
const FRAME_RUN = 2;
const FRAME_DEFINE = 3;
const FRAME_INVOKE = 4;
const FRAME_FORGET = 5;
const FRAME_NOTIFY = 6;
const FRAME_ANSWER = 7;
const FRAME_SETTINGS = 9;
const PROMPT_REHEARSE = 0;  // guest/node/guest.h
const PROMPT_SETTLE = -1;
const PROMPT_WAKE = -2;
const ONE_SHOT = 1;
const ANSWER_ERROR = 1;
const DONE_LOST = 1;
const DONE_MEMORY = 2;
const DONE_DISK = 4;
const DONE_UNHANDLED = 8;
const CALL_TRIGGER = 1;
const CALL_REGISTER_FUNCTION = 2;
const CALL_UNREGISTER_FUNCTION = 3;
const CALL_REGISTER_TRIGGER = 4;
const CALL_UNREGISTER_TRIGGER = 5;
const CALL_REGISTER_TRIGGER_TYPE = 6;
const CALL_UNREGISTER_TRIGGER_TYPE = 7;
const REHEARSAL = 0;
