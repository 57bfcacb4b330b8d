import type { SnapshotPart } from '@weir/change-feed';
import type { EncodedChange, Head } from '@weir/config-model';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** What one version of Weir said on its feed (testdata/README.md). */
export class RecordedFeed {
  readonly folder: string;
  readonly feedToken: string;
  readonly hashKey: string;
  /** Bodies of answers, byte by byte. */
  readonly snapshot: string;
  readonly changes: string;
  readonly replacedSnapshot: string;
  readonly messages: readonly { readonly channel: string; readonly text: string }[];

  constructor(name: string) {
    this.folder = fileURLToPath(new URL(`../../testdata/${name}`, import.meta.url));
    const deployment = JSON.parse(this.read('deployment.json')) as Record<string, string>;
    this.feedToken = deployment['feedToken'];
    this.hashKey = deployment['hashKey'];
    this.snapshot = this.read('snapshot.ndjson');
    this.changes = this.read('changes.json');
    this.replacedSnapshot = this.read('snapshot-replaced.ndjson');
    this.messages = linesOf(this.read('messages.ndjson')) as RecordedFeed['messages'];
  }

  get page(): { readonly head: Head; readonly changes: readonly EncodedChange[] } {
    return JSON.parse(this.changes) as RecordedFeed['page'];
  }

  /** The parts of a snapshot, without its trailer. */
  partsOf(snapshot: string): readonly SnapshotPart[] {
    return linesOf(snapshot).slice(0, -1) as SnapshotPart[];
  }

  /** Texts of one channel, in order. */
  textsOf(channel: 'change' | 'head' | 'follower'): readonly string[] {
    return this.messages.filter((one) => one.channel === channel).map(({ text }) => text);
  }

  private read(file: string): string {
    return readFileSync(`${this.folder}/${file}`, 'utf8');
  }
}

/**
 * Answers as the feed API of the recording: bodies by path and query, a catalogue image by its name on disk. It says
 * no version.
 */
export async function replay(feed: RecordedFeed, bodies: ReadonlyMap<string, string>) {
  const server = createServer(({ url = '', headers }, response) => {
    const image = /^\/catalogue\/([0-9a-f]{64})$/.exec(url)?.[1];
    // No older version reads what stands behind the path of a snapshot.
    const body = bodies.get(url.replace(/^\/snapshot\?.*/, '/snapshot'));
    if (headers.authorization !== `Bearer ${feed.feedToken}`) response.writeHead(401).end();
    else if (image !== undefined)
      response.end(readFileSync(`${feed.folder}/disk/catalogue-${image}`));
    else if (body === undefined) response.writeHead(404).end();
    else response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function linesOf(text: string): unknown[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}
