import {
  type ByteStream,
  CatalogueError,
  DEFAULT_LIMITS,
  type Definition,
  openSource,
  type ReadList,
  readNames,
  type SourceDefinition,
  tryMirrors,
} from '@weir/catalogue';
import { SCHEMA } from '@weir/control-plane/configuration';
import { type HashKey, parseHashKey } from '@weir/dns-name';
import { parseVariables } from '@weir/ops';
import type { Context } from '../context.js';
import { grouped } from '../terminal.js';

const TIMEOUT_MS = 30 * 60_000;

/** To compare names, any key will do. Images are compiled with the key of the deployment. */
export const ANY_KEY: HashKey = parseHashKey('0'.repeat(32));

/**
 * Opens a source, or its mirrors if that fails, and passes the bytes to `read`.
 * @throws CatalogueError with the place of its declaration, its name, and the problem.
 */
export async function withSource<T>(
  source: SourceDefinition,
  { environment, terminal }: Context,
  read: (body: ByteStream) => Promise<T>,
): Promise<T> {
  const { CATALOGUE_TSIG_KEYS } = SCHEMA;
  const { CATALOGUE_TSIG_KEYS: tsigKeys } = parseVariables({ CATALOGUE_TSIG_KEYS }, environment);
  const { maxBytes } = DEFAULT_LIMITS;
  const options = { maxBytes, timeoutMs: TIMEOUT_MS, ...(tsigKeys && { tsigKeys }) };
  try {
    return await tryMirrors(source, async (location) => {
      const opened = await openSource({ ...source, location }, options);
      if (opened.status === 'unchanged')
        throw new CatalogueError('answered 304 to a request without a condition');
      return read(terminal.withProgress(source.name, opened.body));
    });
  } catch (cause) {
    if (!(cause instanceof CatalogueError)) throw cause;
    throw new CatalogueError(`${source.declaredAt}: ${source.name} ${cause.message}`, { cause });
  }
}

/** Reads the whole list of a source. @throws CatalogueError as `withSource`, also when the list has no domain. */
export function readList(
  source: SourceDefinition,
  { neverBlock }: Definition,
  key: HashKey,
  context: Context,
): Promise<ReadList> {
  return withSource(source, context, async (body) => {
    const { format, sha256, list } = source;
    const read = await readNames(body, format, key, { sha256, list, neverBlock });
    if (read.names.count === 0) throw new CatalogueError(`lists no domain ${reasonOf(read)}`);
    return read;
  });
}

/** The counts of a list, which show why it has no domain: it is empty or has another format. */
function reasonOf({ report: { lines, skipped, invalidLines, examples } }: ReadList): string {
  const counts = `${grouped(lines)} lines, ${grouped(skipped)} entries skipped, ${grouped(invalidLines)} lines invalid`;
  const [first] = examples;
  return first === undefined ? `(${counts})` : `(${counts}; line ${first.line} ${first.problem})`;
}
