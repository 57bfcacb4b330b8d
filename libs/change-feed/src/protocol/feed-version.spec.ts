import { RowError } from '@weir/config-model';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { FeedClient } from '../client/feed-client.js';
import { createFeedServer } from '../server/feed-server.js';
import { MemoryLog } from '../testing/memory-log.js';
import {
  parseChangeMessage,
  parseHeadMessage,
  renderChangeMessages,
  renderHeadMessage,
} from './changes.js';
import { FEED_VERSION, feedVersionOf, FeedVersionError, parseFollowerState } from './protocol.js';
import { accepts } from '../testing/deployment.js';

const TOKEN = 'token-of-the-version-spec';
const NEWER = FEED_VERSION + 1;
const LINEAGE = '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01';
const DIGEST = '0123456789abcdef';

describe('the version of a message', () => {
  it.each([undefined, null, 0, -1, 1.5, '1', 'x', '', {}, true])('is never %j', (said) => {
    expect(() => feedVersionOf({ feedVersion: said })).toThrow(RowError);
  });

  it('is part of every change and head of the control plane', () => {
    const head = { lineage: LINEAGE, revision: 7, digest: DIGEST };
    const change = { ...head, operations: [] };
    const texts = [
      ...renderChangeMessages([change]),
      ...renderChangeMessages([change, { ...change, revision: 8 }]),
      renderHeadMessage({ head, acknowledgementIntervalMs: 0 }),
    ];
    expect(texts).toHaveLength(3);
    for (const text of texts) {
      const message = JSON.parse(text) as { feedVersion: number };
      expect(message.feedVersion).toBe(FEED_VERSION);
      const foreign = JSON.stringify({ ...message, feedVersion: NEWER });
      expect(() => parseChangeMessage(foreign)).toThrow(FeedVersionError);
      expect(() => parseHeadMessage(foreign)).toThrow(FeedVersionError);
    }
  });

  it('may be any in the state of a follower', () => {
    const inForce = { lineage: LINEAGE, revision: 7, digest: DIGEST };
    const state = { id: 'a', kind: 'resolver', name: 'dns-1:53', inForce, feedVersion: NEWER };
    expect(parseFollowerState(JSON.stringify(state))).toEqual(state);
  });
});

describe('the version of the feed API', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });
  const urlOf = async (server: Server): Promise<string> => {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const feed = (warn: (fields: object) => void = () => undefined) => {
    const log = { info: () => undefined, warn, error: () => undefined };
    return createFeedServer({
      source: new MemoryLog(),
      isAuthorised: accepts(TOKEN),
      log,
      isOutage: () => false,
    });
  };

  it('is a header of every response, errors too', async () => {
    const url = await urlOf(feed());
    const client = new FeedClient(url, () => TOKEN);
    expect((await client.changesAfter(0))?.changes).toEqual([]);
    for (const path of ['/changes?after=0', '/snapshot', '/nowhere', '/catalogue/x']) {
      const response = await fetch(url + path, { headers: { Authorization: `Bearer ${TOKEN}` } });
      expect(response.headers.get('weir-feed-version')).toBe(String(FEED_VERSION));
      await response.text();
    }
  });

  it('leads to 406 and one log line when a follower asks for another one', async () => {
    const logged: object[] = [];
    const url = await urlOf(feed((fields) => void logged.push(fields)));
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Weir-Feed-Version': String(NEWER) };
    for (let i = 0; i < 3; i++) {
      const response = await fetch(`${url}/changes?after=0`, { headers });
      expect([response.status, await response.json()]).toEqual([
        406,
        { detail: `This feed speaks version ${FEED_VERSION}` },
      ]);
    }
    expect(logged).toEqual([{ feedVersion: String(NEWER), ownFeedVersion: FEED_VERSION }]);
  });

  it.each([
    ['answers in another version', 200],
    ['refuses ours', 406],
  ])('is another than ours: a feed that %s is not read, and is asked again', async (_, status) => {
    const page = { head: { revision: 0, digest: DIGEST }, changes: [] };
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'Weir-Feed-Version': NEWER }).end(JSON.stringify(page));
    });
    const client = new FeedClient(await urlOf(server), () => TOKEN);
    const asked = client.changesAfter(0);
    await expect(asked).rejects.toThrow(`speaks version ${NEWER} of the feed, this process`);
    // Another replica may answer the next request, so this is no reason for a snapshot.
    await expect(asked).rejects.toMatchObject({ isRefusal: false });
    await expect(client.snapshot().next()).rejects.toThrow(`speaks version ${NEWER}`);
  });
});
