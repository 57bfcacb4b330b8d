import { fileURLToPath } from 'node:url';

export const CHART_FOLDER = fileURLToPath(new URL('../weir/', import.meta.url));
export const REPOSITORY_FOLDER = fileURLToPath(new URL('../../', import.meta.url));
