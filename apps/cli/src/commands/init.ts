import type { DifferenceDto, DryRunDto } from '@weir/control-plane/init/read/init.dto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Api } from '../api/api.js';
import { type Context, Failure, type JsonOption } from '../context.js';
import { grouped, type Terminal, textOf } from '../terminal.js';

const KINDS = ['added', 'changed', 'removed'] as const;
const KEYS_SHOWN = 5;

/** Replaces the whole configuration, or says what that would change. @param file `-`: standard input */
export async function init(
  { environment, terminal, input }: Context,
  file: string,
  { dryRun, json }: JsonOption & { readonly dryRun?: true },
): Promise<void> {
  const isInput = file === '-';
  const found = isInput ? undefined : await stat(file);
  if (found?.isDirectory() === true) throw new Failure(`${file} is a folder`);
  // That of a pipe is 0, whatever comes through it.
  const size = found?.isFile() === true ? found.size : undefined;
  const { said, headers } = await new Api(environment).ask('/init/', {
    method: 'POST',
    query: { dry_run: dryRun ? 'true' : undefined },
    headers: size === undefined ? {} : { 'Content-Length': String(size) },
    body: sent(isInput ? input : createReadStream(file), size, terminal),
  });
  if (dryRun) {
    if (json) terminal.print(said);
    else printDryRun(JSON.parse(said) as DryRunDto, terminal);
  } else {
    const { 'x-config-revision': revision, 'x-config-applied': applied } = headers;
    terminal.print(
      json
        ? JSON.stringify({ revision: Number(revision), applied })
        : `revision ${textOf(revision)}, in force on ${textOf(applied)} resolvers`,
    );
  }
}

async function* sent(
  body: AsyncIterable<Uint8Array>,
  size: number | undefined,
  terminal: Terminal,
): AsyncGenerator<Uint8Array> {
  const bytes = yield* terminal.withProgress('sent', body, size);
  terminal.progress('checking what was sent', bytes, size);
}

function printDryRun(
  { revision, resources, subscribers_affected: affected }: DryRunDto,
  terminal: Terminal,
): void {
  const entries = Object.entries(resources) as [string, DifferenceDto][];
  const rows = entries.map(([name, { added, changed, removed, unchanged }]) => [
    textOf(name),
    ...[added, changed, removed, unchanged].map(grouped),
  ]);
  terminal.printTable(['', ...KINDS, 'unchanged'], rows, 1);
  for (const [name, { samples }] of entries) {
    for (const kind of KINDS.filter((one) => samples[one].length > 0)) {
      const shown = samples[kind].slice(0, KEYS_SHOWN).map(textOf).join(', ');
      const more = samples[kind].length > KEYS_SHOWN ? ', …' : '';
      terminal.print(`${textOf(name)} ${kind}: ${shown}${more}`);
    }
  }
  terminal.print(
    `${grouped(affected)} subscribers would be affected, at revision ${revision}; nothing was changed`,
  );
}
