import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { scriptOf } from './page-script.js';

const page = (...lines: string[]) =>
  `text\n\n\`\`\`sh\n${lines.join('\n')}\n\`\`\`\n\n\`\`\`console\nfalse\n\`\`\`\n`;
/** Bash takes a socket as standard input for a remote login, and reads the files of one. */
const run = (...lines: string[]) =>
  spawnSync('bash', ['-euo', 'pipefail', '-c', scriptOf(page(...lines))], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

describe('scriptOf', () => {
  it('runs the commands of sh blocks in one shell', () => {
    const { status, stdout } = run('value=7', 'echo is $value');
    expect([status, stdout]).toEqual([0, 'is 7\n']);
  });

  it('stops at the first command that fails', () => {
    const { status, stdout } = run('echo before', 'false', 'echo after');
    expect([status, stdout]).toEqual([1, 'before\n']);
  });

  it('stops at the first command whose output does not contain its comment', () => {
    expect(run('echo one two   # one').status).toBe(0);
    const { status, stderr } = run('echo one two   # three', 'echo after');
    expect([status, stderr]).toEqual([1, 'this does not contain: three\n']);
  });

  it('ignores a comment that begins with "the"', () => {
    expect(run('echo one   # the first').status).toBe(0);
  });

  it('throws an error for a page without commands', () => {
    expect(() => scriptOf('nothing')).toThrow('no commands');
  });
});
