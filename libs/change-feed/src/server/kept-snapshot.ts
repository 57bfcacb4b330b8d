import type { Head } from '@weir/config-model';
import type { SnapshotPart } from '../protocol/protocol.js';
import { writeSnapshot } from '../protocol/snapshot-stream.js';
import { compressed, HeldFile } from './held-file.js';
import type { KeptFile, KeptFolder } from './kept-file.js';

/** A snapshot on the disk, compressed. */
export class KeptSnapshot extends HeldFile {
  /** @param madeMs when it began to be made. */
  constructor(
    readonly head: Head,
    file: KeptFile,
    readonly madeMs: number,
  ) {
    super(file);
  }
}

/** Makes a snapshot of the parts. @throws KeptFileError; what `parts` throws. */
export async function makeSnapshot(
  folder: KeptFolder,
  parts: AsyncIterable<SnapshotPart>,
  madeMs: number,
): Promise<KeptSnapshot> {
  const heads: Head[] = [];
  async function* noticeHead(): AsyncGenerator<SnapshotPart> {
    for await (const part of parts) {
      if (part.type === 'head') heads.push(part);
      yield part;
    }
  }
  const file = await folder.write(compressed(writeSnapshot(noticeHead())));
  const [head] = heads;
  if (head === undefined) throw new Error('a snapshot without a head');
  const { lineage, revision, digest } = head;
  return new KeptSnapshot({ lineage, revision, digest }, file, madeMs);
}
