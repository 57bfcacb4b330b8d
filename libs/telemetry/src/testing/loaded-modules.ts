const HOOK = new URL('./loaded-modules-hook.mjs', import.meta.url);

/**
 * What `node --import` takes, so that the URL of each module of OpenTelemetry that a process loads, imported or
 * required, is a line of the file that is named after its pid.
 */
export const loadedModulesHook = (folder: string): string =>
  `${HOOK.href}?${new URLSearchParams({ folder }).toString()}`;
