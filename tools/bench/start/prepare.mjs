// Writes the snapshot of a configuration to a folder, as a follower does.
import { SnapshotDisk } from '@weir/change-feed';
import { Digest, ENTITY_KINDS } from '@weir/config-model';
import { parseHashKey } from '@weir/dns-name';
import { makeRows, partsOf, SIZES } from '../policy/configuration.mjs';

const [folder, networks, rules, profiles] = process.argv.slice(2);
const size = {
  ...SIZES[0],
  networks: Number(networks),
  profiles: Number(profiles),
  rules: Number(rules),
};
const rows = makeRows(size, parseHashKey('000102030405060708090a0b0c0d0e0f'));
const quiet = () => undefined;
const log = { info: quiet, warn: console.error, error: console.error };

/** @returns {AsyncGenerator<import('@weir/change-feed').SnapshotPart>} */
async function* parts() {
  const digest = new Digest();
  for (const kind of ENTITY_KINDS) {
    for (const row of rows[kind]?.() ?? []) digest.add(kind, row);
  }
  const lineage = '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01';
  yield { type: 'head', lineage, revision: 1, digest: digest.toString() };
  for (const kind of ENTITY_KINDS) {
    for (const part of partsOf(rows[kind]?.() ?? [])) yield { type: 'rows', kind, rows: part };
  }
}

const disk = new SnapshotDisk({ folder, log });
const recording = disk.record(parts());
for await (const part of recording.parts) void part;
if (!(await recording.commit())) throw new Error('the snapshot was not written');
await disk.close();
