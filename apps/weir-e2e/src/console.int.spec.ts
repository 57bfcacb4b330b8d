import { needs } from '@weir/ops/testing';
import { Deployment } from '@weir/tools/deployment/deployment';
import type { ManagementClient } from '@weir/tools/deployment/management-client';
import axe, { type AxeResults } from 'axe-core';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inPage, openBrowser, type Visit, visit } from '../../block-page/src/testing/browser.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** To be looked at; docs/console has those of a release. */
const SCREENSHOTS = join(tmpdir(), 'weir-console-screenshots');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const SCOPES = ['read', 'write', 'replace'] as const;
type Scope = (typeof SCOPES)[number];
const tokenOf = (scope: string): string => `token-of-scope-${scope}`;
const DESKTOP = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true };

/** Fewer than 2 of 2 while the machine stands still; so are the proofs of orders. */
const IN_FORCE = /In force on [0-2]\/2 resolvers/;

const folder = mkdtempSync(join(tmpdir(), 'weir-console-'));
const tokensFile = join(folder, 'tokens.yaml');
const catalogue = join(folder, 'lists');

/** A list of so many names. */
function writeBets(count: number): void {
  const names = Array.from({ length: count }, (_, i) => `n${i}.example.net\n`);
  writeFileSync(join(catalogue, 'bets.txt'), names.join(''));
}

function writeCatalogue(): void {
  mkdirSync(catalogue);
  writeBets(10);
  const bets = { file: 'bets.txt', format: 'domains', licence: 'MIT', commercial_use: true };
  const definition = { categories: [{ id: 12, name: 'Gambling', sources: [bets] }] };
  writeFileSync(join(catalogue, 'catalogue.yaml'), JSON.stringify(definition));
}

function writeTokens(scopes: readonly string[]): void {
  const entries = scopes.map((scope) => ({
    name: `${scope}-desk`,
    sha256: createHash('sha256').update(tokenOf(scope)).digest('hex'),
    scope,
  }));
  writeFileSync(tokensFile, JSON.stringify(entries));
}

