import { encodeQuery } from '@weir/dns-wire/testing';
import { createLogger, parseVariables } from '@weir/ops';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { SCHEMA } from '../configuration.js';
import { a } from '../query/testing/records.js';
import { startResolver } from '../resolver.js';
import { askUdp } from '../testing/client.js';
import { activateCatalogue, useResolverEnvironment } from '../testing/resolver-environment.js';
import { respond } from '../testing/respond.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const TEXT = readFileSync(`${ROOT}docs/operations/daily-tasks.md`, 'utf8');
const TOKEN = 'a-token-of-the-daily-tasks';

/** Calls of the page, each followed by a sample of its answer. */
const SAMPLES = [
  ...TEXT.matchAll(/call\/main\.js (\/\S+)(?: '([^']*)')?\n[^`]*```\n+```json\n([^`]*)```/g),
].map(([, path, body, answer]) => ({ path, body, answer: JSON.parse(answer) as unknown }));

/** Bodies in the table of the flush. */
const BODIES = [...TEXT.matchAll(/^\| `(\{.*?\})`/gm)].map(([, body]) => body);

const environment = useResolverEnvironment();

/** A resolver with two types of the name in the page in its cache, and a way to call it as the page does. */
async function start() {
  await environment.plane.commit(activateCatalogue(environment.plane));
  environment.upstream.answer = (query) => {
    const [{ qtype: type }] = query.message.questions;
    return respond(query, { answers: [{ ...a('192.0.2.1'), type }] });
  };
  const variables = { ...environment.variables, OPS_TOKENS: TOKEN };
  const log = createLogger({ name: 'resolver', level: 'silent' });
  const configuration = parseVariables(SCHEMA, variables);
  const resolver = await startResolver(configuration, [environment.upstream.endpoint], log);
  environment.cleanups.push(() => resolver.stop());
  await resolver.ready;
  for (const qtype of [1, 28]) await askUdp(resolver.dns, encodeQuery('www.example.com', qtype));
  return async (path: string, body?: string): Promise<unknown> => {
    const args = ['libs/ops/dist/call/main.js', path, ...(body === undefined ? [] : [body])];
    const env = { OPS_PORT: String(resolver.opsPort), OPS_TOKENS: TOKEN };
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
    return JSON.parse(stdout);
  };
}

describe('the calls in docs/operations/daily-tasks.md', () => {
  it('are found', () => {
    expect(SAMPLES.length).toBeGreaterThan(0);
    expect(BODIES).toHaveLength(3);
  });

  it.each(SAMPLES)(
    'are answered as the page shows: $path $body',
    async ({ path, body, answer }) => {
      const call = await start();
      expect(await call(path, body)).toEqual(answer);
    },
  );

  it.each(BODIES)('take the body %s', async (body) => {
    const call = await start();
    expect(await call('/cache/flush', body)).toEqual({ removed: 2 });
  });
});
