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
export const SCOPES = ['read', 'write', 'replace'] as const;
type Scope = (typeof SCOPES)[number];
export const tokenOf = (scope: string): string => `token-of-scope-${scope}`;
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
    writeTokens(folder, SCOPES);
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
   * The control plane accepts the tokens of these scopes from now on.
   * @param ofWrite what the entry of the token of scope `write` has in addition, or in place of its scope.
   */
  async accept(scopes: readonly Scope[], ofWrite: TokenEntry = {}): Promise<void> {
    writeTokens(this.folder, scopes, ofWrite);
    for (const scope of SCOPES) {
      const accepted = { scope, expires: null, ...(scope === 'write' && ofWrite) };
      await expect
        .poll(() => this.tokenNow(scope))
        .toMatchObject(scopes.includes(scope) ? { status: 200, ...accepted } : { status: 401 });
    }
  }

  /** What the control plane says of the token of a scope now. */
  async tokenNow(scope: Scope): Promise<{ status: number }> {
    const headers = { Authorization: `Bearer ${tokenOf(scope)}` };
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

  async signIn(page: Page, scope: string): Promise<void> {
    await page.getByLabel(/^Token/).fill(tokenOf(scope));
    await page.getByRole('button', { name: /^(Sign in|Anmelden)$/ }).click();
  }

  async openAs(scope: Scope, path: string, options?: BrowserContextOptions): Promise<Page> {
    const page = await this.open(path, options);
    await this.signIn(page, scope);
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

type TokenEntry = Readonly<Record<string, string>>;

function writeTokens(folder: string, scopes: readonly Scope[], ofWrite: TokenEntry = {}): void {
  const entries = scopes.map((scope) => ({
    name: `${scope}-desk`,
    sha256: createHash('sha256').update(tokenOf(scope)).digest('hex'),
    scope,
    ...(scope === 'write' && ofWrite),
  }));
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
