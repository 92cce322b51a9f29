/* Draws cards on the server side and reads the markup the way a person reads the card. */
import { renderToStaticMarkup } from "react-dom/server";
import type { ReactNode } from "react";
import type { FunctionTriggerMessage } from "../src/host";
import { renderers } from "../src/renderers";

export function nodeFor(message: FunctionTriggerMessage): ReactNode | null {
  const renderer = renderers.find((each) => each.isMatch(message.functionId));
  if (!renderer) return null;
  if (message.pendingApproval) return renderer.tryRenderPreview(message);
  return message.running ? renderer.tryRenderRunning(message) : renderer.tryRender(message);
}

/** The card's markup, or null when the message is left to the host. */
export function draw(message: FunctionTriggerMessage): string | null {
  const node = nodeFor(message);
  return node === null ? null : renderToStaticMarkup(node);
}

const ENTITIES: Record<string, string> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'", "&amp;": "&" };

export function textOf(markup: string | null): string {
  return (markup ?? "").replace(/<[^>]*>/g, "").replace(/&(?:lt|gt|quot|#x27|amp);/g, (entity) => ENTITIES[entity]!);
}

/** The markup of every element with the given test hook, its content included. */
export function parts(markup: string | null, hook: string): string[] {
  const found: string[] = [];
  const open = new RegExp(`<(\\w+)[^>]* data-cr="${hook}"[^>]*>`, "g");
  for (let match = open.exec(markup ?? ""); match; match = open.exec(markup ?? "")) {
    const tag = new RegExp(`<(/?)${match[1]}\\b[^>]*>`, "g");
    tag.lastIndex = match.index;
    let depth = 0;
    for (let next = tag.exec(markup!); next; next = tag.exec(markup!)) {
      depth += next[1] ? -1 : 1;
      if (depth === 0) {
        found.push(markup!.slice(match.index, tag.lastIndex));
        break;
      }
    }
  }
  return found;
}

export const part = (markup: string | null, hook: string) => textOf(parts(markup, hook).join("\n"));
export const tones = (markup: string | null) =>
  [...(markup ?? "").matchAll(/data-cr-tone="(\w+)"/g)].map((match) => match[1]);
