import type { Scope } from '@weir/control-plane/http/callers/scope';
import { parseTokens } from '@weir/control-plane/http/callers/tokens';
import { sha256 } from '@weir/ops';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Api } from '../api/api.js';
import { type Context, Failure, type JsonOption } from '../context.js';
import { table, textOf } from '../terminal.js';

/** Makes a token, and prints it with its entry for MANAGEMENT_TOKENS_FILE. */
export function createToken({ terminal }: Context, name: string, scope: Scope): void {
  const token = randomBytes(32).toString('base64url');
  const entry = `- name: ${name}
  sha256: '${sha256(token).toString('hex')}'
  scope: ${scope}`;
  parse(entry);
  terminal.print(`The token, which is shown only now:

${token}

Its entry for MANAGEMENT_TOKENS_FILE. It may also have sources (a list of networks) and expires (a date):

${entry}`);
}

/** Prints what the token of this command may do. */
export async function showToken(
  { environment, terminal }: Context,
  { json }: JsonOption,
): Promise<void> {
  const own = await new Api(environment).get<Readonly<Record<string, unknown>>>('/token/', 'scope');
  const facts = Object.entries(own).map(([name, value]) => [name, textOf(value)]);
  terminal.print(...(json ? [JSON.stringify(own)] : table(facts, 2)));
}

/** Checks a file of tokens. */
export function checkTokens({ terminal }: Context, file: string): void {
  const tokens = parse(new TextDecoder().decode(readFileSync(file)));
  const listed = tokens.map(({ name, scope }) => `${name} (${scope})`).join(', ');
  terminal.print(`${file} is good: ${listed === '' ? 'no tokens' : listed}`);
}

function parse(text: string): ReturnType<typeof parseTokens> {
  try {
    return parseTokens(text);
  } catch (error) {
    throw new Failure((error as Error).message);
  }
}
