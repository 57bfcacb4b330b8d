import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CatalogueImages } from './catalogue-images.js';
import { FeedClient } from './feed-client.js';
import type { FeedLogger } from './redis.js';

const silent: FeedLogger = { info: () => undefined, warn: () => undefined, error: () => undefined };
const announced = (text: string) => ({
  version: 1,
  sha256: createHash('sha256').update(text).digest('hex'),
  sizeBytes: text.length,
});

describe('CatalogueImages', () => {
  const served = new Map<string, string>();
  let fetched: number;
  let server: Server;
  let folder: string;
  let images: CatalogueImages;

  beforeEach(async () => {
    fetched = 0;
    served.clear();
    server = createServer((request, response) => {
      fetched++;
      response.end(served.get(request.url?.slice('/catalogue/'.length) ?? ''));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    folder = mkdtempSync(join(tmpdir(), 'weir-images-'));
    const { port } = server.address() as AddressInfo;
    images = new CatalogueImages(
      new FeedClient(`http://127.0.0.1:${port}`, 't'),
      join(folder, 'kept'),
      silent,
    );
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });

  const load = async (text: string) => {
    served.set(announced(text).sha256, text);
    return Buffer.from(await images.load(announced(text))).toString();
  };

  it('fetches an image once and then has it on disk', async () => {
    expect([await load('one'), await load('one'), fetched]).toEqual(['one', 'one', 1]);
  });

  it('fetches an image anew when its file is damaged', async () => {
    await load('one');
    writeFileSync(join(folder, 'kept', `catalogue-${announced('one').sha256}`), 'two');
    expect([await load('one'), fetched]).toEqual(['one', 2]);
  });

  it('keeps the last three', async () => {
    for (const text of ['one', 'two', 'three', 'four', 'five']) {
      await load(text);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(readdirSync(join(folder, 'kept')).sort()).toEqual(
      ['three', 'four', 'five'].map((text) => `catalogue-${announced(text).sha256}`).sort(),
    );
  });
});
