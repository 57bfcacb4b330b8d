import type { ComponentType } from 'preact';
import type { Session } from '../api.js';
import type { Key } from '../i18n/index.js';
import { Resolvers } from './resolvers.js';

export interface PageProperties {
  /** What follows in the path: `7` of `profiles/7`. */
  readonly rest: string;
}

interface Page {
  /** Below `/console/`. */
  readonly path: string;
  readonly title: Key;
  readonly component: ComponentType<PageProperties>;
  /** Without this scope the page is not offered; default: `read`. */
  readonly scope?: Session['scope'];
}

/** In the order of the navigation. The first one is what `/console/` shows. */
export const PAGES: readonly Page[] = [
  { path: 'resolvers', title: 'page.resolvers', component: Resolvers },
];
