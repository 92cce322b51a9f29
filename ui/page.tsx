/* The console imports this script and calls its default export with a fresh host. */
import { ConfigForm } from "./src/form/form";
import type { Host } from "./src/host";
import { renderers } from "./src/renderers";

const CONFIG_ENTRY = "code-runner";

export function setup(host: Host): () => void {
  const removers = renderers.map((renderer) => host.functionTriggers.register(renderer));
  const removeForm = host.configForms?.register(CONFIG_ENTRY, ConfigForm);
  if (removeForm) removers.push(removeForm);
  return () => {
    for (const remove of removers) remove();
  };
}

export default setup;
