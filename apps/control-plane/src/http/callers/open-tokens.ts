import { StartError, WatchedFile, type WatchedFileLog } from '@weir/ops';
import { parseTokens, type Token } from './tokens-file.js';
import { environmentTokens } from './tokens.js';

const MAX_FILE_BYTES = 2 ** 20;
/** A token that was taken out is refused after this time. */
const CHECK_MS = 2_000;

/** The tokens of the environment and of the file. */
export interface Tokens {
  /** Null: no file is given. */
  readonly file: WatchedFile<readonly Token[]> | null;
  /** The tokens at the moment. */
  all(): readonly Token[];
}

/** @throws StartError when there are neither tokens nor a file, or the file is not usable. */
export function openTokens(
  variables: {
    readonly MANAGEMENT_TOKENS: readonly string[] | undefined;
    readonly MANAGEMENT_TOKENS_FILE: string | undefined;
  },
  log: WatchedFileLog,
): Tokens {
  const { MANAGEMENT_TOKENS: texts, MANAGEMENT_TOKENS_FILE: name } = variables;
  if (texts === undefined && name === undefined) {
    throw new StartError('MANAGEMENT_TOKENS or MANAGEMENT_TOKENS_FILE must be set');
  }
  const fixed = environmentTokens(texts ?? []);
  if (name === undefined) return { file: null, all: () => fixed };
  const file = new WatchedFile<readonly Token[]>({
    variable: 'MANAGEMENT_TOKENS_FILE',
    file: name,
    maxBytes: MAX_FILE_BYTES,
    parse: (text) => [...fixed, ...parseTokens(text)],
    content: 'the tokens of the management API',
    log,
    checkMs: CHECK_MS,
  });
  return { file, all: () => file.value };
}
