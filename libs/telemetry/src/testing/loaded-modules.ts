/**
 * `node --import` of it writes the URL of each module of OpenTelemetry that is loaded to standard error, whether it is
 * imported or required.
 */
export const LOADED_MODULES_HOOK = new URL('./loaded-modules-hook.mjs', import.meta.url).href;
