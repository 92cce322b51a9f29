import type { ComponentType, ReactNode } from "react";

export type Json = unknown;

/** What a renderer is given. More members may be present; they are ignored. */
export interface FunctionTriggerMessage {
  id: string;
  role: "function-trigger";
  functionId: string;
  description?: string;
  input: Json;
  output?: Json;
  durationMs?: number;
  running?: boolean;
  pendingApproval?: boolean;
  createdAt: number;
}

/** Called while the host renders, any number of times: pure, total and free of hooks. `null` means "not mine". */
export interface FunctionTriggerRenderer {
  id: string;
  isMatch(functionId: string): boolean;
  tryRender(message: FunctionTriggerMessage): ReactNode | null;
  tryRenderRunning(message: FunctionTriggerMessage): ReactNode | null;
  tryRenderPreview(message: FunctionTriggerMessage): ReactNode | null;
  redactRaw(value: Json): Json;
}

/** The host owns loading, validation and saving; the form only proposes complete drafts. */
export interface ConfigFormProps {
  id: string;
  schema: object | null;
  value: Json;
  onChange(next: Json): void;
  errors?: ReadonlyMap<string, string> | Readonly<Record<string, string>>;
  focusField?: string[];
}

export interface Host {
  path: string;
  functionTriggers: { register(renderer: FunctionTriggerRenderer): () => void };
  configForms?: { register(id: string, form: ComponentType<ConfigFormProps>): () => void };
}
