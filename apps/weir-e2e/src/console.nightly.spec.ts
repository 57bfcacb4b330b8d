import { needs } from '@weir/ops/testing';
import type { Deployment } from '@weir/tools/deployment/deployment';
import type { ManagementClient } from '@weir/tools/deployment/management-client';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inPage } from '../../block-page/src/testing/browser.js';
import {
  ConsoleStack,
  DESKTOP,
  faultsOf,
  fill,
  IN_FORCE,
  PHONE,
  SCREENSHOTS,
  tokenOf,
} from './testing/console-stack.js';

/** How many streams of changes one token may have open. */
const CALLS_AT_ONCE = 16;
const MANY_ORDERS = 310;

/** How many pixels of the chart are dark, once what has changed is drawn. */
const DARK_PIXELS = `(async () => {
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  const chart = document.querySelector('.chart canvas');
  const { width, height } = chart;
  const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(chart, 0, 0);
  const { data } = copy.getImageData(0, 0, width, height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] > 200 && Math.max(data[i], data[i + 1], data[i + 2]) < 100) count++;
  }
  return count;
})()`;

/** Writes a list of this many names. */
function writeBets(catalogue: string, count: number): void {
  const names = Array.from({ length: count }, (_, i) => `n${i}.example.net\n`);
  writeFileSync(join(catalogue, 'bets.txt'), names.join(''));
}

function writeCatalogue(catalogue: string): void {
  mkdirSync(catalogue);
  writeBets(catalogue, 10);
  const bets = { file: 'bets.txt', format: 'domains', licence: 'MIT', commercial_use: true };
  const definition = { categories: [{ id: 12, name: 'Gambling', sources: [bets] }] };
  writeFileSync(join(catalogue, 'catalogue.yaml'), JSON.stringify(definition));
}

