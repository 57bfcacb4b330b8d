import { needs } from '@weir/ops/testing';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inPage } from '../../block-page/src/testing/browser.js';
import {
  ConsoleStack,
  DESKTOP,
  faultsOf,
  IN_FORCE,
  PHONE,
  SCREENSHOTS,
} from './testing/console-stack.js';

const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };
const STORED = {
  ...EMPTY,
  blockpages: [{ id: 1, type: 1 }],
  profiles: [{ profile: { id: 7, page_id: 1 } }, { profile: { id: 8 } }],
  bw_lists: [{ profile_id: 7, type: 'deny', domains: ['blocked.example', 'other.example'] }],
  nets: [{ ip: '192.0.2.0', prefix_len: 24, profile_id: 7 }],
  nets6: [{ ip: '2001:db8::', prefix_len: 56, profile_id: 8 }],
};
const OTHER = {
  ...STORED,
  profiles: [{ profile: { id: 7, page_id: 1 } }, { profile: { id: 9 } }],
  bw_lists: [{ profile_id: 7, type: 'deny', domains: ['blocked.example'] }],
  nets: [
    { ip: '192.0.2.0', prefix_len: 24, profile_id: 9 },
    { ip: '198.51.100.0', prefix_len: 24, profile_id: 7 },
  ],
  nets6: [],
};
const LIMIT_BYTES = 4_000_000;

