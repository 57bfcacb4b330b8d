import { parentPort, workerData } from 'node:worker_threads';
import pg from 'pg';
import { connectionSettings, SilenceWatch } from '../../platform/database/connections.js';
import { DomainHasher } from '../../resources/domain-lists/domain-check.js';
import { type Reply, type Request, type ThreadSettings, toFailure } from './init-thread.js';
import { Submission } from './submission.js';

/** One statement of a replacement writes millions of rows. */
const LONGEST_SILENCE_MS = 300_000;

const { databaseUrl, hashKey } = workerData as ThreadSettings;
const settings = connectionSettings(databaseUrl);
const hasher = new DomainHasher(hashKey);
const silence = new SilenceWatch(settings);
const submissions = new Map<number, Submission>();

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(settings);
  // The next query reports it.
  client.on('error', () => undefined);
  await client.connect();
  await silence.begin(client, LONGEST_SILENCE_MS);
  return client;
}

async function handle({ body, step, values }: Request): Promise<unknown> {
  const submission = submissions.get(body) ?? new Submission(hasher, connect);
  if (step === 'close') submissions.delete(body);
  else submissions.set(body, submission);
  const method = submission[step] as (...values: readonly unknown[]) => unknown;
  return await method.apply(submission, [...values]);
}

parentPort?.on('message', (request: Request) => {
  const { call } = request;
  const reply = (one: Reply): void => parentPort?.postMessage(one);
  handle(request).then(
    (result) => reply({ call, result }),
    (error: unknown) => reply({ call, failure: toFailure(error) }),
  );
});