describe('the console in a browser', needs('chromium-headless-shell'), () => {
  let stack: ConsoleStack;
  let deployment: Deployment;
  let api: ManagementClient;
  let catalogue: string;

  beforeAll(async () => {
    stack = await ConsoleStack.start((folder) => {
      catalogue = join(folder, 'lists');
      writeCatalogue(catalogue);
      return {
        CATALOGUE: catalogue,
        CATALOGUE_INTERVAL_MS: '2000',
        MANAGEMENT_CALLS_AT_ONCE: String(CALLS_AT_ONCE),
      };
    });
    ({ api, deployment } = stack);
    await api.change('POST', '/profiles/', { profile: { id: 7 } });
    await api.change('POST', '/net/', { ip: '192.0.2.0', prefix_len: 24, profile_id: 7 });
    await api.change('POST', '/orders/', {
      ...{ id: 1, domain: 'ordered.example', authority: 'Court of Example', reference: '1 O 2/26' },
    });
  });
  afterAll(() => stack.stop());
  beforeEach(async () => {
    await api.change('POST', '/profile/7/bw_list', { type: 'deny', domain: 'blocked.example' });
  });
  afterEach(() => stack.closePages());

  /** How many names the list has. */
  async function namesNow(): Promise<number> {
    const { text } = await api.change('GET', '/catalogue/', undefined);
    return (JSON.parse(text) as { sources: { names: number }[] }).sources[0].names;
  }

  async function find(page: Page, text: string): Promise<void> {
    await page.getByLabel('ID, authority or reference').fill(text);
    await page.getByRole('button', { name: 'Find' }).click();
  }

  /** The token ends, and the person signs in once more. */
  async function signInAgain(page: Page): Promise<void> {
    await page.route(/\/orders\/\?/, (route) => route.fulfill({ status: 401 }), { times: 1 });
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('The token write-desk is no longer accepted').waitFor();
    await stack.signIn(page, 'write');
  }

  /** Holds changes back until the function that it returns is called. */
  async function hold(page: Page, calls: RegExp): Promise<() => void> {
    let goOn!: () => void;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    await page.route(calls, async (route) => {
      if (route.request().method() !== 'GET') await held;
      await route.continue();
    });
    return goOn;
  }

  async function explain(page: Page, domain: string): Promise<void> {
    await page.getByLabel('Client address').fill('192.0.2.1');
    await page.getByLabel('Domain').fill(domain);
    await page.getByRole('button', { name: 'Explain' }).click();
  }

  it('shows a stranger a sign-in, and says when a token is not accepted', async () => {
    for (const path of ['', 'resolvers', 'explain#client=192.0.2.1&domain=blocked.example']) {
      const page = await stack.open(path);
      await page.getByLabel('Token').waitFor();
      expect(await page.getByRole('navigation').count()).toBe(0);
      expect(await page.locator('main').textContent()).not.toContain('blocked');
    }
    for (const scope of ['nobody', 'no…']) {
      const page = await stack.open('');
      await stack.signIn(page, scope);
      await page.getByText('The token is not accepted.').waitFor();
      expect(await inPage(page, 'sessionStorage.length')).toBe(0);
    }
  });

  it('keeps the token for its tab: through a reload, and not in another tab', async () => {
    const page = await stack.openAs('read', 'resolvers');
    await page.reload();
    await page.getByRole('navigation').waitFor();
    const other = await page.context().newPage();
    await other.goto(`${stack.origin}/console/resolvers`);
    await other.getByLabel('Token').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    expect(await inPage(page, 'sessionStorage.length')).toBe(0);
  });

  it('explains why a name is blocked, since when and by whom, and turns that over', async () => {
    const page = await stack.openAs('write', '');
    await explain(page, 'www.blocked.example');
    await page.getByText('www.blocked.example is blocked.').waitFor();
    const decided = page.locator('[aria-current=step]');
    expect(await decided.textContent()).toContain('Allow and deny list');
    expect(await decided.textContent()).toContain('blocked.example');
    await page.getByText('POST /profile/:profile_id/bw_list').waitFor();
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByText('www.blocked.example is allowed.').waitFor();
    await page.getByText(IN_FORCE).waitFor();
  });

  it('answers a question that is asked again by what is in force now, and Back leads to the page before', async () => {
    await api.change('POST', '/profiles/', { profile: { id: 10 } });
    const page = await stack.openAs('read', 'profiles/10');
    await page.getByRole('heading', { name: 'What it blocks' }).waitFor();
    expect(await page.getByText('Only what a rule allows').count()).toBe(0);
    await api.change('PATCH', '/profiles/10', { profile: { id: 10, white_list_only: true } });
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('Only what a rule allows').waitFor();
    await page.getByRole('link', { name: 'Catalogue' }).click();
    await page.getByLabel('Domain', { exact: true }).fill('n1.example.net');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('table', { name: /^Lists that have n1\.example\.net/ }).waitFor();
    const searched = page.waitForRequest(/\/catalogue\/search\//);
    await page.getByRole('button', { name: 'Search' }).click();
    await searched;
    await page.getByRole('link', { name: 'Why?' }).click();
    await explain(page, 'asked-again.example');
    await page.getByText('asked-again.example is allowed.').waitFor();
    await api.change('POST', '/profile/7/bw_list', { type: 'deny', domain: 'asked-again.example' });
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('asked-again.example is blocked.').waitFor();
    for (const path of ['explain', 'catalogue#domain=n1.example.net', 'catalogue', 'profiles/10']) {
      await page.goBack();
      expect(page.url()).toBe(`${stack.origin}/console/${path}`);
    }
  });

  it('shows what became of an action only where the question is that of the action', async () => {
    const domains = ['first.asked.example', 'second.asked.example', 'third.asked.example'] as const;
    await api.change('POST', '/profile/7/bw_list', { type: 'deny', domain: 'asked.example' });
    const page = await stack.openAs('write', '');
    const calls = /\/profile\/7\/bw_list/;
    const allow = page.getByRole('button', { name: 'Allow', exact: true });
    const ask = async (domain: string) => {
      await explain(page, domain);
      await page.getByText(`${domain} is blocked.`).waitFor();
    };
    await ask(domains[0]);
    await page.context().setOffline(true);
    await allow.click();
    await page.getByText('The control plane cannot be reached.').waitFor();
    await inPage(page, 'new Promise((resolve) => setTimeout(resolve, 100))');
    expect(await page.getByText('It is not known whether this was done.').count()).toBe(1);
    await page.context().setOffline(false);
    await ask(domains[1]);
    expect(await page.getByRole('alert').count()).toBe(0);
    const goOn = await hold(page, calls);
    await allow.click();
    await ask(domains[2]);
    expect(await allow.isEnabled()).toBe(true);
    const changed = page.waitForResponse(calls);
    goOn();
    await changed;
    await inPage(page, 'new Promise((resolve) => setTimeout(resolve, 100))');
    expect(await page.getByText(IN_FORCE).count()).toBe(0);
    await explain(page, domains[1]);
    await page.getByText(`${domains[1]} is allowed.`).waitFor();
  });

  it.each([
    [502, '<h1>502 Bad Gateway</h1>'],
    [503, '{"detail":{"reason":"reset"}}'],
  ])(
    'says that the outcome is not known when a proxy answers a change: %s',
    async (status, body) => {
      const page = await stack.openAs('write', 'explain#client=192.0.2.1&domain=blocked.example');
      await page.route(/\/profile\/7\/bw_list/, (route) => route.fulfill({ status, body }));
      await page.getByRole('button', { name: 'Allow', exact: true }).click();
      await page.getByText('It is not known whether this was done.').waitFor();
      await page.route(/\/explain\//, (route) => route.fulfill({ status: 504, body: '' }));
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText('It is not known whether this was done.').waitFor({ state: 'detached' });
      await page.getByText('The control plane cannot be reached.').waitFor();
    },
  );

  it.each([
    ['203.0.113.9', 'blocked.example'],
    ['192.0.2.1', 'localhost'],
  ])('offers no change where none is possible: %s, %s', async (client, domain) => {
    const page = await stack.openAs('write', `explain#client=${client}&domain=${domain}`);
    await page.getByRole('heading', { name: 'Answer' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Change this' }).count()).toBe(0);
  });

  it('lets a name through for 30 minutes', async () => {
    const page = await stack.openAs('write', 'explain#client=192.0.2.1&domain=blocked.example');
    await page.getByRole('button', { name: 'Allow for 30 minutes' }).click();
    await page.getByText('blocked.example is allowed.').waitFor();
    expect(await page.locator('[aria-current=step]').textContent()).toContain('Grant');
    const grants = JSON.parse((await api.change('GET', '/profile/7/grants', undefined)).text) as {
      id: number;
    }[];
    expect(grants).toHaveLength(1);
    await page.getByText(/^The grant ends by itself:.*Time left: 0:[23]\d:\d\d$/).waitFor();
    await api.change('DELETE', `/profile/7/grants/${grants[0].id}`, undefined);
  });

  const PAGES: Record<string, string> = {
    explain: 'explain#client=192.0.2.1&domain=blocked.example',
    resolvers: 'resolvers',
    profile: 'profiles/7',
    changes: 'changes',
    orders: 'orders',
    catalogue: 'catalogue#domain=n1.example.net',
  };

  // Before the lists are long: what is wrong with a row is wrong with the first ones.
  it.each(Object.entries(PAGES))(
    '%s is accessible, in each appearance, and fits, on each screen',
    async (name, path) => {
      const screens = [
        ['desktop', DESKTOP, 'light'],
        ['phone', PHONE, 'dark'],
      ] as const;
      for (const [screen, options, judged] of screens) {
        const page = await stack.openAs('replace', path, options);
        await page.locator('main section, main table').first().waitFor();
        await expect.poll(() => page.getByText('Loading …').count()).toBe(0);
        // Nothing stands for its grants until they are there.
        if (name === 'profile') await page.getByText('None.', { exact: true }).waitFor();
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

  it('breaks what is long, and nothing lies over anything else', async () => {
    const long = `${['a', 'b', 'c'].map((one) => one.repeat(60)).join('.')}.example`;
    const ip = '2001:db8:aaaa:bbbb:cccc:dddd:eeee:0';
    await api.change('POST', '/net6/', { ip, prefix_len: 112, profile_id: 7 });
    const tooWide = `[...document.querySelectorAll('html, main *:not(.scroll *)')]
      .filter((one) => one.scrollWidth > one.clientWidth && one.clientWidth > 0)
      .filter((one) => !one.matches('.scroll, input, progress')).map((one) => one.outerHTML)`;
    const paths = ['profiles/7', `catalogue#domain=${long}`, `explain#client=${ip}&domain=${long}`];
    for (const options of [DESKTOP, PHONE])
      for (const path of paths) {
        const page = await stack.openAs('read', path, options);
        await page.locator('main section').first().waitFor();
        await expect.poll(() => page.getByText('Loading …').count()).toBe(0);
        expect([path, await inPage(page, tooWide)]).toEqual([path, []]);
      }
    await api.change('DELETE', `/net6/${ip}`, undefined);
  });

  it('shows on a phone a change in a few lines', async () => {
    const page = await stack.openAs('read', 'changes', PHONE);
    await page.locator('tbody tr').first().waitFor();
    const heights = `[...document.querySelectorAll('tbody tr')].map((one) => one.offsetHeight)`;
    expect(Math.max(...(await inPage<number[]>(page, heights)))).toBeLessThan(150);
  });

  it('counts a grant down, and shows at its end that it is gone, without a reload', async () => {
    const why = await stack.openAs('read', 'explain#client=192.0.2.1&domain=blocked.example');
    await why.getByText('blocked.example is blocked.').waitFor();
    const until = new Date(Date.now() + 45_000).toISOString();
    const grant = { domain: 'blocked.example', verdict: 'allow', until };
    await api.change('POST', '/profile/7/grants', grant);
    await why.reload();
    await why.getByText('blocked.example is allowed.').waitFor();
    const profile = await stack.openAs('read', 'profiles/7');
    const left = profile.getByRole('table', { name: 'Grants' }).locator('.remaining');
    for (const one of [why.locator('.remaining'), left]) {
      await one.waitFor();
      const before = await one.textContent();
      expect(before).toMatch(/^0:0[01]:[0-5]\d$/);
      await expect.poll(() => one.textContent()).not.toBe(before);
    }
    await expect.poll(() => left.count(), { timeout: 200_000 }).toBe(0);
    await why.getByText('blocked.example is blocked.').waitFor();
    expect(await why.locator('[aria-current=step]').textContent()).toContain('deny list');
  });

  it('offers what the scope of the token allows, and says why something is refused', async () => {
    const page = await stack.openAs('read', 'explain#client=192.0.2.1&domain=blocked.example');
    await page.getByText('blocked.example is blocked.').waitFor();
    expect(await page.getByRole('button', { name: /^Allow/ }).count()).toBe(0);
    await explain(page, 'not a name');
    await page.getByText('Something in this form is not right.').waitFor();
    await page.getByText(/query\.domain: /).waitFor();
  });

  it('shows resolvers as they change, and goes on after the control plane was restarted', async () => {
    const page = await stack.openAs('read', 'resolvers');
    await page.getByText('Resolvers up to date: 2 of 2.').waitFor();
    const revision = page.locator('tbody tr td').nth(1);
    const before = await revision.textContent();
    await api.change('POST', '/profile/7/bw_list', { type: 'deny', domain: 'more.example' });
    await expect.poll(() => revision.textContent()).not.toBe(before);
    await deployment.replicas[0].terminate();
    await page.getByText('The control plane cannot be reached.').waitFor();
    await deployment.replicas[0].start();
    await page.getByText('Resolvers up to date: 2 of 2.').waitFor();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  });

  it.each([
    ['en', 'Resolvers up to date: only 1 of 2.', '5 s, changes: 1'],
    ['de', 'Resolver auf dem aktuellen Stand: nur 1 von 2.', '5 s, Änderungen: 1'],
  ])('%s counts one as it counts more', async (locale, said, behind) => {
    const page = await stack.open('resolvers', { ...DESKTOP, locale });
    await page.route(/\/resolvers\/$/, async (route) => {
      const response = await route.fetch();
      const [first, ...others] = (await response.json()) as object[];
      const late = { ...first, state: 'catching_up', behind_seconds: 5, behind_revisions: 1 };
      await route.fulfill({ response, json: [late, ...others] });
    });
    await stack.signIn(page, 'read');
    await page.getByText(said, { exact: true }).waitFor();
    await page.getByText(behind, { exact: true }).waitFor();
  });

  it('labels its chart in the colour of the text, also when the appearance changes', async () => {
    const page = await stack.openAs('read', 'resolvers');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.locator('.chart canvas').waitFor();
    await expect.poll(() => inPage(page, DARK_PIXELS)).toBeGreaterThan(0);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await inPage(page, DARK_PIXELS)).toBe(0);
  });

  it('says why a call is refused whose scope the token has lost meanwhile', async () => {
    await stack.setGuest({ scope: 'write' });
    const page = await stack.openAs('guest', 'profiles/7');
    await stack.setGuest({ scope: 'read' });
    await fill(page, { 'Domain of a new grant': 'granted.example' });
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('This was refused. Nothing was changed.').waitFor();
    await page.getByText('This call needs a token with scope write').waitFor();
  });

  it('asks for a token again when that of the tab was withdrawn meanwhile, and goes on where it was', async () => {
    await stack.setGuest({ scope: 'read' });
    const page = await stack.openAs('guest', 'resolvers');
    await page.getByRole('table', { name: 'Resolvers' }).waitFor();
    await stack.setGuest(null);
    await page.getByText('The token guest-desk is no longer accepted: it was withdrawn').waitFor();
    expect(await page.getByRole('table', { name: 'Resolvers' }).count()).toBe(0);
    await stack.signIn(page, 'read');
    await page.getByRole('table', { name: 'Resolvers' }).waitFor();
  });

  it('works in a browser that keeps nothing for it', async () => {
    const page = await stack.open('orders');
    const content = `for (const kind of ['localStorage', 'sessionStorage'])
      Object.defineProperty(window, kind, { get() { throw new DOMException('denied', 'SecurityError') } });`;
    await page.addInitScript({ content });
    await page.reload();
    await stack.signIn(page, 'read');
    await page.getByRole('table', { name: 'Orders' }).waitFor();
    await page.getByRole('combobox', { name: 'Language' }).selectOption('Deutsch');
    await page.getByRole('heading', { name: 'Anordnungen' }).waitFor();
    await page.getByRole('button', { name: 'Abmelden' }).click();
    await page.getByRole('navigation').waitFor({ state: 'detached' });
  });

  it('says when its token has expired, and has what was not sent yet after another sign-in', async () => {
    const expires = new Date(Date.now() + 45_000).toISOString();
    await stack.setGuest({ scope: 'write', expires });
    const page = await stack.openAs('guest', 'orders');
    const entries = { ID: '31', Domain: 'unsent.example', Reference: 'not sent' };
    await fill(page, entries);
    // This page calls nothing meanwhile.
    await page.getByText('The token guest-desk is no longer accepted: it expired on').waitFor();
    expect(await page.locator('main').textContent()).toContain('(Europe/Berlin)');
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await inPage(page, 'sessionStorage.length')).toBe(0);
    await stack.signIn(page, 'write');
    await page.getByRole('table', { name: 'Orders' }).waitFor();
    for (const [label, text] of Object.entries(entries))
      expect(await page.getByLabel(label, { exact: true }).inputValue()).toBe(text);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await stack.signIn(page, 'write');
    await page.getByRole('table', { name: 'Orders' }).waitFor();
    expect(await page.getByLabel('Domain', { exact: true }).inputValue()).toBe('');
  });

  it('says after another sign-in that an end which was filled in partly is lost', async () => {
    const page = await stack.openAs('write', 'orders');
    const lost = page.getByText('Enter it again, or leave it empty for no end.');
    await page.getByRole('button', { name: 'Edit' }).first().click();
    await page.getByLabel('Until').focus();
    await page.keyboard.type('31122099');
    await signInAgain(page);
    await lost.waitFor();
    await page.getByLabel('Until').fill('2099-12-31T23:59');
    expect(await lost.count()).toBe(0);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'New order' }).waitFor();
    expect(await lost.count()).toBe(0);
  });

  it('shows after another sign-in the orders that its search form asks for', async () => {
    const page = await stack.openAs('write', 'orders');
    await page.getByLabel('State').selectOption('Ended');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('No order is found.').waitFor();
    await signInAgain(page);
    await page.getByText('No order is found.').waitFor();
    expect(await page.getByLabel('State').inputValue()).toBe('ended');
    // The form of a new order is empty, not filled in partly.
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('says that there are too many calls, and makes the call when there are fewer', async () => {
    const page = await stack.openAs('write', 'profiles/7');
    await page.getByRole('heading', { name: 'Grants' }).waitFor();
    await page.getByText('All changes of this profile').waitFor();
    const abort = new AbortController();
    const headers = { Authorization: `Bearer ${tokenOf('write')}`, Accept: 'text/event-stream' };
    const streams: Response[] = [];
    await expect
      .poll(async () => {
        streams.push(await fetch(`${stack.origin}/changes/`, { headers, signal: abort.signal }));
        return streams.at(-1);
      })
      .toMatchObject({ status: 429 });
    await fill(page, { 'Domain of a new grant': 'granted.example' });
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('There are too many calls with this token.').first().waitFor();
    abort.abort();
    await expect.poll(() => stack.tokenNow('write')).toMatchObject({ scope: 'write' });
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText(IN_FORCE).waitFor();
    await page.getByRole('button', { name: 'End' }).click();
    await expect.poll(() => page.getByRole('table', { name: 'Grants' }).count()).toBe(0);
  });

  it.each([
    ['read', 'orders', [], [/^Add$/, /^Edit$/, /^End$/]],
    ['write', 'orders', [/^Add$/, /^Edit$/, /^End$/], []],
    ['replace', 'orders', [/^Add$/, /^Edit$/, /^End$/], []],
    ['read', 'profiles/7', [], [/^Add$/]],
    ['write', 'profiles/7', [/^Add$/], []],
    ['read', 'explain#client=192.0.2.1&domain=blocked.example', [], [/^Allow/]],
    ['replace', 'explain#client=192.0.2.1&domain=blocked.example', [/^Allow$/, /^Allow for/], []],
  ] as const)('scope %s on %s is offered what it allows', async (scope, path, offered, missing) => {
    const page = await stack.openAs(scope, path);
    await page.locator('main section').first().waitFor();
    await expect.poll(() => page.getByText('Loading …').count()).toBe(0);
    const buttons = page.locator('main').getByRole('button');
    const count = (name: RegExp) => buttons.filter({ hasText: name }).count();
    for (const name of offered) await expect.poll(() => count(name)).toBeGreaterThan(0);
    for (const name of missing) expect(await count(name)).toBe(0);
  });

  it.each([
    ['en', '31 Dec 2099, 23:59:00', 'All times are in the time zone Europe/Berlin.'],
    ['de', '31.12.2099, 23:59:00', 'Alle Zeiten in der Zeitzone Europe/Berlin.'],
  ])(
    '%s shows times as people there write them, and whose they are',
    async (locale, time, zone) => {
      const until = '2099-12-31T22:59:00Z';
      await api.change('POST', '/orders/', {
        ...{
          id: 41,
          domain: 'timed.example',
          authority: 'Court of Example',
          reference: '4 O 1/26',
        },
        until,
      });
      // The clock of the browser has another zone.
      const page = await stack.openAs('read', 'orders', {
        ...DESKTOP,
        locale,
        timezoneId: 'Asia/Tokyo',
      });
      const shown = page.locator(`time[datetime="${until}"]`);
      await shown.waitFor();
      expect(await shown.textContent()).toBe(time);
      await page.getByText(zone).waitFor();
      await api.change('DELETE', '/orders/41', undefined);
    },
  );

  it('speaks English and German, and remembers the choice', async () => {
    const german = await stack.openAs('read', 'resolvers', { ...DESKTOP, locale: 'de-AT' });
    await german.getByText('Resolver auf dem aktuellen Stand: 2 von 2.').waitFor();
    expect(await german.getAttribute('html', 'lang')).toBe('de');
    await german.getByLabel('Sprache').selectOption('en');
    await german.reload();
    await german.getByText('Resolvers up to date: 2 of 2.').waitFor();
  });

  it('shows a profile: its week, what it blocks, who has it, its grants and changes', async () => {
    for (const id of [8, 18]) await api.change('POST', '/profiles/', { profile: { id } });
    await api.change('POST', '/net/', { ip: '198.51.100.0', prefix_len: 24, profile_id: 18 });
    await api.change('POST', '/profile/18/schedule', {
      target_profile_id: 8,
      periods: [
        { start: { day: 'monday', time: '20:00' }, end: { day: 'tuesday', time: '06:00' } },
      ],
    });
    const page = await stack.openAs('write', 'profiles');
    await page.getByLabel('Profile ID').fill('18');
    await page.getByRole('button', { name: 'Show' }).click();
    const week = page.getByRole('table', { name: 'Which profile is active when' });
    await week.getByRole('link', { name: 'Profile 8' }).first().waitFor();
    await page.getByRole('link', { name: '198.51.100.0/24' }).first().waitFor();
    await page.getByLabel('Domain of a new grant').fill('granted.example');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText(IN_FORCE).waitFor();
    const grants = page.getByRole('table', { name: 'Grants' });
    // The name is stored as a hash, and the page does not pretend to know it.
    expect(await grants.textContent()).toMatch(/Hash \d+/);
    // The changes of the page itself are among those of the profile, without a reload.
    await page.getByText('POST /profile/:profile_id/grants').waitFor();
    await grants.getByRole('button', { name: 'End' }).click();
    await expect.poll(() => grants.count()).toBe(0);
    await page.getByText('DELETE /profile/:profile_id/grants/:id').waitFor();
  });

  it.each(['nowhere', 'profiles/%E0%A4%A', 'init/foo', 'orders/7'])(
    'says that %s is no page',
    async (path) => {
      const page = await stack.openAs('read', path);
      await page.getByRole('heading', { name: 'There is no such page', level: 1 }).waitFor();
      await expect.poll(() => page.title()).toBe('There is no such page – Weir');
      await page.getByRole('link', { name: 'Why?' }).click();
      await page.getByLabel('Client address').waitFor();
    },
  );

  it('says that what was entered is no number of a profile', async () => {
    const page = await stack.openAs('read', 'profiles');
    await page.getByLabel('Profile ID').fill('192.0.2.1');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('alert').getByText('Something in this form is not right.').waitFor();
  });

  it('adds a grant with the Enter key', async () => {
    const page = await stack.openAs('write', 'profiles/7');
    await fill(page, { 'Domain of a new grant': 'granted.example' });
    await page.keyboard.press('Enter');
    await page.getByText(IN_FORCE).waitFor();
    await page.getByRole('button', { name: 'End' }).click();
    await expect.poll(() => page.getByRole('table', { name: 'Grants' }).count()).toBe(0);
  });

  it('shows changes as they come, those of one profile, and where they lead to', async () => {
    const page = await stack.openAs('read', 'changes');
    await page.getByText('Live', { exact: true }).waitFor();
    const rows = page.locator('tbody tr');
    await expect.poll(() => rows.count()).toBeGreaterThan(0);
    await api.change('POST', '/profiles/', { profile: { id: 9 } });
    await rows.getByRole('link', { name: 'Profile 9' }).first().waitFor();
    const domains = Array.from({ length: 103 }, (_, i) => `b${i}.example`);
    await api.change('POST', '/profile/9/bw_list/batch', { type: 'deny', domains });
    await rows.getByText('and 3 more', { exact: true }).waitFor();
    await page.getByLabel('Profile', { exact: true }).fill('7');
    await page.getByRole('button', { name: 'Filter' }).click();
    await expect.poll(() => page.getByRole('link', { name: 'Profile 9' }).count()).toBe(0);
    await page.getByRole('link', { name: '192.0.2.0/24' }).first().click();
    await expect.poll(() => page.getByLabel('Client address').inputValue()).toBe('192.0.2.0');
  });

  it('shows what is wrong with a filter of changes, and does not seem to connect', async () => {
    const page = await stack.openAs('read', 'changes');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByLabel('Profile', { exact: true }).fill('none');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByText('Connecting …').count()).toBe(0);
  });

  it('says that there is no change, in place of the head of a table', async () => {
    const page = await stack.openAs('read', 'changes#token=nobody');
    await page.getByText('No change is found.').waitFor();
    expect(await page.getByRole('table').count()).toBe(0);
  });

  it.each([
    ['profiles/99', 404, 0],
    ['catalogue#domain=not%20a%20name', 422, 0],
    ['catalogue#domain=n1.example.net', 503, 1],
  ])('offers to try again only where that may help: %s, %s', async (path, status, offered) => {
    const page = await stack.open(path);
    if (status === 503)
      await page.route(/\/catalogue\/search\//, (route) => route.fulfill({ status }));
    await stack.signIn(page, 'read');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(offered);
  });

  it('shows no lists of the name before when those of another one cannot be read', async () => {
    const page = await stack.openAs('read', 'catalogue#domain=n1.example.net');
    const found = page.getByRole('table', { name: /^Lists that have/ });
    await found.waitFor();
    await page.route(/\/catalogue\/search\//, (route) => route.abort());
    await page.getByLabel('Domain', { exact: true }).fill('other.example');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('The control plane cannot be reached.').waitFor();
    expect(await found.count()).toBe(0);
  });

  it('shows the changes that were made while the control plane was restarted', async () => {
    const page = await stack.openAs('read', 'changes');
    await page.getByText('Live', { exact: true }).waitFor();
    await deployment.replicas[0].terminate();
    await page.getByText('The control plane cannot be reached.').waitFor();
    await page.getByText('Connecting …').waitFor();
    await deployment.replicas[0].start();
    await api.change('POST', '/profiles/', { profile: { id: 21 } });
    await page.locator('tbody').getByRole('link', { name: 'Profile 21' }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    // None is shown twice.
    const revisions = await page.locator('tbody td.number').allTextContents();
    expect(revisions).toEqual([...new Set(revisions)]);
  });

  it('shows since when each order is in force on how many resolvers, adds one, exports it, and ends it', async () => {
    const page = await stack.openAs('write', 'orders');
    const rows = page.locator('tbody tr');
    await rows.getByText(/^On [0-2] of [0-2] resolvers, as revision \d+$/).waitFor();
    const entries = {
      ...{ ID: '12', Domain: 'more-ordered.example', Authority: 'Example "Agency"' },
      ...{ Reference: '12 O 345/26', Until: '2099-12-31T23:59' },
    };
    await fill(page, entries);
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText(IN_FORCE).waitFor();
    await find(page, '12 o 345');
    await page.getByText('Orders 1 to 1').waitFor();
    await expect
      .poll(() => rows.textContent())
      .toMatch(
        /^12(Everywhere|Not everywhere).*Hash \d+.*On [0-2] of [0-2] resolvers, as revision \d/,
      );
    const until = rows.locator('time').first();
    expect(await until.getAttribute('datetime')).toBe('2099-12-31T22:59:00Z');
    const exported = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export as CSV' }).click();
    const file = readFileSync(await (await exported).path(), 'utf8');
    expect(file.split('\r\n')[1]).toMatch(
      /^"12","\d+","Example ""Agency""","12 O 345\/26","2099-12-31T22:59:00Z","20[^"]+Z","2","2","\d+"$/,
    );
    await rows.getByRole('button', { name: 'End' }).dblclick();
    await rows.getByRole('button', { name: 'End order 12 now' }).click();
    await page.getByText('No order is found.').waitFor();
    await find(page, '');
    await page.getByText('Orders 1 to 1').waitFor();
  });

  it('asks before an order denies a public suffix, which is all that is registered below it', async () => {
    const page = await stack.openAs('write', 'orders');
    const texts = { ID: '61', Authority: 'Court of Example', Reference: '6 O 1/26' };
    await fill(page, { ...texts, Domain: 'Co.UK.' });
    const add = page.getByRole('button', { name: 'Add' });
    await add.dblclick();
    const sure = page.getByRole('checkbox', { name: /^Deny Co\.UK\. and every domain below it/ });
    await sure.waitFor();
    await add.click();
    expect(await api.call('GET', '/orders/61')).toMatchObject({ status: 404 });
    await sure.check();
    await fill(page, { Domain: 'ordered.co.uk' });
    expect(await sure.count()).toBe(0);
    await fill(page, { Domain: 'uk' });
    await add.click();
    await page.getByRole('checkbox', { name: /^Deny uk and every domain below it/ }).check();
    await add.click();
    await page.getByText(IN_FORCE).waitFor();
    await api.change('DELETE', '/orders/61', undefined);
  });

  it('changes of an order what was entered anew, and says when somebody else has changed it meanwhile', async () => {
    const texts = { authority: 'Court of Example', reference: '5 O 1/26' };
    const until = '2099-06-30T21:59:30Z';
    await api.change('POST', '/orders/', { id: 51, domain: 'edited.example', ...texts, until });
    const stored = async () =>
      JSON.parse((await api.change('GET', '/orders/51', undefined)).text) as Record<
        string,
        unknown
      >;
    const before = await stored();
    const page = await stack.openAs('write', 'orders');
    const row = page.getByRole('row', { name: /^51/ });
    await row.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('heading', { name: 'Edit order 51' }).waitFor();
    expect(await page.getByLabel('Until').inputValue()).toBe('2099-06-30T23:59');
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByLabel('Authority', { exact: true }).fill('Higher Court');
    await page.getByRole('button', { name: 'Save' }).click();
    await row.getByText('Higher Court').waitFor();
    await page.getByRole('heading', { name: 'New order' }).waitFor();
    const { domain_hash } = before;
    expect(await stored()).toMatchObject({
      ...{ ...texts, authority: 'Higher Court', until, domain_hash },
    });
    await row.getByRole('button', { name: 'Edit' }).click();
    await fill(page, { Until: '', 'New domain': 'other.example' });
    await api.change('PATCH', '/orders/51', { reference: '5 O 2/26' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody has changed this order in the meantime').waitFor();
    await page.getByText('Higher Court · 5 O 2/26').waitFor();
    expect(await stored()).toMatchObject({ until, domain_hash });
    await page.getByRole('button', { name: 'Save' }).click();
    await row.getByText('No end').waitFor();
    expect(await stored()).toMatchObject({ until: null, reference: '5 O 2/26' });
    expect((await stored())['domain_hash']).not.toBe(domain_hash);
    await row.getByRole('button', { name: 'Edit' }).click();
    await fill(page, { Reference: 'too late' });
    await api.change('DELETE', '/orders/51', undefined);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('This does not exist. Perhaps somebody has deleted it.').waitFor();
    await expect.poll(() => row.count()).toBe(0);
    expect(await page.getByLabel('Reference', { exact: true }).inputValue()).toBe('too late');
  });

  it.each(['1e3', '0x10', ' '])(
    'takes no ID of an order that is not in digits: "%s"',
    async (id) => {
      const page = await stack.openAs('write', 'orders');
      const texts = { Authority: 'Court of Example', Reference: '10 O 1/26' };
      await fill(page, { ID: id, Domain: 'numbered.example', ...texts });
      await page.getByRole('button', { name: 'Add' }).click();
      await page.getByText('body.id: Must be an integer').waitFor();
    },
  );

  it('no longer says where a change is in force when the one after it has failed', async () => {
    const page = await stack.openAs('write', 'orders');
    const texts = { Authority: 'Court of Example', Reference: '11 O 1/26' };
    await fill(page, { ID: '111', Domain: 'stored.example', ...texts });
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText(IN_FORCE).waitFor();
    await fill(page, { ID: '112', Domain: 'not a name', ...texts });
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText(/body\.domain: /).waitFor();
    expect(await page.getByText(IN_FORCE).count()).toBe(0);
    await api.change('DELETE', '/orders/111', undefined);
  });

  it('stores no order whose end is filled in partly, nor takes an end away for this', async () => {
    const page = await stack.openAs('write', 'orders');
    const until = page.getByLabel('Until');
    const isRefused = () => inPage(page, 'document.activeElement.validity?.badInput');
    const texts = { Authority: 'Court of Example', Reference: '8 O 1/26' };
    await fill(page, { ID: '81', Domain: 'partly.example', ...texts });
    await until.focus();
    await page.keyboard.type('31122099');
    await page.getByRole('button', { name: 'Add' }).click();
    await expect.poll(isRefused).toBe(true);
    expect(await api.call('GET', '/orders/81')).toMatchObject({ status: 404 });
    await until.fill('2099-12-31T23:59');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText(IN_FORCE).waitFor();
    const row = page.getByRole('row', { name: /^81/ });
    await row.getByRole('button', { name: 'Edit' }).click();
    await until.focus();
    await page.keyboard.press('Delete');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(isRefused).toBe(true);
    const { text } = await api.change('GET', '/orders/81', undefined);
    expect(JSON.parse(text)).toMatchObject({ until: '2099-12-31T22:59:00Z' });
    await api.change('DELETE', '/orders/81', undefined);
  });

  it('takes an end that is typed in one go: its year has four digits', async () => {
    const page = await stack.openAs('write', 'orders');
    const until = page.getByLabel('Until');
    await until.focus();
    await page.keyboard.type('123120991159PM');
    expect(await until.inputValue()).toBe('2099-12-31T23:59');
  });

  it('puts nothing back that somebody else has changed while another order was edited, or the same one', async () => {
    const texts = { authority: 'Court of Example', reference: '9 O 1/26' };
    for (const id of [91, 92])
      await api.change('POST', '/orders/', { id, domain: `o${id}.example`, ...texts });
    const stored = async () =>
      JSON.parse((await api.change('GET', '/orders/91', undefined)).text) as unknown;
    const page = await stack.openAs('write', 'orders');
    const row = (id: number) => page.getByRole('row', { name: new RegExp(`^${id}`) });
    const edit = async (id: number) => {
      await row(id).getByRole('button', { name: 'Edit' }).click();
      await page.getByRole('heading', { name: `Edit order ${id}` }).waitFor();
    };
    /** The list is loaded again. */
    const changeMeanwhile = async (authority: string) => {
      await api.change('PATCH', '/orders/91', { authority });
      await page.getByRole('button', { name: 'Find' }).click();
      await row(91).getByText(authority).waitFor();
    };
    await edit(91);
    await fill(page, { Reference: '9 O 2/26' });
    await edit(92);
    await changeMeanwhile('Second Court');
    await edit(91);
    expect(await page.getByLabel('Authority', { exact: true }).inputValue()).toBe('Second Court');
    await fill(page, { Reference: '9 O 3/26' });
    await changeMeanwhile('Third Court');
    await edit(91);
    expect(await page.getByLabel('Reference', { exact: true }).inputValue()).toBe('9 O 3/26');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody has changed this order in the meantime').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await row(91).getByText('9 O 3/26').waitFor();
    expect(await stored()).toMatchObject({ authority: 'Third Court', reference: '9 O 3/26' });
    for (const id of [91, 92]) await api.change('DELETE', `/orders/${id}`, undefined);
  });

  it('leaves alone what is entered, and the focus, when an order is saved that was sent before', async () => {
    const texts = { authority: 'Court of Example', reference: '13 O 1/26' };
    for (const id of [131, 132])
      await api.change('POST', '/orders/', { id, domain: `o${id}.example`, ...texts });
    const page = await stack.openAs('write', 'orders');
    const row = (id: number) => page.getByRole('row', { name: new RegExp(`^${id}`) });
    const reference = page.getByLabel('Reference', { exact: true });
    const focused = () => inPage(page, 'document.activeElement.value');
    let goOn = await hold(page, /\/orders\/13/);
    await row(131).getByRole('button', { name: 'Edit' }).click();
    await reference.fill('13 O 2/26');
    await page.getByRole('button', { name: 'Save' }).click();
    await row(132).getByRole('button', { name: 'Edit' }).click();
    await reference.fill('13 O 3/26');
    goOn();
    await row(131).getByText('13 O 2/26').waitFor();
    expect(await page.getByRole('heading', { name: 'Edit order 132' }).count()).toBe(1);
    expect(await focused()).toBe('13 O 3/26');
    await page.unroute(/\/orders\/13/);
    goOn = await hold(page, /\/orders\/13/);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByLabel('ID, authority or reference').fill('searched');
    goOn();
    await page.getByRole('heading', { name: 'New order' }).waitFor();
    expect(await focused()).toBe('searched');
    for (const id of [131, 132]) await api.change('DELETE', `/orders/${id}`, undefined);
  });

  it('leaves alone what is entered while an order is added, also by somebody else who has signed in', async () => {
    const page = await stack.openAs('write', 'orders');
    const id = page.getByLabel('ID', { exact: true });
    const texts = { Domain: 'slow.example', Authority: 'Court of Example', Reference: '14 O 1/26' };
    const goOn = await hold(page, /\/orders\/$/);
    await fill(page, { ID: '141', ...texts });
    await page.getByRole('button', { name: 'Add' }).click();
    await id.fill('142');
    goOn();
    await page.getByText(IN_FORCE).waitFor();
    expect(await id.inputValue()).toBe('142');
    await page.unroute(/\/orders\/$/);
    const goOnAgain = await hold(page, /\/orders\/$/);
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await stack.signIn(page, 'replace');
    await page.getByRole('table', { name: 'Orders' }).waitFor();
    const added = page.waitForResponse(/\/orders\/$/);
    goOnAgain();
    await added;
    await inPage(page, 'new Promise((resolve) => setTimeout(resolve, 100))');
    expect(await page.getByLabel('Authority', { exact: true }).inputValue()).toBe('');
    for (const one of [141, 142]) await api.change('DELETE', `/orders/${one}`, undefined);
  });

  it('does nothing by a button that is off', async () => {
    const page = await stack.openAs('write', 'orders');
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.method()} ${request.url()}`));
    const calls = (end: RegExp) => sent.filter((one) => end.test(one)).length;
    await page.getByRole('button', { name: 'Edit' }).first().click();
    const save = page.getByRole('button', { name: 'Save' });
    await save.click({ force: true });
    for (const one of [save, page.getByLabel('Authority', { exact: true })]) {
      await one.focus();
      await page.keyboard.press('Enter');
    }
    await page.getByRole('button', { name: 'Cancel' }).click();
    const texts = { Domain: 'once.example', Authority: 'Court of Example', Reference: '15 O 1/26' };
    const goOn = await hold(page, /\/orders\/$/);
    await fill(page, { ID: '151', ...texts });
    for (let i = 0; i < 3; i++) await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Add' }).click({ force: true });
    goOn();
    await page.getByText(IN_FORCE).waitFor();
    expect([calls(/\/orders\/1$/), calls(/^POST .*\/orders\/$/)]).toEqual([0, 1]);
    await api.change('DELETE', '/orders/151', undefined);
  });

  it('asks whether an order is to end, and takes no double click or held key for the answer', async () => {
    const page = await stack.openAs('write', 'orders');
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.method()));
    const row = page.getByRole('row', { name: /^1 / });
    const [end, sure] = ['End', 'End order 1 now'].map((name) =>
      row.getByRole('button', { name, exact: true }),
    );
    await end.dblclick();
    await sure.waitFor();
    await page.reload();
    await end.focus();
    // All but the first are repeated by the keyboard.
    for (let i = 0; i < 3; i++) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await sure.waitFor();
    expect(sent).not.toContain('DELETE');
  });

  it('says what is there when somebody else has added the same order before', async () => {
    const page = await stack.openAs('write', 'orders');
    await page.getByRole('table', { name: 'Orders' }).waitFor();
    const texts = { authority: 'Court of Example', reference: '6 O 1/26' };
    await api.change('POST', '/orders/', { id: 61, domain: 'first.example', ...texts });
    await fill(page, { ID: '61', Domain: 'second.example', Authority: 'A', Reference: 'R' });
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('This conflicts with a newer change. Nothing was changed.').waitFor();
    await page.getByText('order 61 already exists').waitFor();
    await page.getByRole('row', { name: /^61/ }).getByText('6 O 1/26').waitFor();
    expect(await page.getByLabel('Domain', { exact: true }).inputValue()).toBe('second.example');
    await api.change('DELETE', '/orders/61', undefined);
  });

  it('says in words that can be read why an action in a row has failed', async () => {
    const texts = { authority: 'Court of Example', reference: '12 O 1/26' };
    await api.change('POST', '/orders/', { id: 121, domain: 'gone.example', ...texts });
    const page = await stack.openAs('write', 'orders');
    const row = page.getByRole('row', { name: /^121/ });
    await page.route(/\/orders\/121/, (route) => route.fulfill({ status: 503 }));
    await row.getByRole('button', { name: 'End' }).click();
    await row.getByRole('button', { name: 'End order 121 now' }).click();
    expect((await row.getByRole('alert').boundingBox())?.width).toBeGreaterThan(200);
    await api.change('DELETE', '/orders/121', undefined);
  });

  it('says that an order or a grant has been ended meanwhile, and no longer shows it', async () => {
    const gone = 'This does not exist. Perhaps somebody has deleted it.';
    const texts = { authority: 'Court of Example', reference: '16 O 1/26' };
    await api.change('POST', '/orders/', { id: 161, domain: 'gone.example', ...texts });
    const page = await stack.openAs('write', 'orders');
    const row = page.getByRole('row', { name: /^161/ });
    await row.getByRole('button', { name: 'End' }).click();
    await api.change('DELETE', '/orders/161', undefined);
    await row.getByRole('button', { name: 'End order 161 now' }).click();
    await expect.poll(() => row.count()).toBe(0);
    await page.getByRole('alert').getByText(gone).waitFor();
    const grant = { domain: 'gone.example', verdict: 'allow', minutes: 30 };
    await api.change('POST', '/profile/7/grants', grant);
    await page.goto(`${stack.origin}/console/profiles/7`);
    const grants = page.getByRole('table', { name: 'Grants' });
    await grants.waitFor();
    const { text } = await api.change('GET', '/profile/7/grants', undefined);
    const [{ id }] = JSON.parse(text) as { id: number }[];
    await api.change('DELETE', `/profile/7/grants/${id}`, undefined);
    await grants.getByRole('button', { name: 'End' }).click();
    await expect.poll(() => grants.count()).toBe(0);
    await page.getByRole('alert').getByText(gone).waitFor();
  });

  it('watches an order that is not in force everywhere until it is, and proves it again', async () => {
    const page = await stack.openAs('write', 'orders');
    deployment.resolvers[1].pause();
    const order = { id: 71, domain: 'slow.example', authority: 'Court of Example', reference: '7' };
    await api.change('POST', '/orders/', order);
    await page.reload();
    const row = page.getByRole('row', { name: /^71/ });
    await row.getByText('Not everywhere').waitFor();
    await row.getByText('On 1 of 2 resolvers').waitFor();
    deployment.resolvers[1].resume();
    // Somebody else proves it; this page follows.
    await expect.poll(async () => (await api.change('PATCH', '/orders/71', {})).applied).toBe(2);
    await row.getByText('Everywhere', { exact: true }).waitFor();
    await row.getByText(/^On 2 of 2 resolvers/).waitFor();
    await api.change('DELETE', '/orders/71', undefined);
  });

  it('shows how each list is, accepts one that is held back, and finds the lists that have a name', async () => {
    const page = await stack.openAs('write', 'catalogue');
    const bets = page.getByRole('row', { name: /^bets\.txt/ });
    await bets.getByText('Good').waitFor();
    expect(await bets.textContent()).toMatch(/Gambling \(category 12\).*10.*MIT.*Allowed.*20/);
    writeBets(catalogue, 41);
    await page.getByText('lists 41 domains, more than four times the 10 before').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    const reader = await stack.openAs('read', 'catalogue');
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
    await page.getByText('No list has n41.example.net or a name above it.').waitFor();
  });

  it('keeps showing the lists while the control plane is restarted, and then how they are', async () => {
    const page = await stack.openAs('write', 'catalogue');
    const bets = page.getByRole('row', { name: /^bets\.txt/ });
    await bets.getByText('Good').waitFor();
    const names = await namesNow();
    await deployment.replicas[0].terminate();
    await page.getByText('The control plane cannot be reached.').waitFor();
    expect(await bets.textContent()).toContain('Good');
    writeBets(catalogue, 5 * names);
    await deployment.replicas[0].start();
    await bets.getByText('Held back').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await bets.getByRole('button', { name: 'Accept' }).click();
    await bets.getByText('Good').waitFor();
  });

  it('says what happened when two people accept the same list', async () => {
    writeBets(catalogue, 5 * (await namesNow()));
    const [first, second] = [
      await stack.openAs('write', 'catalogue'),
      await stack.openAs('replace', 'catalogue'),
    ];
    const bets = (page: Page) => page.getByRole('row', { name: /^bets\.txt/ });
    await bets(first).getByText('Held back').waitFor();
    // The second page is read once, while the list is held, and not again by itself.
    await second.clock.install();
    await second.reload();
    await bets(second).getByText('Held back').waitFor();
    await second.clock.pauseAt(Date.now() + 60_000);
    await bets(second).getByText('Held back').waitFor();
    await first.getByRole('button', { name: 'Accept' }).click();
    await first.getByText('bets.txt is accepted.').waitFor();
    await second.getByRole('button', { name: 'Accept' }).click();
    await second.getByText('This list is no longer held back').waitFor();
    await second.getByText('no list of bets.txt is held').waitFor();
    // Then it shows how the list is, and goes on saying what happened.
    await second.clock.resume();
    await bets(second).getByText('Good').waitFor();
    expect(await second.getByRole('alert').count()).toBe(1);
  });

  it('finds, turns the pages of, and exports hundreds of orders', async () => {
    const ids = Array.from({ length: MANY_ORDERS }, (_, i) => 10_000 + i).values();
    const add = async () => {
      for (const id of ids) {
        const texts = { authority: `Court ${id % 7}`, reference: `${id} O/26` };
        await api.change('POST', '/orders/', { id, domain: `o${id}.example`, ...texts });
      }
    };
    await Promise.all(Array.from({ length: CALLS_AT_ONCE / 2 }, add));
    const page = await stack.openAs('read', 'orders');
    await page.getByText('Orders 1 to 100', { exact: true }).waitFor();
    const [previous, next] = ['Previous page', 'Next page'].map((name) =>
      page.getByRole('button', { name }),
    );
    expect(await previous.isDisabled()).toBe(true);
    await next.click();
    await page.getByText('Orders 101 to 200', { exact: true }).waitFor();
    const second = page.locator('tbody th').first();
    const id = await second.textContent();
    expect(await page.locator('tbody tr').count()).toBe(100);
    await next.click();
    await page.getByText('Orders 201 to 300', { exact: true }).waitFor();
    await expect.poll(() => second.textContent()).not.toBe(id);
    await previous.click();
    await expect.poll(() => second.textContent()).toBe(id);
    await previous.click();
    await page.getByText('Orders 1 to 100', { exact: true }).waitFor();
    expect(await inPage(page, 'document.activeElement.innerText')).toBe('Previous page');
    await find(page, '10309 o');
    await page.getByText('Orders 1 to 1', { exact: true }).waitFor();
    expect(await next.count()).toBe(0);
    await page.getByLabel('State').selectOption('Ended');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('No order is found.').waitFor();
    await page.getByLabel('State').selectOption('Any');
    await find(page, ' O/26');
    await page.getByText('Orders 1 to 100', { exact: true }).waitFor();
    const exported = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export as CSV' }).click();
    const rows = readFileSync(await (await exported).path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    expect(rows).toHaveLength(1 + MANY_ORDERS);
    expect(rows.at(-1)).toMatch(
      /^"10309","\d+","Court 5","10309 O\/26","","20[^"]+Z","2","2","\d+"$/,
    );
  });

  it('fills a form in with what its address says, also when a link leads to another one', async () => {
    for (const id of [28, 29]) await api.change('POST', '/profiles/', { profile: { id } });
    await api.change('POST', '/profile/28/schedule', {
      target_profile_id: 29,
      periods: [
        { start: { day: 'monday', time: '20:00' }, end: { day: 'tuesday', time: '06:00' } },
      ],
    });
    const page = await stack.openAs('read', 'profiles/28');
    const id = page.getByLabel('Profile ID');
    await page.getByRole('link', { name: 'Profile 29' }).first().click();
    await expect.poll(() => id.inputValue()).toBe('29');
    await id.fill('30');
    await page.goBack();
    await expect.poll(() => id.inputValue()).toBe('28');
  });

  describe('keeps the focus where somebody works', () => {
    const textOfFocused = (page: Page) => inPage(page, 'document.activeElement.innerText');
    const nameOfFocused = (page: Page) => inPage(page, 'document.activeElement.tagName');
    /** Presses a button with the keyboard. */
    async function press(page: Page, name: string, nth = 0): Promise<void> {
      await page.getByRole('button', { name, exact: true }).nth(nth).focus();
      await page.keyboard.press('Enter');
    }

    it('at the button that was pressed, while its action runs, after it, and where it can go no further', async () => {
      const page = await stack.openAs('write', '');
      expect(await nameOfFocused(page)).toBe('H1');
      for (const domain of ['blocked.example', 'other.example']) {
        await fill(page, { 'Client address': '192.0.2.1', Domain: domain });
        await press(page, 'Explain');
        await page.getByText(`${domain} is`).waitFor();
        expect(await textOfFocused(page)).toBe('Explain');
      }
      await press(page, 'Block for 30 minutes');
      await page.getByText('other.example is blocked.').waitFor();
      expect(await textOfFocused(page)).toBe('Allow for 30 minutes');
      await press(page, 'Allow');
      await page.getByText('other.example is allowed.').waitFor();
      await page.getByRole('link', { name: 'Orders' }).click();
      const entries = { Domain: 'focused.example', Authority: 'Court of Example', Reference: '1' };
      await fill(page, { ID: '101', ...entries });
      await press(page, 'Add');
      await page.getByText(IN_FORCE).waitFor();
      expect(await textOfFocused(page)).toBe('Add');
      await api.change('DELETE', '/orders/101', undefined);
    });

    it('at the row that follows the one whose action took it away, and then at what follows the table', async () => {
      for (let i = 0; i < 3; i++)
        await api.change('POST', '/profile/7/grants', {
          ...{ domain: `g${i}.focused.example`, verdict: 'allow', minutes: 30 + i },
        });
      const page = await stack.openAs('write', 'profiles/7');
      const rows = page.getByRole('table', { name: 'Grants' }).locator('tbody tr');
      const third = await rows.nth(2).locator('td').nth(1).textContent();
      await press(page, 'End', 1);
      await expect.poll(() => rows.count()).toBe(2);
      await expect.poll(() => textOfFocused(page)).toContain(third);
      // One key too many ends nothing more.
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      expect(await textOfFocused(page)).toBe('End');
      await page.keyboard.press('Enter');
      await expect.poll(() => rows.count()).toBe(1);
      await expect.poll(() => inPage(page, 'document.activeElement.type')).toBe('text');
      await press(page, 'End');
      await expect.poll(() => rows.count()).toBe(0);
      await expect.poll(() => nameOfFocused(page)).toBe('INPUT');
    });

    it('nowhere when somebody has left what is taken away', async () => {
      const grant = { domain: 'left.example', verdict: 'allow', minutes: 30 };
      await api.change('POST', '/profile/7/grants', grant);
      const page = await stack.openAs('write', 'profiles/7');
      const goOn = await hold(page, /\/grants\//);
      await page.getByRole('button', { name: 'End' }).click();
      await page.getByRole('heading', { name: 'What it blocks' }).click();
      goOn();
      await expect.poll(() => page.getByRole('table', { name: 'Grants' }).count()).toBe(0);
      expect(await nameOfFocused(page)).toBe('BODY');
    });

    it('at the button Edit when the order is saved, and at the heading when the token ends', async () => {
      const page = await stack.openAs('write', 'orders');
      await press(page, 'Edit');
      await fill(page, { Reference: '1 O 3/26' });
      await press(page, 'Save');
      await page.getByRole('heading', { name: 'New order' }).waitFor();
      expect(await textOfFocused(page)).toBe('Edit');
      await page.route(/\/orders\/\?/, (route) => route.fulfill({ status: 401 }), { times: 1 });
      await press(page, 'Find');
      await page.getByText('The token write-desk is no longer accepted').waitFor();
      expect(await textOfFocused(page)).toBe('Sign in');
      expect(await nameOfFocused(page)).toBe('H1');
    });
  });

  it('is usable with the keyboard alone', async () => {
    const page = await stack.openAs('write', 'resolvers');
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
    const address = page.url();
    await page.reload();
    await page.getByText('blocked.example is blocked.').waitFor();
    await page.keyboard.press('Tab');
    expect(await inPage(page, 'document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await inPage(page, 'document.activeElement.tagName')).toBe('H1');
    expect(page.url()).toBe(address);
    await page.getByText('blocked.example is blocked.').waitFor();
  });
});
