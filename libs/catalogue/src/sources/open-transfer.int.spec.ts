import { bytesOf } from '@weir/dns-wire/testing';
import { needs } from '@weir/ops/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { KEY } from '../lists/testing/lists.js';
import { readNames } from '../lists/read-names.js';
import { NameList } from '../names/name-list.js';
import { readAnswer } from '../transfer/zone-text.js';
import { openSource } from './open-source.js';
import type { OpenedSource, OpenOptions } from './source.js';
import {
  framed,
  makeKey,
  type MadeKey,
  type Primary,
  startNamed,
  startNsd,
  startProxy,
  startTcp,
  updateNamed,
  writeZone,
} from './testing/primaries.js';

const ZONE = 'rpz.zone.example';
const LARGE_ZONE = 'large.zone.example';
const namesOf = (count: number) =>
  Array.from({ length: count }, (_, i) => `n${i}.bad${i % 997}.example`);
/** Of some messages. */
const NAMES = namesOf(6_000);
const LARGE = namesOf(200_000);
const blocked = (names: readonly string[]) => names.map((name) => `${name} CNAME .`);
const MORE = [
  '*.wild.example CNAME .',
  'nodata.example CNAME *.',
  'drop.example CNAME rpz-drop.',
  'passed.example CNAME rpz-passthru.',
  'garden.example A 192.0.2.1',
  '24.0.2.0.192.rpz-ip CNAME .',
  'ns.bad.example.rpz-nsdname CNAME .',
];
const LISTED = [...NAMES, 'wild.example', 'nodata.example', 'drop.example'];
const SKIPPED = 4;
const OPTIONS: OpenOptions = { maxBytes: 100_000_000, timeoutMs: 300_000, idleTimeoutMs: 300_000 };

const WAIT = { timeout: 120_000, interval: 100 };
const PROGRAMS = ['named', 'nsd', 'tsig-keygen', 'nsupdate'];
const available = needs(...PROGRAMS);

