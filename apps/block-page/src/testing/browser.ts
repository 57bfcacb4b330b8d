import axe, { type AxeResults } from 'axe-core';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Chromium without windows, tabs and what else people see of it. A page takes a third of the processor time. */
const CHROMIUM = '/usr/bin/chromium-headless-shell';
/** Nothing of the browser's own goes out. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Longest wait for the browser, on a machine that stalls. */
const PATIENCE_MS = 120_000;

/** Tags of the rules of axe-core. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Where screenshots are kept, to be looked at. */
export const SCREENSHOTS = join(tmpdir(), 'weir-block-page-screenshots');

/** A browser for which every name leads to the block page on a loopback port, and `secure.example` to another port. */
export async function openBrowser(port: number, securePort = port): Promise<Browser> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  return chromium.launch({
    timeout: PATIENCE_MS,
    executablePath: CHROMIUM,
    args: [
      ...QUIET,
      `--host-resolver-rules=MAP secure.example 127.0.0.1:${securePort}, MAP * 127.0.0.1:${port}`,
    ],
  });
}

export interface Visit {
  readonly page: Page;
  /** URLs that were asked for. */
  readonly requested: readonly string[];
  /** Messages on the console: errors of scripts, what the policy of the page refused. */
  readonly complaints: readonly string[];
  /** Dialogs that a script opened. */
  readonly dialogs: readonly string[];
}

/** Opens a URL as a visitor with this screen and language does. */
export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const requested: string[] = [];
  const complaints: string[] = [];
  const dialogs: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(url);
  return { page, requested, complaints, dialogs };
}

/**
 * What axe-core finds wrong with a page by WCAG 2.2 A and AA and its best practices. The page runs no scripts, so
 * what it holds is looked at in another page that does, on the same screen.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const content = await page.content();
  const matches = (query: string): Promise<boolean> =>
    inPage(page, `matchMedia('${query}').matches`);
  const isDark = await matches('(prefers-color-scheme: dark)');
  const isForced = await matches('(forced-colors: active)');
  const context = await page
    .context()
    .browser()!
    .newContext({
      viewport: page.viewportSize(),
      colorScheme: isDark ? 'dark' : 'light',
      forcedColors: isForced ? 'active' : 'none',
    });
  const copy = await context.newPage();
  await copy.setContent(content);
  await copy.evaluate(axe.source);
  const results = await inPage<AxeResults>(copy, `axe.run(${JSON.stringify({ runOnly: RULES })})`);
  await context.close();
  return results.violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
}

/** The value of an expression in the page. */
export function inPage<T>(page: Page, expression: string): Promise<T> {
  return page.evaluate(expression);
}

/** The value of a property of the element that a selector finds, such as `naturalWidth`. */
export function propertyOf<T>(page: Page, selector: string, property: string): Promise<T> {
  return inPage(page, `document.querySelector('${selector}').${property}`);
}

/** The computed value of a CSS property of the element that a selector finds. */
export function styleOf(page: Page, selector: string, property: string): Promise<string> {
  return inPage(page, `getComputedStyle(document.querySelector('${selector}')).${property}`);
}

const CAPTURES = 3;

/** Keeps a screenshot and answers its pixels. On a busy machine Chromium may fail to capture one, so it tries again. */
export async function screenshot(page: Page, name: string): Promise<Buffer> {
  for (let left = CAPTURES - 1; ; left--) {
    try {
      return await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
    } catch (error) {
      if (left === 0 || !String(error).includes('Unable to capture screenshot')) throw error;
    }
  }
}