describe('the console in a browser', needs('chromium'), () => {
  let deployment: Deployment;
  let api: ManagementClient;
  let origin: string;
  let browser: Browser;
  const visits: Visit[] = [];

  beforeAll(async () => {
    mkdirSync(SCREENSHOTS, { recursive: true });
    writeTokens(SCOPES);
    writeCatalogue();
    deployment = await Deployment.create({
      ...{ root, folder, replicas: 1, resolvers: 2, fsync: false },
      replicaVariables: () => ({
        MANAGEMENT_TOKENS_FILE: tokensFile,
        CATALOGUE: catalogue,
        MISSING_RESOLVER_S: '86400',
        SCHEDULE_TIMEZONE: 'Europe/Berlin',
      }),
    });
    await deployment.start();
    [api] = deployment.clients;
    origin = `http://127.0.0.1:${deployment.managementPorts[0]}`;
    browser = await openBrowser(deployment.managementPorts[0]);
    await api.change('POST', '/profiles/', { profile: { id: 7 } });
    await api.change('POST', '/net/', { ip: '192.0.2.0', prefix_len: 24, profile_id: 7 });
    await api.change('POST', '/orders/', {
      ...{ id: 1, domain: 'ordered.example', authority: 'Court of Example', reference: '1 O 2/26' },
    });
  });
  afterAll(async () => {
    await browser.close();
    await deployment.stop();
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    await api.change('POST', '/profile/7/bw_list', { type: 'deny', domain: 'blocked.example' });
  });
  afterEach(async () => {
    for (const { page, requested, complaints } of visits.splice(0)) {
      // Nothing leaves the console's origin, no address has a token, and the policy of the page forbade nothing.
      expect(requested.filter((url) => !url.startsWith(`${origin}/`))).toEqual([]);
      expect(requested.filter((url) => url.includes('token-of'))).toEqual([]);
      expect(complaints.filter((text) => !isExpected(text))).toEqual([]);
      await page.context().close();
    }
  });

  /** What the browser notes of a call that was refused, or did not reach the control plane. */
  const isExpected = (text: string): boolean => /Failed to load resource: /.test(text);

  async function open(path: string, options: BrowserContextOptions = DESKTOP): Promise<Page> {
    const one = await visit(browser, `${origin}/console/${path}`, { locale: 'en-GB', ...options });
    visits.push(one);
    return one.page;
  }

  async function signIn(page: Page, scope: string): Promise<void> {
    await page.getByLabel(/^Token/).fill(tokenOf(scope));
    await page.getByRole('button', { name: /^(Sign in|Anmelden)$/ }).click();
  }

  async function openAs(
    scope: Scope,
    path: string,
    options?: BrowserContextOptions,
  ): Promise<Page> {
    const page = await open(path, options);
    await signIn(page, scope);
    await page.getByRole('navigation').waitFor();
    return page;
  }

  async function faultsOf(page: Page): Promise<string[]> {
    await page.evaluate(axe.source);
    const run = `axe.run(${JSON.stringify({ runOnly: RULES })})`;
    const { violations } = await inPage<AxeResults>(page, run);
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
  }

  async function explain(page: Page, domain: string): Promise<void> {
    await page.getByLabel('Client address').fill('192.0.2.1');
    await page.getByLabel('Domain').fill(domain);
    await page.getByRole('button', { name: 'Explain' }).click();
  }

  it('shows a stranger a sign-in, and says when a token is not accepted', async () => {
    for (const path of ['', 'resolvers', 'explain#client=192.0.2.1&domain=blocked.example']) {
      const page = await open(path);
      await page.getByLabel('Token').waitFor();
      expect(await page.getByRole('navigation').count()).toBe(0);
      expect(await page.locator('main').textContent()).not.toContain('blocked');
    }
    const page = await open('');
    await signIn(page, 'nobody');
    await page.getByText('The token is not accepted.').waitFor();
    expect(await inPage(page, 'sessionStorage.length')).toBe(0);
  });

  it('keeps the token for its tab: through a reload, and not in another tab', async () => {
    const page = await openAs('read', 'resolvers');
    await page.reload();
    await page.getByRole('navigation').waitFor();
    const other = await page.context().newPage();
    await other.goto(`${origin}/console/resolvers`);
    await other.getByLabel('Token').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    expect(await inPage(page, 'sessionStorage.length')).toBe(0);
  });

  it('explains why a name is blocked, since when and by whom, and turns that over', async () => {
    const page = await openAs('write', '');
    await explain(page, 'www.blocked.example');
    await page.getByText('www.blocked.example is blocked.').waitFor();
    const decided = page.locator('[aria-current=step]');
    expect(await decided.textContent()).toContain('Allow and deny list');
    expect(await decided.textContent()).toContain('blocked.example');
    await page.getByText('POST /profile/:profile_id/bw_list').waitFor();
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByText('www.blocked.example is let through.').waitFor();
    await page.getByText(IN_FORCE).waitFor();
  });

  it('lets a name through for 30 minutes', async () => {
    const page = await openAs('write', 'explain#client=192.0.2.1&domain=blocked.example');
    await page.getByRole('button', { name: 'Allow for 30 minutes' }).click();
    await page.getByText('blocked.example is let through.').waitFor();
    expect(await page.locator('[aria-current=step]').textContent()).toContain('Grant');
    const grants = JSON.parse((await api.change('GET', '/profile/7/grants', undefined)).text) as {
      id: number;
    }[];
    expect(grants).toHaveLength(1);
    await api.change('DELETE', `/profile/7/grants/${grants[0].id}`, undefined);
  });

  it('offers what the scope of the token allows, and says why something is refused', async () => {
    const page = await openAs('read', 'explain#client=192.0.2.1&domain=blocked.example');
    await page.getByText('blocked.example is blocked.').waitFor();
    expect(await page.getByRole('button', { name: /^Allow/ }).count()).toBe(0);
    await explain(page, 'not a name');
    await page.getByText('Something in this form is not right.').waitFor();
    await page.getByText(/query\.domain: /).waitFor();
  });

  it('shows resolvers as they change, and goes on after the control plane was restarted', async () => {
    const page = await openAs('read', 'resolvers');
    await page.getByText('2 of 2 resolvers are up to date.').waitFor();
    const revision = page.locator('tbody tr td').nth(1);
    const before = await revision.textContent();
    await api.change('POST', '/profile/7/bw_list', { type: 'deny', domain: 'more.example' });
    await expect.poll(() => revision.textContent()).not.toBe(before);
    await deployment.replicas[0].terminate();
    await page.getByText('The control plane cannot be reached.').waitFor();
    await deployment.replicas[0].start();
    await page.getByText('2 of 2 resolvers are up to date.').waitFor();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  });

  it('asks for a token again when that of the tab was withdrawn meanwhile, and goes on where it was', async () => {
    const page = await openAs('read', 'resolvers');
    await page.getByRole('table', { name: 'Resolvers' }).waitFor();
    writeTokens(['write', 'replace']);
    await page.getByText('The token is no longer accepted').waitFor();
    expect(await page.getByRole('table', { name: 'Resolvers' }).count()).toBe(0);
    writeTokens(SCOPES);
    const headers = { Authorization: `Bearer ${tokenOf('read')}` };
    await expect.poll(async () => (await fetch(`${origin}/token/`, { headers })).status).toBe(200);
    await signIn(page, 'read');
    await page.getByRole('table', { name: 'Resolvers' }).waitFor();
  });

  it('speaks English and German, and remembers the choice', async () => {
    const german = await openAs('read', 'resolvers', { ...DESKTOP, locale: 'de-AT' });
    await german.getByText('2 von 2 Resolvern sind auf dem aktuellen Stand.').waitFor();
    expect(await german.getAttribute('html', 'lang')).toBe('de');
    await german.getByLabel('Sprache').selectOption('en');
    await german.reload();
    await german.getByText('2 of 2 resolvers are up to date.').waitFor();
  });

  it('shows a profile: its week, what it blocks, who has it, its grants and changes', async () => {
    await api.change('POST', '/profiles/', { profile: { id: 8 } });
    await api.change('POST', '/profile/7/schedule', {
      target_profile_id: 8,
      periods: [
        { start: { day: 'monday', time: '20:00' }, end: { day: 'tuesday', time: '06:00' } },
      ],
    });
    const page = await openAs('write', 'profiles');
    await page.getByLabel('Profile id').fill('7');
    await page.getByRole('button', { name: 'Show' }).click();
    const week = page.getByRole('table', { name: 'Which profile is active when' });
    await week.getByRole('link', { name: 'Profile 8' }).first().waitFor();
    await page.getByRole('link', { name: '192.0.2.0/24' }).first().waitFor();
    await page.getByLabel('Domain of a new grant').fill('granted.example');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText(IN_FORCE).waitFor();
    const grants = page.getByRole('table', { name: 'Grants' });
    // The name is stored as a hash, and the page does not pretend to know it.
    expect(await grants.textContent()).toMatch(/Hash \d+/);
    await grants.getByRole('button', { name: 'End' }).click();
    await expect.poll(() => grants.count()).toBe(0);
    await page.getByText('POST /profile/:profile_id/grants').first().waitFor();
    await api.change('DELETE', '/profile/7/schedule', undefined);
  });

  it('shows changes as they come, those of one profile, and where they lead to', async () => {
    const page = await openAs('read', 'changes');
    await page.getByText('As they come').waitFor();
    const rows = page.locator('tbody tr');
    await expect.poll(() => rows.count()).toBeGreaterThan(0);
    await api.change('POST', '/profiles/', { profile: { id: 9 } });
    await rows.getByRole('link', { name: 'Profile 9' }).first().waitFor();
    await page.getByLabel('Profile', { exact: true }).fill('7');
    await page.getByRole('button', { name: 'Filter' }).click();
    await expect.poll(() => page.getByRole('link', { name: 'Profile 9' }).count()).toBe(0);
    await page.getByRole('link', { name: '192.0.2.0/24' }).first().click();
    await expect.poll(() => page.getByLabel('Client address').inputValue()).toBe('192.0.2.0');
  });

  it('shows since when each order is in force on how many resolvers, adds one, exports it, and ends it', async () => {
    const page = await openAs('write', 'orders');
    const rows = page.locator('tbody tr');
    await rows.getByText(/^On [0-2] of [0-2] resolvers, as revision \d+$/).waitFor();
    const entries = {
      ...{ Id: '12', Domain: 'more-ordered.example', Authority: 'Example "Agency"' },
      ...{ Reference: '12 O 345/26', Until: '2099-12-31T23:59' },
    };
    for (const [label, text] of Object.entries(entries))
      await page.getByLabel(label, { exact: true }).fill(text);
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText(IN_FORCE).waitFor();
    await page.getByLabel('Find in').fill('12 o 345');
    await page.getByText('1 of 2 orders are shown.').waitFor();
    await expect
      .poll(() => rows.textContent())
      .toMatch(/^12Set.*Hash \d+.*On [0-2] of [0-2] resolvers, as revision \d/);
    const until = rows.locator('time').first();
    expect(await until.getAttribute('datetime')).toBe('2099-12-31T22:59:00Z');
    const exported = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export as CSV' }).click();
    const file = readFileSync(await (await exported).path(), 'utf8');
    expect(file.split('\r\n')[1]).toMatch(
      /^"12","\d+","Example ""Agency""","12 O 345\/26","2099-12-31T22:59:00Z","20[^"]+Z","2","2","\d+"$/,
    );
    await rows.getByRole('button', { name: 'End' }).click();
    await rows.getByRole('button', { name: 'End order 12 now' }).click();
    await page.getByText('0 of 1 orders are shown.').waitFor();
    const reader = await openAs('read', 'orders');
    await reader.getByText('1 of 1 orders are shown.').waitFor();
    expect(await reader.getByRole('button', { name: /^(Add|End)$/ }).count()).toBe(0);
  });

  it('shows how each list is, accepts one that is held back, and finds the lists that have a name', async () => {
    const page = await openAs('write', 'catalogue');
    const bets = page.getByRole('row', { name: /^bets\.txt/ });
    await bets.getByText('Good').waitFor();
    expect(await bets.textContent()).toMatch(/Gambling \(category 12\).*10.*MIT.*Allowed.*20/);
    writeBets(41);
    await page.getByText('lists 41 domains, more than four times the 10 before').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    const reader = await openAs('read', 'catalogue');
    await reader.getByText('Held back').waitFor();
    expect(await reader.getByRole('button', { name: 'Accept' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Accept' }).click();
    await page.getByText('bets.txt is accepted.').waitFor();
    await bets.getByText('Good').waitFor();
    await bets.getByText('41', { exact: true }).waitFor();
    await page.getByLabel('Domain', { exact: true }).fill('www.n40.example.net');
    await page.getByRole('button', { name: 'Search' }).click();
    const found = page.getByRole('table', { name: /^Lists that have www\.n40/ }).locator('tbody');
    expect(await found.textContent()).toMatch(
      /^Gambling \(category 12\)bets\.txtn40\.example\.net41/,
    );
    await page.getByLabel('Domain', { exact: true }).fill('n41.example.net');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('No list has n41.example.net, nor a name above it.').waitFor();
  });

  const PAGES: Record<string, string> = {
    explain: 'explain#client=192.0.2.1&domain=blocked.example',
    resolvers: 'resolvers',
    profile: 'profiles/7',
    changes: 'changes',
    orders: 'orders',
    catalogue: 'catalogue#domain=n1.example.net',
  };

  it('is usable with the keyboard alone', async () => {
    const page = await openAs('write', 'resolvers');
    await page.reload();
    await page.getByRole('navigation').waitFor();
    await page.keyboard.press('Tab');
    expect(await inPage(page, 'document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByLabel('Client address').waitFor();
    await expect.poll(() => inPage(page, 'document.activeElement.tagName')).toBe('H1');
    await page.keyboard.press('Tab');
    await page.keyboard.type('192.0.2.1');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.type('blocked.example');
    await page.keyboard.press('Enter');
    await page.getByText('blocked.example is blocked.').waitFor();
  });

  it.each(Object.entries(PAGES))(
    '%s is accessible, in each appearance, and fits, on each screen',
    async (name, path) => {
      const screens = [
        ['desktop', DESKTOP, 'light'],
        ['phone', PHONE, 'dark'],
      ] as const;
      for (const [screen, options, judged] of screens) {
        const page = await openAs('replace', path, options);
        await page.locator('main section, main table').first().waitFor();
        await expect.poll(() => page.getByText('Loading …').count()).toBe(0);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const shown = `${name}-${screen}-${colorScheme}`;
          await page.screenshot({ path: join(SCREENSHOTS, `${shown}.png`) });
          if (colorScheme === judged) expect([shown, await faultsOf(page)]).toEqual([shown, []]);
        }
        const overflow =
          'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        expect([name, screen, await inPage(page, overflow)]).toEqual([name, screen, 0]);
      }
    },
  );
});
