import type { Row } from './panel.js';
import { AT_A_GLANCE } from './at-a-glance.js';
import { BLOCK_PAGES } from './block-pages.js';
import { CHANGES } from './changes.js';
import { CONTROL_PLANE } from './control-plane.js';
import { PROCESSES } from './processes.js';
import { QUERIES } from './queries.js';
import { UPSTREAMS_AND_CACHE } from './upstreams-and-cache.js';

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
