import type { ComponentType } from 'preact';
import type { Session } from '../api.js';
import type { PageProperties } from '../router.js';
import type { Key } from '../i18n/index.js';
import { Catalogue } from './catalogue.js';
import { Changes } from './changes.js';
import { Explain } from './explain.js';
import { Init } from './init.js';
import { Orders } from './orders.js';
import { Profile } from './profile.js';
import { Resolvers } from './resolvers.js';

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
  { path: 'explain', title: 'page.explain', component: Explain },
  { path: 'resolvers', title: 'page.resolvers', component: Resolvers },
  { path: 'profiles', title: 'page.profiles', component: Profile },
  { path: 'changes', title: 'page.changes', component: Changes },
  { path: 'orders', title: 'page.orders', component: Orders },
  { path: 'catalogue', title: 'page.catalogue', component: Catalogue },
  { path: 'init', title: 'page.init', component: Init },
];
