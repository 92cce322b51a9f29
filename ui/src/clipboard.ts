/**
 * Puts `text` on the clipboard and leaves the focus on `origin`. Plain HTTP on a local network is not a secure
 * context and has no asynchronous clipboard, hence the older way.
 */
export async function copyText(text: string, origin: HTMLElement | null): Promise<boolean> {
  try {
    if (navigator.clipboard?.writeText) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    /* Refused: the older way may still be allowed. */
  }
  return copyBySelection(text, origin);
}

/* The text is the area's value property only, never in the document's text, and gone before this task ends. */
function copyBySelection(text: string, origin: HTMLElement | null): boolean {
  const area = document.createElement("textarea");
  area.readOnly = true;
  area.tabIndex = -1;
  area.setAttribute("aria-hidden", "true");
  Object.assign(area.style, { position: "fixed", top: "0", left: "-9999px", opacity: "0" });
  /* Beside the button: a dialog that traps the focus would take it back from anywhere else. */
  (origin?.parentElement ?? document.body).append(area);
  try {
    area.value = text;
    area.focus({ preventScroll: true });
    area.select();
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    area.remove();
    origin?.focus({ preventScroll: true });
  }
}
