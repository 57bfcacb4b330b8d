import type { Row } from './panel.js';
import { AT_A_GLANCE } from './rows/at-a-glance.js';
import { BLOCK_PAGES } from './rows/block-pages.js';
import { CHANGES } from './rows/changes.js';
import { CONTROL_PLANE } from './rows/control-plane.js';
import { PROCESSES } from './rows/processes.js';
import { QUERIES } from './rows/queries.js';
import { UPSTREAMS_AND_CACHE } from './rows/upstreams-and-cache.js';

/** Rows and panels in the order in which an operator looks at a deployment. */
export const ROWS: readonly Row[] = [
  AT_A_GLANCE,
  QUERIES,
  UPSTREAMS_AND_CACHE,
  CHANGES,
  CONTROL_PLANE,
  BLOCK_PAGES,
  PROCESSES,
];