describe('the Init page of the console', needs('chromium-headless-shell'), () => {
  let stack: ConsoleStack;

  beforeAll(async () => {
    stack = await ConsoleStack.start(() => ({ MANAGEMENT_BODY_LIMIT: String(LIMIT_BYTES) }));
  });
  afterAll(() => stack.stop());
  beforeEach(async () => {
    await stack.api.change('POST', '/init/', STORED);
  });
  afterEach(() => stack.closePages());

  function fileOf(name: string, content: unknown): string {
    const path = join(stack.folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  async function choose(page: Page, file: string, button = 'Choose a file'): Promise<void> {
    const asked = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: button }).click();
    await (await asked).setFiles(file);
  }

  const countsOf = (page: Page, list: string): Promise<string[]> =>
    page
      .getByRole('row', { name: new RegExp(`^${list} `) })
      .locator('td')
      .allTextContents();

  const networks = async (): Promise<string> =>
    (await stack.api.change('GET', '/net/', undefined)).text;

  it('shows what a file would change, says what is deleted, replaces, and leads to the change', async () => {
    const page = await stack.openAs('replace', 'init');
    await choose(page, fileOf('other.json', OTHER));
    await page.getByText('What other.json would change').waitFor();
    expect(await countsOf(page, 'Block pages')).toEqual(['0', '0', '0', '1']);
    expect(await countsOf(page, 'Profiles')).toEqual(['1', '0', '1', '1']);
    expect(await countsOf(page, 'Allow and deny list entries')).toEqual(['0', '0', '1', '1']);
    expect(await countsOf(page, 'IPv4 networks')).toEqual(['1', '1', '0', '0']);
    expect(await countsOf(page, 'IPv6 networks')).toEqual(['0', '0', '1', '0']);
    await page.getByText('IPv4 networks – Added: 1').click();
    await page.getByText('198.51.100.0/24').waitFor();
    // Nothing was changed.
    expect(await networks()).not.toContain('198.51.100.0');
    await page.getByRole('button', { name: 'Apply …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Replace the whole configuration?' });
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual([
      'Profiles: 1 of 2',
      'Allow and deny list entries: 1 of 2',
      'IPv6 networks: all 1',
    ]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await networks()).not.toContain('198.51.100.0');
    await page.getByRole('button', { name: 'Apply …' }).click();
    await dialog.getByRole('button', { name: 'Replace it now' }).click();
    await page.getByText('The configuration is that of other.json').waitFor();
    await page.getByText(IN_FORCE).waitFor();
    expect(await page.getByText('There were other changes').count()).toBe(0);
    expect(await networks()).toContain('198.51.100.0');
    await page.getByRole('link', { name: 'Show it in the changes' }).click();
    const first = page.locator('tbody tr').first();
    await first.getByText('POST /init/').waitFor();
    expect(await first.textContent()).toContain('replace-desk');
  });

  it('takes a file that is dropped anywhere on the page, and one only', async () => {
    const page = await stack.openAs('read', 'init');
    const drop = (...texts: string[]): Promise<void> =>
      inPage(
        page,
        `{ const transfer = new DataTransfer();
           for (const text of ${JSON.stringify(texts)})
             transfer.items.add(new File([text], 'dropped.json'));
           const options = { bubbles: true, cancelable: true, dataTransfer: transfer };
           document.querySelector('h1').dispatchEvent(new DragEvent('drop', options)); }`,
      );
    await page.getByRole('button', { name: 'Choose a file' }).waitFor();
    await drop('{}', '{}');
    await page.getByText('One file at a time, please.').waitFor();
    await drop(JSON.stringify(STORED));
    await page.getByText(/^Nothing: it equals the configuration of revision/).waitFor();
  });

  it('never shows the hash of a domain as if it were a name', async () => {
    const page = await stack.openAs('read', 'init');
    await choose(page, fileOf('other.json', OTHER));
    await page.getByText('Allow and deny list entries – Deleted: 1').click();
    const [entry] = await page.locator('details[open] li').allTextContents();
    expect(entry).toMatch(/^Profile 7 Hash -?\d+$/);
    await page.getByText('Domains of rules are stored as hashes only.').waitFor();
  });

  it('offers to apply a file only to the scope that may, and only if something differs', async () => {
    for (const scope of ['read', 'write'] as const) {
      const page = await stack.openAs(scope, 'init');
      await choose(page, fileOf('other.json', OTHER));
      await page.getByText('sign in with a token of scope replace').waitFor();
      expect(await page.getByRole('button', { name: 'Apply …' }).count()).toBe(0);
    }
    const page = await stack.openAs('replace', 'init');
    await choose(page, fileOf('same.json', STORED));
    await page.getByText(/^Nothing: it equals the configuration of revision/).waitFor();
    expect(await page.getByRole('button', { name: 'Apply …' }).count()).toBe(0);
  });

  it('says what is wrong with a file, and where', async () => {
    const page = await stack.openAs('replace', 'init');
    const nets = [{ ip: '192.0.2.0', prefix_len: 33, profile_id: 7 }];
    const alert = page.getByRole('alert');
    for (const [content, ...said] of [
      [
        { ...STORED, nets },
        'The file is not valid. Nothing was changed.',
        'body.nets.0.prefix_len: ',
      ],
      [{ ...STORED, profiles: [] }, 'The file is not valid.', 'body.nets.0.profile_id: '],
      ['{"nets": [', 'The file is not valid.', 'body: '],
      ['', 'The file is not valid.', 'body: '],
      [' '.repeat(LIMIT_BYTES + 1), 'The file is too large. Nothing was changed.'],
    ] as const) {
      await choose(page, fileOf('wrong.json', content));
      for (const text of said) await alert.getByText(text).first().waitFor();
      expect(await page.getByRole('button', { name: 'Apply …' }).count()).toBe(0);
      // What was wrong with one file is not said of the next one.
      await choose(page, fileOf('same.json', STORED));
      await page.getByText(/^Nothing: it equals the configuration of revision/).waitFor();
      expect(await alert.count()).toBe(0);
    }
  });

  it('applies what was checked, also when the file has been written meanwhile', async () => {
    const page = await stack.openAs('replace', 'init');
    await choose(page, fileOf('other.json', OTHER));
    await page.getByRole('button', { name: 'Apply …' }).click();
    fileOf('other.json', EMPTY);
    await page.getByRole('button', { name: 'Replace it now' }).click();
    await page.getByText('The configuration is that of other.json').waitFor();
    expect(await networks()).toContain('198.51.100.0');
  });

  it('says that others changed something between the check and the replacement', async () => {
    const page = await stack.openAs('replace', 'init');
    await choose(page, fileOf('other.json', OTHER));
    await page.getByRole('button', { name: 'Apply …' }).click();
    await stack.api.change('POST', '/profiles/', { profile: { id: 10 } });
    await page.getByRole('button', { name: 'Replace it now' }).click();
    await page.getByText(/^There were other changes between revision/).waitFor();
  });

  it('shows how much of a file was sent, can be stopped, and can check it again', async () => {
    const page = await stack.openAs('read', 'init');
    const network = await page.context().newCDPSession(page);
    const limit = (uploadThroughput: number): Promise<unknown> =>
      network.send('Network.emulateNetworkConditions', {
        ...{ offline: false, latency: 0, downloadThroughput: -1, uploadThroughput },
      });
    await network.send('Network.enable');
    await limit(200_000);
    await choose(page, fileOf('large.json', JSON.stringify(STORED) + ' '.repeat(3_000_000)));
    const progress = page.getByRole('progressbar', { name: 'Sending large.json …' });
    const sent = () => progress.getAttribute('value').then(Number);
    await expect.poll(sent).toBeGreaterThan(0);
    expect(await sent()).toBeLessThan(1);
    expect(await page.getByRole('button', { name: 'Choose a file' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => page.getByRole('progressbar').count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
    await limit(-1);
    await choose(page, fileOf('large.json', JSON.stringify(STORED) + ' '.repeat(3_000_000)));
    await page.getByText(/^Nothing: it equals the configuration of revision/).waitFor();
  });

  it('is used with the keyboard alone', async () => {
    const page = await stack.openAs('replace', 'init');
    const asked = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose a file' }).focus();
    await page.keyboard.press('Enter');
    await (await asked).setFiles(fileOf('other.json', OTHER));
    await page.getByRole('button', { name: 'Apply …' }).focus();
    await page.keyboard.press('Enter');
    const focused = () => inPage(page, 'document.activeElement.textContent');
    await expect.poll(focused).toBe('Cancel');
    await page.keyboard.press('Escape');
    await expect.poll(focused).toBe('Apply …');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('The configuration is that of other.json').waitFor();
  });

  it.each([
    ['desktop', DESKTOP, 'light'],
    ['phone', PHONE, 'dark'],
    ['german', { ...PHONE, locale: 'de-AT' }, 'light'],
  ] as const)('is accessible and fits: %s', async (screen, options, judged) => {
    const isGerman = screen === 'german';
    const page = await stack.openAs('replace', 'init', options);
    const shown = async (name: string): Promise<void> => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const path = join(SCREENSHOTS, `${name}-${screen}-${colorScheme}.png`);
        await page.screenshot({ path });
        if (colorScheme === judged) expect(await faultsOf(page)).toEqual([]);
      }
      // Neither the page nor the table in it scrolls sideways.
      for (const element of ['document.documentElement', 'document.querySelector(".scroll")']) {
        const overflow = `${element}.scrollWidth - ${element}.clientWidth`;
        expect([element, await inPage(page, overflow)]).toEqual([element, 0]);
      }
    };
    await choose(page, fileOf('other.json', OTHER), isGerman ? 'Datei auswählen' : 'Choose a file');
    await page.locator('details').first().click();
    await shown('init');
    await page.getByRole('button', { name: isGerman ? 'Anwenden …' : 'Apply …' }).click();
    await shown('init-confirmation');
  });
});
