export async function buildConsole() {}
