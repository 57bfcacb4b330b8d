import { Deployment } from '@weir/tools/deployment/deployment';
import type { ManagementClient } from '@weir/tools/deployment/management-client';
import axe, { type AxeResults } from 'axe-core';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { inPage, openBrowser, type Visit, visit } from '../../../block-page/src/testing/browser.js';

/** To be looked at; docs/console has those of a release. */
export const SCREENSHOTS = join(tmpdir(), 'weir-console-screenshots');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const SCOPES = ['read', 'write', 'replace'] as const;
/** Who has a token: one for each scope, and a guest whose token tests change. */
type Desk = (typeof SCOPES)[number] | 'guest';
export const tokenOf = (desk: string): string => `token-of-${desk}`;
export const DESKTOP = { viewport: { width: 1280, height: 900 } };
export const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true };

/** Fewer than 2 of 2 while the machine stands still; so are the proofs of orders. */
export const IN_FORCE = /In force on [0-2]\/2 resolvers/;

/** A deployment of one control plane and two resolvers, and a browser in which people use its console. */
export class ConsoleStack {
  private readonly visits: Visit[] = [];

  private constructor(
    readonly folder: string,
    readonly deployment: Deployment,
    readonly browser: Browser,
  ) {}

  /** @param variablesOf those of the control plane in addition, for the folder of the deployment. */
  static async start(
    variablesOf: (folder: string) => Readonly<Record<string, string>> = () => ({}),
  ): Promise<ConsoleStack> {
    mkdirSync(SCREENSHOTS, { recursive: true });
    const folder = mkdtempSync(join(tmpdir(), 'weir-console-'));
    writeTokens(folder, { scope: 'write' });
    const variables = {
      MANAGEMENT_TOKENS_FILE: join(folder, 'tokens.yaml'),
      MISSING_RESOLVER_S: '86400',
      SCHEDULE_TIMEZONE: 'Europe/Berlin',
      ...variablesOf(folder),
    };
    const deployment = await Deployment.create({
      ...{ folder, replicas: 1, resolvers: 2, fsync: false },
      replicaVariables: () => variables,
    });
    await deployment.start();
    return new ConsoleStack(folder, deployment, await openBrowser(deployment.managementPorts[0]));
  }

  get api(): ManagementClient {
    return this.deployment.clients[0];
  }

  get origin(): string {
    return `http://127.0.0.1:${this.deployment.managementPorts[0]}`;
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.deployment.stop();
    rmSync(this.folder, { recursive: true });
  }

  /**
   * What the token of the guest is from now on. The control plane looks at its file every ten seconds, so the test that
   * comes next does not wait until it is again what it was.
   * @param entry null: it is withdrawn
   */
  async setGuest(entry: GuestEntry | null): Promise<void> {
    writeTokens(this.folder, entry);
    await expect
      .poll(() => this.tokenNow('guest'))
      .toMatchObject(entry === null ? { status: 401 } : { status: 200, expires: null, ...entry });
  }

  /** What the control plane says of a token now. */
  async tokenNow(desk: Desk): Promise<{ status: number }> {
    const headers = { Authorization: `Bearer ${tokenOf(desk)}` };
    const response = await fetch(`${this.origin}/token/`, { headers });
    return { ...((await response.json()) as object), status: response.status };
  }

  /** Opens a page of the console, which asks for a token. */
  async open(path: string, options: BrowserContextOptions = DESKTOP): Promise<Page> {
    const url = `${this.origin}/console/${path}`;
    const one = await visit(this.browser, url, { locale: 'en-GB', ...options });
    this.visits.push(one);
    return one.page;
  }

  async signIn(page: Page, desk: string): Promise<void> {
    await page.getByLabel(/^Token/).fill(tokenOf(desk));
    await page.getByRole('button', { name: /^(Sign in|Anmelden)$/ }).click();
  }

  async openAs(desk: Desk, path: string, options?: BrowserContextOptions): Promise<Page> {
    const page = await this.open(path, options);
    await this.signIn(page, desk);
    await page.getByRole('navigation').waitFor();
    return page;
  }

  /** Closes all pages. Nothing left the console's origin, no address had a token, and their policy forbade nothing. */
  async closePages(): Promise<void> {
    for (const { page, requested, complaints } of this.visits.splice(0)) {
      expect(requested.filter((url) => !url.startsWith(`${this.origin}/`))).toEqual([]);
      expect(requested.filter((url) => url.includes('token-of'))).toEqual([]);
      expect(complaints.filter((text) => !isExpected(text))).toEqual([]);
      await page.context().close();
    }
  }
}

/** What the browser notes of a call that was refused, or did not reach the control plane. */
const isExpected = (text: string): boolean => /Failed to load resource: /.test(text);

interface GuestEntry {
  readonly scope: (typeof SCOPES)[number];
  readonly expires?: string;
}

function writeTokens(folder: string, guest: GuestEntry | null): void {
  const entryOf = (desk: Desk, entry: GuestEntry): object => ({
    name: `${desk}-desk`,
    sha256: createHash('sha256').update(tokenOf(desk)).digest('hex'),
    ...entry,
  });
  const entries = SCOPES.map((scope) => entryOf(scope, { scope }));
  if (guest !== null) entries.push(entryOf('guest', guest));
  writeFileSync(join(folder, 'tokens.yaml'), JSON.stringify(entries));
}

/** Fills in fields by their labels. */
export async function fill(page: Page, entries: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, text] of Object.entries(entries))
    await page.getByLabel(label, { exact: true }).fill(text);
}

/** What axe-core finds wrong with a page. */
export async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const run = `axe.run(${JSON.stringify({ runOnly: RULES })})`;
  const { violations } = await inPage<AxeResults>(page, run);
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
}
