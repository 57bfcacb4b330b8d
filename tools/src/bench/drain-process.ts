/*
 * Process with an HTTP server that reads bodies and does nothing with them: what a sender costs others on the same
 * machine, whoever it sends to.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

export interface DrainProcess {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export async function startDrainProcess(): Promise<DrainProcess> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url));
  const [port] = (await once(child, 'message')) as [number];
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
}

function serve(): void {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end());
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  // The benchmark has gone.
  process.once('disconnect', () => process.exit());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) serve();
