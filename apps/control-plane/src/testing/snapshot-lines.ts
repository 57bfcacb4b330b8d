import { zstdDecompressSync } from 'node:zlib';
import { FEED_TOKEN, type Harness } from './harness.js';

/** The lines of a snapshot that has the head of the log. @param feedUrl another one than that of the harness */
export async function snapshotLines(
  { sql, feedUrl: ownFeedUrl }: Harness,
  feedUrl = ownFeedUrl,
): Promise<Record<string, unknown>[]> {
  const [[revision]] = await sql('SELECT revision FROM config_head');
  const response = await fetch(`${feedUrl}/snapshot?atLeast=${String(revision)}`, {
    headers: { Authorization: `Bearer ${FEED_TOKEN}` },
  });
  const text = zstdDecompressSync(Buffer.from(await response.arrayBuffer())).toString();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
