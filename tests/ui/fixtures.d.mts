import type { FunctionTriggerMessage } from "../../ui/src/host";

export const A: string;
export const B: string;
export const NEEDLES: string[];
export const RUN: string;
export const REGISTER: string;
export const TEARDOWN: string;
export const OMITTED_ARRAY: string;
export const OMITTED_TEXT: string;
export const TRUNCATED: string;

export interface Fixture {
  name: string;
  op: string;
  state: "pending" | "running" | "settled" | "error" | "denied";
  form?: "trace";
  message: FunctionTriggerMessage;
}
export const fixtures: Fixture[];
export function fixture(name: string, form?: "trace"): FunctionTriggerMessage;

export function masked(id: string): string;
export function lines(count: number, text?: string): string;
export function answer(extra: object): Record<string, unknown>;
export function message(functionId: string, input: unknown, extra?: object): FunctionTriggerMessage;
export function inChat(details: unknown): object;
export const failed: { chat(text: string, details?: object): object; trace(text: string): object };
export function denied(args: string): object;
export function randomJson(seed: number): unknown;
