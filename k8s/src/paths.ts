import { fileURLToPath } from 'node:url';

/** Works from `src` and from `dist`: both are at the same depth. */
const fromHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const CHART_FOLDER = fromHere('../weir/');
export const REPOSITORY_FOLDER = fromHere('../../');
