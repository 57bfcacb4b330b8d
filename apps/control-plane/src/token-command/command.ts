import { sha256 } from '@weir/ops';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Scope, SCOPES } from '../http/callers/scope.js';
import { parseTokens } from '../http/callers/tokens-file.js';

const USAGE = `usage: npm run token -- NAME [${SCOPES.join(' | ')}]
       npm run token -- --check FILE

Makes a token for MANAGEMENT_TOKENS_FILE, or checks such a file. Without a scope it may only read.
Exit code: 0, or 1 when it failed or the command is not valid.
`;

/** @returns what to print, and the exit code. */
export function runCommand(args: readonly string[]): {
  readonly text: string;
  readonly code: 0 | 1;
} {
  const [first = '', second = 'read', ...rest] = args;
  try {
    if (first === '--help' || first === '-h') return { text: USAGE, code: 0 };
    if (rest.length > 0 || first === '') return { text: USAGE, code: 1 };
    if (first === '--check') return { text: check(second), code: 0 };
    return { text: make(first, second), code: 0 };
  } catch (error) {
    return { text: `${(error as Error).message}\n`, code: 1 };
  }
}

function check(file: string): string {
  const tokens = parseTokens(readFileSync(file, 'utf8'));
  return `${file} is good: ${tokens.map(({ name, scope }) => `${name} (${scope})`).join(', ') || 'no tokens'}\n`;
}

function make(name: string, scope: string): string {
  const token = randomBytes(32).toString('base64url');
  const entry = `- name: ${name}
  sha256: '${sha256(token).toString('hex')}'
  scope: ${scope as Scope}
`;
  parseTokens(entry);
  return `The token, which is shown only now:

${token}

Its entry for MANAGEMENT_TOKENS_FILE. It may also have sources (a list of networks) and expires (a date):

${entry}`;
}
