import { needs } from '@weir/ops/testing';
import { domainRule, loopback, profile, put } from '@weir/policy-feed/testing';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  accessibilityFaults,
  inPage,
  openBrowser,
  propertyOf,
  screenshot,
  styleOf,
  visit,
} from './testing/browser.js';
import { activateCatalogue, GAMBLING, ORDER, useSurroundings } from './testing/running-page.js';

const around = useSurroundings();

const LOGO = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="40"><rect width="120" height="40" fill="#fff"/></svg>',
)}`;
/** Markup that tells by the title of the page when it runs. */
const EVIL = `"'><script>document.title="ran"</script><img/src=x/onerror=document.title="ran">`;

async function start(variables: Record<string, string> = {}): Promise<Browser> {
  await around.plane.commit(
    activateCatalogue(around.plane),
    put('blockPage', { id: 7, type: 1 }),
    profile(1, { categoryIds: [GAMBLING] }),
    loopback(1),
    domainRule(1, 'deny', 'blocked.example'),
  );
  const blockPage = await around.start(variables);
  const browser = await openBrowser(blockPage.port);
  around.cleanups.push(() => browser.close());
  return browser;
}

/** Background of the page, as three numbers from 0 to 255. */
async function backgroundOf(page: Page): Promise<number[]> {
  const colour = await styleOf(page, 'body', 'backgroundColor');
  return colour.match(/\d+/g)!.map(Number);
}

