import { expect, it } from 'vitest';
import type { FollowerState } from '../protocol/protocol.js';
import { ClaimVerifier } from './claim-verifier.js';

const LINEAGE = '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01';
const HEAD = { lineage: LINEAGE, revision: 7, digest: 'seven' };
const FOLLOWER: FollowerState = {
  ...{ id: 'a', kind: 'resolver', name: null, inForce: HEAD, feedVersion: 1 },
};

/** A verifier that knows an older head. @param failures how many reads fail after that one */
async function verifierAfter(failures: number) {
  let head = { ...HEAD, revision: 5, digest: 'five' };
  const calls = { reads: -1, judgedAgain: -1, warnings: 0 };
  const verifier = new ClaimVerifier({
    readHead: () => {
      const read = calls.reads++;
      if (read >= 0 && read < failures) return Promise.reject(new Error('connection terminated'));
      return Promise.resolve(head);
    },
    onJudgeAgain: () => calls.judgedAgain++,
    log: {
      info: () => undefined,
      warn: () => calls.warnings++,
      error: () => undefined,
    },
  });
  await verifier.readHead();
  head = HEAD;
  return { verifier, calls };
}

it('reads the head once more when the connection was broken, and judges again at once', async () => {
  const { verifier, calls } = await verifierAfter(1);
  expect(verifier.judge(FOLLOWER)).toBe('unknown');
  await verifier.resolveDoubts();
  expect(verifier.judge(FOLLOWER)).toBe('right');
  expect(calls).toEqual({ reads: 2, judgedAgain: 1, warnings: 0 });
});

it('says it when both reads fail, and leaves the rest to the next heartbeat', async () => {
  const { verifier, calls } = await verifierAfter(2);
  expect(verifier.judge(FOLLOWER)).toBe('unknown');
  await verifier.resolveDoubts();
  expect(verifier.judge(FOLLOWER)).toBe('unknown');
  expect(calls).toEqual({ reads: 2, judgedAgain: 0, warnings: 1 });
  await verifier.resolveDoubts();
  expect(verifier.judge(FOLLOWER)).toBe('right');
});
