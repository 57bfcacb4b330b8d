import { expect, test } from 'vitest';
import { isBlockedPort } from './network-kinds.js';

const PORTS = Array.from({ length: 16_384 }, (_, port) => port);

test('the blocked ports are those that fetch refuses', async () => {
  const refused: number[] = [];
  for (const port of PORTS) {
    if (await isRefusedByFetch(port)) refused.push(port);
  }
  expect(PORTS.filter(isBlockedPort)).toEqual(refused);
});

/** Whether `fetch` fails before it asks its dispatcher for a connection. */
async function isRefusedByFetch(port: number): Promise<boolean> {
  let isDispatched = false;
  const dispatcher = {
    dispatch: () => {
      isDispatched = true;
      throw new Error('no connection in this test');
    },
  };
  await fetch(`http://127.0.0.1:${port}`, { dispatcher } as unknown as RequestInit).catch(
    () => undefined,
  );
  return !isDispatched;
}
