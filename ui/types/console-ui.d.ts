/*
 * The part of the console's shared module that this bundle relies on. The real types are private to the console, so
 * the module is declared here. Named imports are limited to these four: a console that lacks one of the names would
 * refuse the whole script at link time.
 */
declare module "@iii-dev/console-ui" {
  import type { ComponentType, ReactNode } from "react";

  export const Tooltip: ComponentType<{ children?: ReactNode }>;
  export const TooltipTrigger: ComponentType<{ asChild?: boolean; children?: ReactNode }>;
  export const TooltipContent: ComponentType<{ children?: ReactNode }>;
  export const CodeHighlight: ComponentType<{
    code: string;
    language?: string;
    className?: string;
    wrap?: boolean;
  }>;
}