describe('openSource of a zone', available, () => {
  let folder: string;
  let keys: MadeKey[];
  let named: Primary;
  let nsd: Primary;
  let tsigKeys: string[];
  const servers: Server[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weir-transfer-'));
    keys = ['sha256', 'sha512', 'sha384', 'sha224'].map((hash) =>
      makeKey(`feed-${hash}.example`, `hmac-${hash}`),
    );
    tsigKeys = keys.map(({ text }) => text);
    writeZone(folder, ZONE, [...blocked(NAMES), ...MORE]);
    writeZone(folder, LARGE_ZONE, blocked(LARGE));
    const zones = [ZONE, LARGE_ZONE];
    named = await startNamed(folder, zones, keys);
    nsd = await startNsd(folder, zones, keys[0]);
    for (const { port } of [named, nsd]) {
      for (const zone of zones) await vi.waitFor(() => open(urlOf(port, keys[0].name, zone)), WAIT);
    }
  }, 300_000);
  afterEach(() => {
    vi.restoreAllMocks();
    for (const server of servers.splice(0)) server.close();
  });
  afterAll(async () => {
    await Promise.all([named.stop(), nsd.stop()]);
    rmSync(folder, { recursive: true });
  });

  const urlOf = (port: number, key: string | null, zone = ZONE) =>
    `rpz://127.0.0.1:${port}/${zone}${key === null ? '' : `?key=${key}`}`;
  const open = (url: string, options: Partial<OpenOptions> = {}) =>
    openSource(
      { location: { url }, mirrors: [], format: 'rpz', list: null, sha256: null },
      { ...OPTIONS, tsigKeys, ...options },
    );
  const read = async (opened: OpenedSource) => {
    if (opened.status === 'unchanged') throw new Error('unchanged');
    return { etag: opened.etag, ...(await readNames(opened.body, 'rpz', KEY)) };
  };
  const portOf = (server: Server) => {
    servers.push(server);
    return (server.address() as AddressInfo).port;
  };
  /** What goes wrong when messages of a transfer are changed on their way. */
  const problemOf = async (
    change: Parameters<typeof startProxy>[1],
    options: Partial<OpenOptions> = {},
  ) => {
    const url = urlOf(portOf(await startProxy(named.port, change)), keys[0].name);
    return open(url, options)
      .then(read)
      .then(
        () => 'none',
        (error: unknown) => (error as Error).message,
      );
  };

  it('reads 200,000 names of BIND and of nsd', async () => {
    for (const { port } of [named, nsd]) {
      const { names, report } = await read(await open(urlOf(port, keys[0].name, LARGE_ZONE)));
      expect(names.count).toBe(LARGE.length);
      expect(names.words).toEqual(NameList.of(LARGE, KEY).words);
      expect(report).toMatchObject({ domains: LARGE.length, skipped: 0, invalidLines: 0 });
    }
  });

  it.each([0, 1, 2, 3])('reads what the policies list, with key %i', async (i) => {
    const { names, report, etag } = await read(await open(urlOf(named.port, keys[i].name)));
    expect(names.words).toEqual(NameList.of(LISTED, KEY).words);
    expect(report).toMatchObject({ domains: LISTED.length, skipped: SKIPPED, invalidLines: 0 });
    expect(etag).toBe('serial 7');
  });

  it('transfers nothing while the serial is the same, and all after an update', async () => {
    const url = urlOf(named.port, keys[0].name);
    expect(await open(url, { etag: 'serial 7' })).toEqual({ status: 'unchanged' });
    const update = (...changes: string[]) => updateNamed(named, keys[0], ZONE, changes);
    update(
      `update add new.example.${ZONE} 60 CNAME .`,
      `update delete n0.bad0.example.${ZONE} CNAME`,
    );
    const { names, etag } = await read(await open(url, { etag: 'serial 7' }));
    expect(names.words).toEqual(NameList.of([...LISTED.slice(1), 'new.example'], KEY).words);
    expect(etag).toBe('serial 8');
    expect(await open(url, { etag: 'serial 8' })).toEqual({ status: 'unchanged' });
    update(`update add n0.bad0.example.${ZONE} 60 CNAME .`, `update delete new.example.${ZONE}`);
  });

  it('says what is wrong with the key', async () => {
    const { name, secret } = keys[0];
    const other = makeKey(name, 'hmac-sha256');
    const strange = makeKey('strange.example', 'hmac-sha256');
    for (const { port } of [named, nsd]) {
      const wrong = open(urlOf(port, name), { tsigKeys: [other.text] });
      await expect(wrong).rejects.toThrow('has another secret for the key (BADSIG)');
      const unknown = open(urlOf(port, strange.name), { tsigKeys: [strange.text] });
      await expect(unknown).rejects.toThrow('does not know the key with this algorithm (BADKEY)');
    }
    // nsd takes any algorithm.
    const algorithm = open(urlOf(named.port, name), {
      tsigKeys: [`hmac-sha512:${name}:${secret}`],
    });
    await expect(algorithm).rejects.toThrow('(BADKEY)');
    await expect(open(urlOf(named.port, 'none.example'))).rejects.toThrow(
      'needs the key none.example in CATALOGUE_TSIG_KEYS',
    );
  });

  it('says that the clocks differ', async () => {
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    for (const { port } of [named, nsd]) {
      await expect(open(urlOf(port, keys[0].name))).rejects.toThrow(
        'has a clock that differs too much from that of this machine (BADTIME)',
      );
    }
  });

  it('says that the zone is refused or unknown', async () => {
    const unsigned = open(urlOf(named.port, null)).then(read);
    await expect(unsigned).rejects.toThrow('answered REFUSED');
    const other = open(urlOf(named.port, keys[0].name, 'other.example'));
    await expect(other).rejects.toThrow('answered REFUSED');
    const nobody = portOf(await startTcp(() => undefined));
    servers.pop()?.close();
    await expect(open(urlOf(nobody, null))).rejects.toThrow('cannot be reached: ECONNREFUSED');
  });

  it('takes no transfer of which a message was changed, is missing, or moved', async () => {
    const other = (message: Buffer) => {
      const at = message.indexOf('bad');
      return Buffer.from(message).fill('mad', at, at + 3);
    };
    const wrong = 'answered with a wrong signature';
    expect(await problemOf((message, n) => [n === 3 ? other(message) : message])).toBe(wrong);
    expect(await problemOf((message, n) => (n === 3 ? [] : [message]))).toBe(wrong);
    expect(await problemOf((message, n) => (n === 3 ? [message, message] : [message]))).toBe(wrong);
    expect(await problemOf((message, n) => (n < 3 ? [message] : null))).toBe(
      'closed the connection before the end of the zone',
    );
  });

  it('takes no transfer that lacks signatures', async () => {
    const bare = (message: Buffer) => {
      const { tsigAt } = readAnswer(message, message.readUInt16BE());
      if (tsigAt === -1) return message;
      const cut = Buffer.from(message.subarray(0, tsigAt));
      cut.writeUInt16BE(cut.readUInt16BE(10) - 1, 10);
      return cut;
    };
    expect(await problemOf((message) => [bare(message)])).toBe('answered without a signature');
    let messages = 0;
    expect(await problemOf((message) => [(messages++, message)])).toBe('none');
    const end = (message: Buffer, n: number) => [n === messages - 1 ? bare(message) : message];
    expect(await problemOf(end)).toBe('ended without a signature');
  });

  it('ends when the primary answers nothing, or does not go on', async () => {
    const silent = portOf(await startTcp(() => undefined));
    const nothing = open(urlOf(silent, null), { idleTimeoutMs: 20 });
    await expect(nothing).rejects.toThrow('sent nothing within 0.02 s');
    const stalls = problemOf((message, n) => (n < 3 ? [message] : []), { idleTimeoutMs: 500 });
    expect(await stalls).toMatch(/^sent nothing within 0.5 s$/);
    const aborted = open(urlOf(silent, null), { signal: AbortSignal.abort(new Error('stops')) });
    await expect(aborted).rejects.toThrow('stops');
  });

  it('ends a transfer that does not end', async () => {
    const endless = await startTcp((socket) => {
      socket.once('data', (query: Buffer) => {
        const isTransfer = query.includes(Buffer.from([0, 252, 0, 1]));
        const header = Buffer.from(query.subarray(2, 14));
        header.writeUInt16BE(0x8400, 2);
        const message = (answers: number, records: Uint8Array) => {
          header.writeUInt16BE(answers, 6);
          return framed(Buffer.concat([header, query.subarray(14), records]));
        };
        const soa = bytesOf(`c00c 0006 0001 00000000 0016 00 00 00000009 ${'00'.repeat(16)}`);
        const cname = bytesOf('0161 c00c 0005 0001 00000000 0001 00');
        socket.write(message(1, soa));
        const more = () => {
          while (isTransfer && socket.writable && socket.write(message(1, cname)));
        };
        socket.on('drain', more);
        more();
      });
    });
    const url = urlOf(portOf(endless), null);
    const opened = open(url, { maxBytes: 1_000_000 }).then(read);
    await expect(opened).rejects.toThrow('is larger than 1000000 bytes');
    await expect(open(url, { timeoutMs: 300 }).then(read)).rejects.toThrow('did not end within');
  });
});
