import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Until a request without an answer that says more is repeated. */
const RETRY_MS = 1_000;

export interface Downloads {
  /** When each had ended, since the start. */
  readonly endsMs: readonly number[];
  /** Of all of them. */
  readonly bytes: number;
  /** Requests that were put off. */
  readonly refusals: number;
}

/** Downloads the snapshot `count` times at once, as followers that obey Retry-After. */
export async function downloadSnapshots(
  count: number,
  feedUrl: string,
  token: string,
): Promise<Downloads> {
  const startedMs = performance.now();
  const downloads = await Promise.all(
    Array.from({ length: count }, () => download(feedUrl, token)),
  );
  return {
    endsMs: downloads.map(({ endMs }) => endMs - startedMs),
    bytes: downloads.reduce((sum, one) => sum + one.bytes, 0),
    refusals: downloads.reduce((sum, one) => sum + one.refusals, 0),
  };
}

interface Download {
  readonly endMs: number;
  readonly bytes: number;
  readonly refusals: number;
}

async function download(feedUrl: string, token: string): Promise<Download> {
  const agent = new Agent({ keepAlive: false });
  const headers = { Authorization: `Bearer ${token}`, Accept: 'application/zstd' };
  for (let refusals = 0; ; refusals++) {
    let retryMs = RETRY_MS;
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const url = new URL('/snapshot?atLeast=0', feedUrl);
        get(url, { agent, headers }, resolve).on('error', reject);
      });
      let bytes = 0;
      for await (const chunk of response as AsyncIterable<Buffer>) bytes += chunk.length;
      if (response.statusCode === 200) return { endMs: performance.now(), bytes, refusals };
      const seconds = Number(response.headers['retry-after'] ?? 0);
      if (seconds > 0) retryMs = (seconds + Math.random()) * 1_000;
    } catch {
      // It broke off.
    }
    await sleep(retryMs);
  }
}
