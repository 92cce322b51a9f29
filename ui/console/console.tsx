import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import type { FunctionTriggerRenderer } from "../src/host";
import { CallView } from "./call";
import { Composer } from "./composer";
import { Functions } from "./functions";
import { loadCards } from "./host";
import { useSession } from "./session";

type Theme = "light" | "dark";

const preferred = (): Theme => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
document.documentElement.dataset.theme = preferred();

function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(preferred);
  const other = theme === "dark" ? "light" : "dark";
  useEffect(() => void (document.documentElement.dataset.theme = theme), [theme]);
  return (
    <button type="button" className="plain" onClick={() => setTheme(other)}>
      {other} theme
    </button>
  );
}

function App(props: { renderers: FunctionTriggerRenderer[] }) {
  const session = useSession();
  return (
    <>
      <header>
        <h1>code-runner</h1>
        <span className="state" role="status" data-connected={session.connected}>
          {session.connected ? "connected" : "not connected, trying again"}
        </span>
        <ThemeButton />
      </header>
      <main>
        <Composer session={session} />
        <section className="calls" aria-label="calls">
          {session.calls.length === 0 && <p className="empty">Run something: its card appears here.</p>}
          {session.calls.map((call) => (
            <CallView key={call.id} message={call} renderers={props.renderers} />
          ))}
        </section>
        <Functions session={session} />
      </main>
    </>
  );
}

const root = createRoot(document.getElementById("root")!);
loadCards().then(
  (renderers) => root.render(<App renderers={renderers} />),
  () => root.render(<p className="empty">The cards of this worker could not be loaded.</p>),
);
