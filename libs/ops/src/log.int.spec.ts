import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const EXAMPLE = fileURLToPath(new URL('./testing/logging.mjs', import.meta.url));

interface Line {
  readonly msg: string;
  readonly n?: number;
  readonly dropped?: number;
}

/** Starts a process that logs lines of a kilobyte into a pipe that nobody reads before `read` is called. */
function startLogging(lines: number, then: 'stay' | 'exit' | 'throw' | 'end') {
  const folder = mkdtempSync(join(tmpdir(), 'weir-log-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  // Opened for both, as a pipe without a reader cannot be opened for writing.
  const pipe = openSync(path, 'r+');
  const child = spawn(process.execPath, [EXAMPLE, String(lines), then], {
    stdio: ['ignore', pipe, 'ignore', 'ipc'],
  });
  const exited = once(child, 'exit').finally(() => {
    closeSync(pipe);
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  const logged = (): Line[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);
  const read = () => {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const reader = new Socket({ fd, readable: true, writable: false });
    reader.on('data', (chunk: Buffer) => (text += chunk.toString()));
    onTestFinished(() => void reader.destroy());
    return once(reader, 'end');
  };
  const ask = async (question: string) => {
    child.send(question);
    return (await once(child, 'message'))[0] as string;
  };
  return { child, exited, ask, read, logged };
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

describe('the log of a process whose output nobody reads', () => {
  it('does not make the process wait', async () => {
    const { ask } = startLogging(600, 'stay');
    expect(await ask('a question')).toBe('a question');
  });

  it('does not keep the process from ending', async () => {
    const { exited } = startLogging(600, 'exit');
    expect(await exited).toEqual([3, null]);
  });

  it('keeps lines for a while, then drops lines, and says how many when it is read again', async () => {
    const { ask, read, logged } = startLogging(5_000, 'stay');
    await ask('has it logged all?');
    void read();
    await expect.poll(() => logged().at(-1)?.dropped).toBeGreaterThan(1_000);
    const lines = logged();
    const { dropped = 0 } = lines.pop()!;
    expect(lines.map(({ n }) => n)).toEqual(numbers(5_000 - dropped));
  });
});

it.each([
  ['exits at once', 'exit', 3],
  ['fails with an uncaught exception', 'throw', 1],
  ['has nothing left to do', 'end', 0],
] as const)('no line of a process that %s is lost', async (_, then, code) => {
  const { exited, read, logged } = startLogging(300, then);
  const done = read();
  expect(await exited).toEqual([code, null]);
  await done;
  expect(logged().map(({ n }) => n)).toEqual(numbers(300));
});