describe('the page in a browser', needs('chromium-headless-shell'), () => {
  it('looks right on a desktop and a phone, light and dark, left to right and right to left', async () => {
    const browser = await start({ INCIDENT_KEYS: '000102030405060708090a0b0c0d0e0f' });
    const looks: Record<string, BrowserContextOptions> = {
      light: { colorScheme: 'light' },
      dark: { colorScheme: 'dark' },
      phone: { viewport: { width: 320, height: 640 }, isMobile: true, deviceScaleFactor: 2 },
      arabic: { locale: 'ar', viewport: { width: 800, height: 800 } },
      german: { locale: 'de-AT' },
      contrast: { forcedColors: 'active' },
    };
    const shots = new Map<string, Buffer>();
    for (const [name, options] of Object.entries(looks)) {
      const { page, requested, complaints } = await visit(
        browser,
        'http://www.bet.example/casino?table=7',
        options,
      );
      shots.set(name, await screenshot(page, `built-in-${name}`));
      expect([name, await accessibilityFaults(page)]).toEqual([name, []]);
      expect(requested).toEqual(['http://www.bet.example/casino?table=7']);
      // The browser notes that the page was answered 403.
      expect(complaints.filter((text) => !text.includes('status of 403'))).toEqual([]);
      const root = 'document.documentElement';
      const overflow = await inPage(page, `${root}.scrollWidth - ${root}.clientWidth`);
      expect([name, overflow]).toEqual([name, 0]);
      const isDark = (await backgroundOf(page)).every((channel) => channel < 100);
      if (name !== 'contrast') expect([name, isDark]).toEqual([name, name === 'dark']);
      const card = (await page.locator('.card').boundingBox())!;
      const sign = (await page.locator('svg').boundingBox())!;
      const isOnTheRight = sign.x > card.x + card.width / 2;
      expect([name, isOnTheRight]).toEqual([name, name === 'arabic']);
      await page.context().close();
    }
    // Each is a picture of its own.
    expect(new Set([...shots.values()].map((shot) => shot.toString('base64'))).size).toBe(6);
  });

  it('shows who has ordered a legal block, on a desktop and on a phone', async () => {
    const browser = await start();
    await around.plane.commit(ORDER);
    for (const [name, options] of Object.entries({
      desktop: { locale: 'de-AT' },
      phone: { locale: 'de-AT', viewport: { width: 320, height: 640 }, isMobile: true },
    })) {
      await expect
        .poll(async () => (await visit(browser, 'http://www.ordered.example/')).page.title())
        .toBe('This site is blocked by law');
      const { page } = await visit(browser, 'http://www.ordered.example/', options);
      await screenshot(page, `legal-${name}`);
      expect(await page.title()).toBe('Diese Website ist aus rechtlichen Gründen gesperrt');
      expect(await page.getByText('Landgericht Musterstadt').isVisible()).toBe(true);
      expect(await accessibilityFaults(page)).toEqual([]);
      const root = 'document.documentElement';
      expect(await inPage(page, `${root}.scrollWidth - ${root}.clientWidth`)).toBe(0);
      await page.context().close();
    }
  });

  it('shows the provider’s logo, colour and links for help', async () => {
    const browser = await start({
      BLOCK_PAGE_BRAND_NAME: 'Example Net',
      BLOCK_PAGE_BRAND_LOGO: LOGO,
      BLOCK_PAGE_BRAND_COLOR: '#7a1fa2',
      BLOCK_PAGE_BRAND_SUPPORT: 'help@example.net',
      BLOCK_PAGE_BRAND_PHONE: '+49 30 123456',
    });
    const { page, complaints } = await visit(browser, 'http://www.bet.example/');
    await screenshot(page, 'branded');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(complaints.filter((text) => !text.includes('status of 403'))).toEqual([]);
    expect(await styleOf(page, 'header', 'backgroundColor')).toBe('rgb(122, 31, 162)');
    expect(await propertyOf(page, 'header img', 'naturalWidth')).toBe(120);
    expect(await page.getByRole('link', { name: 'help@example.net' }).isVisible()).toBe(true);
  });

  it('may be a custom page with its own files and without scripts', async () => {
    const content = mkdtempSync(join(tmpdir(), 'weir-content-'));
    around.cleanups.unshift(() => {
      rmSync(content, { recursive: true });
    });
    mkdirSync(join(content, '7'));
    writeFileSync(
      join(content, '7/index.html'),
      '<!doctype html><html lang="{{language}}"><title>Stop</title><link rel="icon" href="data:,">' +
        '<link rel="stylesheet" href="{{assets}}/style.css"><main><h1>{{name}}</h1><p>{{reason}}</p></main>' +
        '<script>document.title = "inline"</script><script src="{{assets}}/own.js"></script></html>',
    );
    writeFileSync(join(content, '7/style.css'), 'h1 { color: rgb(1, 2, 3) }');
    writeFileSync(join(content, '7/own.js'), 'document.title = "file"');
    writeFileSync(
      join(content, '7/more.html'),
      '<title>More</title><script>document.title = "ran"</script>',
    );
    const browser = await start({ BLOCK_PAGE_CONTENT: content });
    await around.plane.commit(profile(1, { pageId: 7 }));
    await expect
      .poll(async () => (await visit(browser, 'http://blocked.example/')).page.title())
      .toBe('Stop');
    const { page } = await visit(browser, 'http://blocked.example/');
    await screenshot(page, 'custom');
    expect(await page.title()).toBe('Stop');
    expect(await page.getByRole('heading').textContent()).toBe('blocked.example');
    expect(await styleOf(page, 'h1', 'color')).toBe('rgb(1, 2, 3)');
    const more = await visit(browser, 'http://blocked.example/__assets/7/more.html');
    expect(await more.page.title()).toBe('More');
    // The same script runs where nothing forbids it: the titles above would have told.
    const free = await browser.newPage();
    await free.setContent('<title>More</title><script>document.title = "ran"</script>');
    expect(await free.title()).toBe('ran');
    // Neither is the page of the origin that the blocked site has, whose data a script could read.
    expect(await inPage(page, 'self.origin')).toBe('null');
  });

  it('runs no script from the request or the brand', async () => {
    const browser = await start({
      BLOCK_PAGE_BRAND_NAME: EVIL,
      BLOCK_PAGE_BRAND_LOGO: `data:image/png,"onerror="document.title='ran'"><script>document.title='ran'</script>`,
    });
    const { page } = await visit(browser, `http://blocked.example/${EVIL}?q=${EVIL}#${EVIL}`, {
      extraHTTPHeaders: { 'Accept-Language': EVIL, Referer: `http://x.example/${EVIL}` },
    });
    expect(await page.title()).toBe(`This site is blocked – ${EVIL}`);
    expect(await page.locator('script, [onerror]').count()).toBe(0);
    expect(await page.locator('header img').getAttribute('alt')).toBe(EVIL);
    // Where nothing is escaped and nothing forbidden, it runs.
    const free = await browser.newPage();
    await free.setContent(`<title>free</title><p title="${EVIL}">`);
    expect(await free.title()).toBe('ran');
  });

  it('disappears at the next attempt after the site was allowed', async () => {
    const browser = await start();
    const { page } = await visit(browser, 'http://blocked.example/');
    expect(await page.title()).toBe('This site is blocked');
    await around.plane.commit(domainRule(1, 'allow', 'blocked.example'));
    await expect
      .poll(async () => {
        await page.reload();
        return page.title();
      })
      .toBe('This site is not blocked');
    await screenshot(page, 'not-blocked');
    expect(await accessibilityFaults(page)).toEqual([]);
    await around.plane.commit(domainRule(1, 'deny', 'blocked.example'));
    await expect
      .poll(async () => {
        const link = page.getByRole('link', { name: 'Try again' });
        if ((await link.count()) > 0) await link.click();
        return page.title();
      })
      .toBe('This site is blocked');
    expect(page.url()).toBe('http://blocked.example/');
  });

  it('is not available over HTTPS, and the browser shows that at once', async () => {
    const open = async (securePort: number) => {
      const blockPage = await around.start({ BLOCK_PAGE_HTTPS_PORT: '0' });
      const browser = await openBrowser(blockPage.port, securePort || blockPage.httpsPort);
      around.cleanups.push(() => browser.close());
      const failed = await visit(browser, 'https://secure.example/').catch(String);
      return /ERR_\w+/.exec(failed as string)?.[0];
    };
    // Nothing listens on port 1: the kernel refuses. Else the block page ends the connection.
    expect(await open(1)).toBe('ERR_CONNECTION_REFUSED');
    expect(await open(0)).toBe('ERR_CONNECTION_RESET');
  });
});
