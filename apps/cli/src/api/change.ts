import type { Context, JsonOption } from '../context.js';
import { textOf } from '../terminal.js';
import { Api } from './api.js';

interface Change extends JsonOption {
  readonly body?: object;
  /** What is in force, by the answer of the API. */
  readonly what: (answer: string) => string;
}

/**
 * Makes a change, and prints on how many resolvers it is in force. With `json` it prints the answer of the API; if that
 * is empty, the revision and the resolvers.
 */
export async function change(
  { environment, terminal }: Context,
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  { body, json, what }: Change,
): Promise<void> {
  const call = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const { said, headers } = await new Api(environment).ask(path, call);
  const { 'x-config-revision': revision, 'x-config-applied': applied, date } = headers;
  if (json) terminal.print(said || JSON.stringify({ revision: Number(revision), applied }));
  else {
    const proof = `${textOf(applied)} resolvers, revision ${textOf(revision)}, ${textOf(date)}`;
    terminal.print(`${what(said)} is in force on ${proof}`);
  }
}
