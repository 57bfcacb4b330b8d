import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness, TOKEN } from '../../testing/harness.js';
import { rawRequest } from '../../testing/raw-request.js';

const HEADERS = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };

describe('a hostile request', () => {
  let harness: Harness;

  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.stop());

  it.each(['constructor', 'toString', 'hasOwnProperty', '__proto__', 'valueOf'])(
    'with the encoding %s, which every object has as a property, is refused',
    async (encoding) => {
      const answer = await rawRequest(harness.baseUrl, {
        method: 'POST',
        path: '/blockpage/',
        headers: { ...HEADERS, 'Content-Encoding': encoding },
        body: '{"id": 1, "type": 0}',
      });
      expect(answer.status).toBe(415);
      const { status } = await harness.call('GET', '/blockpage/');
      expect(status).toBe(200);
    },
  );
});
