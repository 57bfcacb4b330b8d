import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '@weir/ops';
import { optionsOrExit } from '../command-options.js';
import { Deployment } from '../deployment/deployment.js';
import { Random } from '../deployment/random.js';
import { Messages } from './messages.js';
import { CREATE_CALLS, CHANGE_CALLS, REPLACE_CALLS, makeCalls } from './example-calls.js';

/** Two heartbeats: within this time every head and every follower has sent a message. */
const HEARTBEATS_MS = 2_500;

const HELP = `npm run record:feed -- --root FOLDER --out FOLDER

Records what one version of Weir sends on its feed, for tests of later versions.
root: the checkout of that version, installed and compiled (node tools/setup.mjs there)
out: for the recorded messages`;

const { root, out } = optionsOrExit(
  HELP,
  { root: { type: 'string' }, out: { type: 'string' } },
  (values) => {
    if (values.root === undefined || values.out === undefined) {
      throw new StartError('--root and --out must be given');
    }
    return { root: resolve(values.root), out: resolve(values.out) };
  },
);
const folder = mkdtempSync(join(tmpdir(), 'weir-record-'));
const deployment = await Deployment.create({
  root,
  folder,
  replicas: 1,
  resolvers: 1,
  random: new Random(1),
  withoutProxies: true,
  onUnexpectedExit: (explanation) => {
    throw new Error(explanation);
  },
});
try {
  await deployment.start();
  await record();
} finally {
  await deployment.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function record(): Promise<void> {
  const [client] = deployment.clients;
  const [resolver] = deployment.resolvers;
  if (client === undefined || resolver === undefined) throw new Error('nothing was started');
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const messages = await Messages.of(deployment.redisUrl);
  await makeCalls(client, CREATE_CALLS);
  const snapshot = await get('/snapshot');
  save('snapshot.ndjson', snapshot);
  const { revision } = JSON.parse(snapshot.toString('utf8').split('\n', 1)[0] ?? '') as {
    revision: number;
  };
  await sleep(HEARTBEATS_MS);
  messages.heard.length = 0;
  await makeCalls(client, CHANGE_CALLS);
  await sleep(HEARTBEATS_MS);
  save('changes.json', await get(`/changes?after=${revision}`));
  await resolver.terminate();
  cpSync(deployment.dataFolder(0), join(out, 'disk'), { recursive: true });
  await makeCalls(client, REPLACE_CALLS);
  await sleep(HEARTBEATS_MS);
  save('snapshot-replaced.ndjson', await get('/snapshot'));
  messages.close();
  save('messages.ndjson', messages.heard.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const { feedToken, hashKey } = deployment.secrets;
  save('deployment.json', `${JSON.stringify({ feedToken, hashKey }, null, 2)}\n`);
}

async function get(path: string): Promise<Buffer> {
  const response = await fetch(new URL(path, deployment.feedUrl), {
    headers: { Authorization: `Bearer ${deployment.secrets.feedToken}` },
  });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

function save(name: string, content: string | Uint8Array): void {
  writeFileSync(join(out, name), content);
}
