import { repairDigest } from '@weir/control-plane/repair/repair-digest';
import { type Context, Failure } from '../context.js';
import { withDatabase } from '../database.js';

/** Puts a digest in force that fits the rows again. @param options.check only says whether it fits */
export async function repair(context: Context, options: { readonly check?: true }): Promise<void> {
  const isCheck = options.check === true;
  const { revision, before, ofRows } = await withDatabase(context, (pool) =>
    repairDigest(pool, isCheck),
  );
  const { terminal } = context;
  if (before === ofRows) {
    terminal.print(`the digest ${ofRows} fits the rows at revision ${revision}; nothing to do`);
  } else if (isCheck) {
    terminal.print(
      `the digest ${before} at revision ${revision} does not fit: the rows have ${ofRows}`,
    );
    throw new Failure();
  } else {
    terminal.print(`the digest was ${before} and is ${ofRows} from revision ${revision} on`);
  }
}
