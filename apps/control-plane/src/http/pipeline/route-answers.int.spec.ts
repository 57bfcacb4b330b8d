import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request, type RequestOptions } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ControlPlane } from '../../control-plane.js';
import { type Harness, startHarness, TOKEN } from '../../testing/harness.js';
import { openApiChecker } from '../../testing/openapi-checker.js';
import { sha256 } from '@weir/ops';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
const FEW_METHODS = ['GET', 'HEAD', 'PUT', 'OPTIONS'];
const CALLERS: Readonly<Record<string, string | undefined>> = {
  none: undefined,
  wrong: 'Bearer wrong',
  read: 'Bearer token-of-reader',
  write: 'Bearer token-of-writer',
  replace: `Bearer ${TOKEN}`,
};
/** Bodies that change nothing. */
const BODIES: Readonly<Record<string, { readonly text: string; readonly type: string } | null>> = {
  'no body': null,
  'a number': { text: '7', type: 'application/json' },
  'not JSON': { text: '7', type: 'text/plain' },
  'too long': { text: ' '.repeat(5_000), type: 'application/json' },
};
const FEW_BODIES = ['no body', 'not JSON'];
/** Besides the documented paths. */
const PATHS = [
  ...['/', '//', '/nowhere', '/nowhere/', '/NET/', '/net//', '/net/1/', '/net/1//', '/net/1/2/3/4'],
  ...['/net', '/napt', '/profile/1/bw_list/', '/profile//bw_list', '/profile/1/bw_list/batch/'],
  ...['/net/%zz', '/net/%', '/profile/%zz/bw_list/%c3%28', '/net%2f', '/%6eet/', '/net/1?a=%zz'],
  ...[
    '/net/1%2f2',
    '/profile/1/bw_list/a%2fb',
    '/nowhere/%zz',
    '/net6/%32001:db8::1',
    '/net/1;a=b',
  ],
  ...['/openapi.json', '/openapi.json/', '/docs', '/docs/', '/docs/start.js', '/docs/nothing'],
  ...['/docs/swagger-ui.css', '/Docs', '*', 'http://example.com/net/1', 'http://example.com'],
];
/** They differ from call to call, or are the same in all. */
const HIDDEN =
  /^(date|x-request-id|x-config-\w+|content-length|keep-alive|cache-control|transfer-encoding)$/;
const USUAL = new Set(['connection: keep-alive', 'content-type: application/json; charset=utf-8']);

/**
 * What every path answers to each method, kind of token and body. The snapshot makes each difference visible when the
 * order of the checks, or the framework, changes.
 */
describe('every path, method and token', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-answers-'));
  let harness: Harness;
  let publicDocs: ControlPlane;

  beforeAll(async () => {
    const file = join(folder, 'tokens.yaml');
    const entry = (name: string, scope: string): string =>
      `- { name: ${name}, sha256: ${sha256(`token-of-${name}`).toString('hex')}, scope: ${scope} }\n`;
    writeFileSync(file, entry('reader', 'read') + entry('writer', 'write'));
    harness = await startHarness({
      MANAGEMENT_TOKENS_FILE: file,
      MANAGEMENT_TRUSTED_PROXIES: '127.0.0.1',
      MANAGEMENT_BODY_LIMIT: '4kb',
      MANAGEMENT_CALLS_PER_SECOND: '100000',
    });
    publicDocs = await harness.startReplica({ MANAGEMENT_DOCS: 'public' });
  });
  afterAll(async () => {
    agent.destroy();
    await publicDocs.stop();
    await harness.stop();
    rmSync(folder, { recursive: true });
  });

  it('have the recorded answers', { timeout: 600_000 }, async () => {
    const documented = openApiChecker()!.operations();
    const paths = new Set(documented.map(({ path }) => path.replaceAll(/\{\w+\}/g, 'x')));
    const port = harness.controlPlane.managementPort;
    const lines: string[] = [];
    for (const path of [...paths].sort()) lines.push(...(await table(port, path, METHODS)));
    for (const path of PATHS) lines.push(...(await table(port, path, FEW_METHODS)));
    lines.push('MANAGEMENT_DOCS=public', '');
    for (const path of PATHS.filter((one) => /docs|openapi/.test(one))) {
      lines.push(...(await table(publicDocs.managementPort, path, FEW_METHODS)));
    }
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./route-answers.snapshot.txt');
  });
});

/** The answers to a path; methods with the same answers are together. */
async function table(port: number, path: string, methods: readonly string[]): Promise<string[]> {
  const methodsOf = new Map<string, string[]>();
  for (const method of methods) {
    const answers = await answersTo(port, method, path);
    methodsOf.set(answers, [...(methodsOf.get(answers) ?? []), method]);
  }
  return [...methodsOf].flatMap(([answers, same]) => [`${same.join(' ')} ${path}`, answers, '']);
}

const agent = new Agent({ keepAlive: true });
let calls = 0;

/** One line for each answer, with the callers and bodies that get it. */
async function answersTo(port: number, method: string, path: string): Promise<string> {
  const bodies = /^(POST|PATCH|DELETE)$/.test(method) ? Object.keys(BODIES) : FEW_BODIES;
  const callersOf = new Map<string, string[]>();
  for (const [caller, authorization] of Object.entries(CALLERS)) {
    for (const name of bodies) {
      const body = BODIES[name];
      const headers = {
        ...(authorization !== undefined && { Authorization: authorization }),
        // Its own source, so that no failed attempt is delayed.
        'X-Forwarded-For': `10.0.${calls >> 8}.${calls & 255}`,
        ...(body && { 'Content-Type': body.type, 'Content-Length': String(body.text.length) }),
      };
      calls++;
      const answer = await send({ port, method, path, headers }, body?.text);
      callersOf.set(answer, [...(callersOf.get(answer) ?? []), `${caller} (${name})`]);
    }
  }
  return [...callersOf]
    .map(([answer, callers]) => `  ${summarise(callers, bodies.length)}: ${answer}`)
    .join('\n');
}

/** `read (no body), read (a number) …` with all bodies becomes `read`. */
function summarise(callers: readonly string[], bodies: number): string {
  const groups = Object.keys(CALLERS).flatMap((caller) => {
    const some = callers.filter((one) => one.startsWith(`${caller} `));
    return some.length === bodies ? [caller] : some;
  });
  return groups.join(', ');
}

function send(options: RequestOptions, body: string | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...options, host: '127.0.0.1', agent });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => void chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => resolve(describeAnswer(response, Buffer.concat(chunks))));
    });
    outgoing.end(body);
  });
}

function describeAnswer({ statusCode, headers }: IncomingMessage, body: Buffer): string {
  const shown = Object.entries(headers)
    .filter(([name]) => !HIDDEN.test(name))
    .map(([name, value]) => `${name}: ${String(value)}`)
    .filter((header) => !USUAL.has(header))
    .sort();
  // The pages of the documentation are long, and change with the library that shows them.
  const isShown = headers['content-type']?.startsWith('application/json') && body.length < 1_000;
  const shownBody = String(body).replace(/"(time|active_since)":"[^"]*"/g, '"$1":"…"');
  const text = isShown === true ? shownBody : body.length > 0 ? '(content)' : '';
  return [statusCode, ...shown, text].join(' | ').trimEnd();
}
