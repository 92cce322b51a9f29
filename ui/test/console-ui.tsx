/* Renders every prop it is given, so that a leak into a prop is seen and not swallowed. */
import type { ReactNode } from "react";

export const Tooltip = (props: { children?: ReactNode }) => <>{props.children}</>;
export const TooltipTrigger = (props: { asChild?: boolean; children?: ReactNode }) => <>{props.children}</>;
export const TooltipContent = (props: { children?: ReactNode }) => <span data-stub="tooltip">{props.children}</span>;

export function CodeHighlight(props: Record<string, unknown>) {
  const { code, language, ...rest } = props;
  return (
    <pre data-stub="code" data-language={String(language)} data-rest={JSON.stringify(rest)}>
      {String(code)}
    </pre>
  );
}
