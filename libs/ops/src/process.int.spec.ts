import { execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const EXAMPLE = fileURLToPath(new URL('./testing/process.mjs', import.meta.url));
const run = promisify(execFile);

/** Starts the example and sends the signal when it has logged the message. @returns exit code and what it logged */
async function endAt(message: string, env: Record<string, string>, signal: NodeJS.Signals) {
  const child = spawn(process.execPath, [EXAMPLE], { env });
  let text = '';
  let isSent = false;
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (isSent || !text.includes(`"${message}"`)) return;
    isSent = true;
    child.kill(signal);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const lines = text.trim().split('\n');
  return { code, lines: lines.map((line) => JSON.parse(line) as { msg: string; atMs?: number }) };
}

describe('a process that is told to stop', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'drains for as long as it is told at %s, then stops and exits 0',
    async (signal) => {
      const { code, lines } = await endAt('up', { DRAIN_S: '1' }, signal);
      expect(code).toBe(0);
      expect(lines.map(({ msg }) => msg)).toEqual([
        'starting',
        'up',
        'stopping',
        'draining',
        'stop',
        'stopped',
      ]);
      const [drained, stopped] = [lines[3].atMs!, lines[4].atMs!];
      // Timers may be early by a fraction of a millisecond.
      expect(stopped - drained).toBeGreaterThan(995);
    },
  );

  it('has the same time to stop after draining, and exits with 1 after that', async () => {
    const late = { DRAIN_S: '1', STOP_MS: '60000', DEADLINE_MS: '1000' };
    const { code, lines } = await endAt('up', late, 'SIGTERM');
    expect([code, lines.at(-1)!.msg]).toEqual([1, 'stopping took too long']);
    const inTime = { DRAIN_S: '11', STOP_MS: '100', DEADLINE_MS: '10000' };
    expect((await endAt('up', inTime, 'SIGTERM')).code).toBe(0);
  });

  it('exits with 0 at once while it is starting', async () => {
    const { code, lines } = await endAt('starting', { START_MS: '60000' }, 'SIGTERM');
    expect([code, lines.at(-1)!.msg]).toEqual([0, 'stopped during the start']);
  });

  it('completes its start and undoes it without draining, if that start may not be cut off', async () => {
    const variables = { START_MS: '500', WAITS_FOR_START: 'true', DRAIN_S: '600' };
    const { code, lines } = await endAt('starting', variables, 'SIGTERM');
    expect(code).toBe(0);
    const messages = lines.map(({ msg }) => msg);
    expect(messages).toEqual(['starting', 'stopped during the start', 'up', 'stop', 'stopped']);
  });
});

describe('the arguments of a process', () => {
  const print = async (argument: string, env: Record<string, string> = {}) =>
    (await run(process.execPath, [EXAMPLE, argument], { env })).stdout;

  it('include --version, with the commit if the build has set one', async () => {
    expect(await print('--version')).toMatch(/^example \d+\.\d+\.\d+\n$/);
    const built = await print('--version', { WEIR_COMMIT: '89a4cd8' });
    expect(built).toMatch(/^example \d+\.\d+\.\d+ \(89a4cd8\)\n$/);
  });

  it('include --help and --check', async () => {
    expect(await print('--help')).toContain('Arguments: none to run, --check');
    expect(await print('--check')).toBe('');
    await expect(print('--check', { DRAIN_S: 'x' })).rejects.toMatchObject({
      code: 1,
      stderr: 'example: DRAIN_S must be a whole number from 0 to 600\n',
    });
    await expect(print('--other')).rejects.toMatchObject({
      code: 1,
      stderr: 'example: unknown argument --other; see --help\n',
    });
  });

  it('are one at most', async () => {
    await expect(run(process.execPath, [EXAMPLE, '--check', 'all'])).rejects.toMatchObject({
      code: 1,
      stderr: 'example: unknown argument all; see --help\n',
    });
  });
});
