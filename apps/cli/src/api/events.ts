import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.js';
import { type Api, type Query, Unreachable } from './api.js';

const PAUSE_MS = 1000;

/**
 * Runs some work again and again until Ctrl-C is pressed. After the first time, a control plane that cannot be reached,
 * as while it restarts, is waited for.
 */
export async function untilInterrupted(
  { terminal, interrupted }: Context,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const signal = interrupted();
  for (let isFirst = true, isLost = false; !signal.aborted; isFirst = false) {
    try {
      await work(signal);
      isLost = false;
    } catch (error) {
      if (signal.aborted) return;
      if (isFirst || !(error instanceof Unreachable)) throw error;
      if (!isLost) terminal.printError(`weir: ${error.message}; trying again`);
      isLost = true;
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** An event stream. It ends when its connection does. @param onEvent gets the data of each event */
export async function readEvents(
  api: Api,
  path: string,
  { query, signal }: { readonly query: Query; readonly signal: AbortSignal },
  onEvent: (data: string) => void,
): Promise<void> {
  const headers = { Accept: 'text/event-stream' };
  const answer = await api.call(path, { query, headers, signal });
  answer.setEncoding('utf8');
  for await (const line of linesOf(answer)) {
    if (line.startsWith('data:')) onEvent(line.slice(5).trimStart());
  }
}

async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  try {
    for await (const chunk of text) {
      const lines = (rest + chunk).split(/\r?\n/);
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch {
    // The connection broke.
  }
}
