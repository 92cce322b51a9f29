/*
 * Stands in for the console's shared module: the four names that injected cards import, and no other. Drawn plainly,
 * with the props that the cards rely on.
 */
import {
  cloneElement,
  createContext,
  useContext,
  useEffect,
  useId,
  useMemo,
  useState,
  type ReactElement,
  type ReactNode,
} from "react";
import { createPortal } from "react-dom";

interface TooltipState {
  id: string;
  at: { left: number; top: number } | undefined;
  show(trigger: Element): void;
  hide(): void;
}

const TooltipContext = createContext<TooltipState | undefined>(undefined);
const WIDTH = 280;

export function Tooltip(props: { children?: ReactNode }) {
  const id = useId();
  const [at, setAt] = useState<TooltipState["at"]>();
  const state = useMemo<TooltipState>(
    () => ({
      id,
      at,
      show(trigger) {
        const { left, bottom } = trigger.getBoundingClientRect();
        setAt({ left: Math.max(8, Math.min(left, document.documentElement.clientWidth - WIDTH - 8)), top: bottom + 6 });
      },
      hide: () => setAt(undefined),
    }),
    [id, at],
  );
  return <TooltipContext value={state}>{props.children}</TooltipContext>;
}

export function TooltipTrigger(props: { asChild?: boolean; children?: ReactNode }) {
  const tooltip = useContext(TooltipContext)!;
  const show = (event: { currentTarget: Element }) => tooltip.show(event.currentTarget);
  return cloneElement(props.children as ReactElement<Record<string, unknown>>, {
    "aria-describedby": tooltip.at ? tooltip.id : undefined,
    onPointerEnter: show,
    onPointerLeave: tooltip.hide,
    onFocus: show,
    onBlur: tooltip.hide,
  });
}

export function TooltipContent(props: { children?: ReactNode }) {
  const { id, at, hide } = useContext(TooltipContext)!;
  useEffect(() => {
    if (!at) return;
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && hide();
    addEventListener("keydown", onKey);
    addEventListener("scroll", hide, true);
    return () => {
      removeEventListener("keydown", onKey);
      removeEventListener("scroll", hide, true);
    };
  }, [at, hide]);
  return (
    at &&
    createPortal(
      <span className="tooltip" role="tooltip" id={id} style={{ ...at, maxWidth: WIDTH }}>
        {props.children}
      </span>,
      document.body,
    )
  );
}

const STRINGS = String.raw`"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?`;
const NUMBERS = String.raw`\b\d[\w.]*`;
const words = (list: string) => `\\b(?:${list.replaceAll(" ", "|")})\\b`;

const grammar = (comment: string, string: string, keywords: string) =>
  new RegExp(`(?<comment>${comment})|(?<string>${string})|(?<number>${NUMBERS})|(?<keyword>${words(keywords)})`, "g");

const GRAMMARS: Record<string, RegExp> = {
  javascript: grammar(
    String.raw`\/\/.*|\/\*[^]*?(?:\*\/|$)`,
    `${STRINGS}|\`(?:\\\\[^]|[^\`\\\\])*\`?`,
    "async await break case catch class const continue default delete do else export extends false finally for function if import in instanceof let new null of return static super switch this throw true try typeof undefined var void while yield",
  ),
  python: grammar(
    "#.*",
    `"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${STRINGS}`,
    "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield",
  ),
};
const LONGEST = 50_000;

export function CodeHighlight(props: { code: string; language?: string; className?: string; wrap?: boolean }) {
  const { code, language = "text" } = props;
  const pieces = useMemo(() => highlight(code, GRAMMARS[language]), [code, language]);
  return (
    <pre className={props.className} data-language={language}>
      <code>{pieces}</code>
    </pre>
  );
}

function highlight(code: string, rules: RegExp | undefined): ReactNode[] {
  if (!rules || code.length > LONGEST) return [code];
  const pieces: ReactNode[] = [];
  let end = 0;
  for (const match of code.matchAll(rules)) {
    pieces.push(code.slice(end, match.index));
    const [kind, text] = Object.entries(match.groups!).find(([, value]) => value !== undefined)!;
    pieces.push(
      <span className={`hl-${kind}`} key={match.index}>
        {text}
      </span>,
    );
    end = match.index + match[0].length;
  }
  pieces.push(code.slice(end));
  return pieces;
}
