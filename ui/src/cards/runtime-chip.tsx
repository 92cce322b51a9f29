/* The only place from which a full runtime id can be had, and only onto the clipboard. */
import { Tooltip, TooltipContent, TooltipTrigger } from "@iii-dev/console-ui";
import { useEffect, useRef, useState } from "react";
import { copyText } from "../clipboard";
import { maskId } from "../redact";

const REMARK_MS = 1400;
const WHY =
  "Whoever holds the whole id can run code in this runtime and destroy it, so only its beginning is shown. Activate to copy all of it.";

type Remark = "copied" | "copy failed";

export function RuntimeChip(props: { id: string }) {
  const button = useRef<HTMLButtonElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const mounted = useRef(false);
  const [remark, setRemark] = useState<Remark>();

  useEffect(() => {
    mounted.current = true;
    return () => {
      mounted.current = false;
      clearTimeout(timer.current);
    };
  }, []);

  async function copy() {
    const ok = await copyText(props.id, button.current);
    if (!mounted.current) return;
    clearTimeout(timer.current);
    setRemark(ok ? "copied" : "copy failed");
    timer.current = setTimeout(() => setRemark(undefined), REMARK_MS);
  }

  return (
    <span className="cr-copy">
      <Tooltip>
        <TooltipTrigger asChild>
          <button
            ref={button}
            type="button"
            className="cr-chip cr-runtime"
            data-cr="runtime-chip"
            aria-label="Copy the runtime id"
            onClick={copy}
          >
            runtime <code>{maskId(props.id)}</code>
          </button>
        </TooltipTrigger>
        <TooltipContent>{WHY}</TooltipContent>
      </Tooltip>
      <span className="cr-remark" role="status" data-cr-tone={remark === "copy failed" ? "warn" : "ok"}>
        {remark}
      </span>
    </span>
  );
}
