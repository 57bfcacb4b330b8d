import { NameList, type SourceDefinition } from '@weir/catalogue';
import {
  makeKey,
  type MadeKey,
  type Primary,
  startNamed,
  startNsd,
  startProxy,
  updateNamed,
  writeZone,
} from '@weir/catalogue/testing/primaries';
import { parseHashKey } from '@weir/dns-name';
import { needs } from '@weir/ops/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { HASH_KEY } from '../../testing/harness.js';
import { type ReadOutcome, readSource } from './read-source.js';

const KEY = parseHashKey(HASH_KEY);
const FEED = 'feed.example';
/** One for each test that changes it; `file` is changed by writing it again. */
const ZONES = ['changes', 'random', 'unfit', 'large', 'file'].map(
  (label) => `${label}.zone.example`,
);
const [CHANGES, RANDOM, UNFIT, LARGE, FILE] = ZONES;
const NAMES = Array.from({ length: 500 }, (_, i) => `n${i}.example`);
const blocked = (names: readonly string[]) => names.map((name) => `${name} CNAME .`);
const PROTECTED = 'bank.example';

type Read = Extract<ReadOutcome, { status: 'read' }>;

describe(
  'readSource of a zone that changes',
  needs('named', 'nsd', 'tsig-keygen', 'nsupdate'),
  () => {
    let folder: string;
    let key: MadeKey;
    let named: Primary;
    let nsd: Primary;
    const proxies: Server[] = [];

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'weir-changes-'));
      key = makeKey(FEED, 'hmac-sha256');
      for (const zone of ZONES) writeZone(folder, zone, blocked(NAMES));
      named = await startNamed(folder, ZONES, [key]);
      nsd = await startNsd(folder, ZONES, key);
    }, 300_000);
    afterEach(() => {
      vi.restoreAllMocks();
      for (const proxy of proxies.splice(0)) proxy.close();
    });
    afterAll(async () => {
      await Promise.all([named.stop(), nsd.stop()]);
      rmSync(folder, { recursive: true });
    });

    /** @param before what was read before, or with other places or another etag; null: nothing was. */
    const read = async (zone: string, before: Read | null, port = named.port) => {
      const source: SourceDefinition = {
        name: zone,
        declaredAt: 'catalogue.yaml:1',
        location: { url: `rpz://127.0.0.1:${port}/${zone}?key=${FEED}` },
        mirrors: [],
        format: 'rpz',
        list: null,
        sha256: null,
        refreshMs: 60_000,
        licence: null,
        commercialUse: null,
        size: null,
      };
      const { etag = null } = before?.list ?? {};
      const neverBlock = [PROTECTED];
      const limits = { timeoutMs: 300_000, maxBytes: 1e8, tsigKeys: [key.text] };
      const known = { etag, lastModified: null, mirror: null, before: before?.list ?? null };
      const outcome = await readSource({ source, key: KEY, ...known, neverBlock, limits });
      if (outcome.status !== 'read') throw new Error(JSON.stringify(outcome));
      return outcome;
    };
    const first = (zone: string, port?: number) =>
      vi.waitFor(() => read(zone, null, port), { timeout: 120_000, interval: 100 });
    const update = (zone: string, ...changes: string[]) =>
      updateNamed(
        named,
        key,
        zone,
        changes.map((change) => `update ${change}`),
      );
    const add = (zone: string, name: string, to = '.') => `add ${name}.${zone} 60 CNAME ${to}`;
    const remove = (zone: string, name: string) => `delete ${name}.${zone} CNAME`;

    const domains = (names: readonly string[]) => NameList.of(names, KEY).toBytes(KEY);
    const CHANGED = { isIncremental: true, problem: null };
    const whole = (problem: string | null) => ({ isIncremental: false, problem });
    /** All of a list but where it was found. */
    const expectSame = ({ list }: Read, expected: Read) => {
      expect({ ...list, places: null }).toEqual({ ...expected.list, places: null });
    };

    it('applies what BIND says has changed, as the whole zone would have it', async () => {
      let now = await first(CHANGES);
      expect(now.transfer).toEqual(whole(null));
      const follow = async (...changes: string[]) => {
        update(CHANGES, ...changes);
        now = await read(CHANGES, now);
        expect(now.transfer).toEqual(CHANGED);
        expectSame(now, await read(CHANGES, null));
        return now.list;
      };
      await follow(add(CHANGES, 'new.example'), remove(CHANGES, 'n0.example'));
      expect(now.list.names).toEqual(domains([...NAMES.slice(1), 'new.example']));
      // Both records of a name, one after the other.
      await follow(add(CHANGES, '*.new.example'), add(CHANGES, '*.wild.example', '*.'));
      await follow(remove(CHANGES, 'new.example'));
      expect(now.list.names).toEqual(domains([...NAMES.slice(1), 'new.example', 'wild.example']));
      await follow(remove(CHANGES, '*.new.example'));
      expect(now.list.names).toEqual(domains([...NAMES.slice(1), 'wild.example']));
      // Another policy, one that blocks and one that does not; and records that list nothing.
      await follow(remove(CHANGES, 'n1.example'), add(CHANGES, 'n1.example', 'rpz-drop.'));
      await follow(remove(CHANGES, 'n2.example'), add(CHANGES, 'n2.example', 'rpz-passthru.'));
      await follow(`add garden.example.${CHANGES} 60 A 192.0.2.1`);
      expect(now.list.names).toEqual(domains(['n1.example', ...NAMES.slice(3), 'wild.example']));
      const invalid = await follow(add(CHANGES, 'com'), add(CHANGES, 'co.uk'));
      expect(invalid.invalidCount).toBe(2);
      expect((await follow(remove(CHANGES, 'com'))).invalidCount).toBe(1);
      const name = `www.${PROTECTED}`;
      expect(await follow(add(CHANGES, name))).toMatchObject({ protectedCount: 1 });
      expect(await follow(add(CHANGES, 'other.example'))).toMatchObject({ protectedCount: 1 });
      expect(await follow(remove(CHANGES, name))).toMatchObject({ protectedCount: 0 });
    });

    it('applies several changes at once, and keeps since when each name is there', async () => {
      let now = await first(RANDOM);
      const since = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
      for (let round = 0; round < 5; round++) {
        for (let change = 0; change < 8; change++) {
          const [from, to] = [change * 40 + round, (change * 83 + round * 7) % 500];
          update(RANDOM, remove(RANDOM, `n${from}.example`));
          update(RANDOM, add(RANDOM, `n${to}.example`), add(RANDOM, `*.n${to}.example`));
        }
        now = await read(RANDOM, now);
        expect(now.transfer).toEqual(CHANGED);
        expectSame(now, await read(RANDOM, null));
      }
      since.mockReturnValue(Date.now() + 100_000);
      update(RANDOM, add(RANDOM, 'late.example'));
      const times = (one: Read) =>
        new Set(new Uint32Array(one.list.places.slice().buffer).filter((_, i) => i % 2 === 1));
      const before = times(now);
      expect(times(await read(RANDOM, now)).size).toBe(before.size + 1);
    });

    it('applies what nsd says has changed', async () => {
      const before = await first(FILE, nsd.port);
      writeZone(folder, FILE, blocked([...NAMES.slice(3), 'new.example', '*.n9.example']), 8);
      nsd.reload();
      // Meanwhile one process of nsd may tell the new serial, and another one send the zone before.
      const now = await vi.waitFor(
        async () => {
          const one = await read(FILE, before, nsd.port);
          expect(one.transfer).toEqual(CHANGED);
          return one;
        },
        { timeout: 120_000 },
      );
      expect(now.list.etag).toBe('serial 8');
      expectSame(now, await read(FILE, null, nsd.port));
    });

    it('takes the whole zone when the changes do not fit the list', async () => {
      const before = await first(UNFIT);
      update(UNFIT, remove(UNFIT, 'n0.example'), add(UNFIT, 'new.example'));
      const all = await read(UNFIT, null);
      const readWith = async (list: Partial<Read['list']>) => {
        const outcome = await read(UNFIT, { ...before, list: { ...before.list, ...list } });
        expectSame(outcome, all);
        return outcome.transfer;
      };
      expect(await readWith({})).toEqual(CHANGED);
      const other = domains([...NAMES.slice(1), 'other.example']);
      expect(await readWith({ names: other })).toEqual(whole('removes a record that is not there'));
      const more = domains([...NAMES.slice(0, -1), 'new.example']);
      expect(await readWith({ names: more })).toEqual(whole('adds a record that is there'));
      // As lists are stored of other formats, or damaged.
      const withoutRecords = (of: Uint8Array) => {
        const words = new Uint32Array(of.slice().buffer).map((word) => word & 0x1fff_ffff);
        return new Uint8Array(words.buffer);
      };
      const unknown = whole('changes a name whose records are not known');
      expect(await readWith({ places: withoutRecords(before.list.places) })).toEqual(unknown);
      expect(await readWith({ names: other.slice(1) })).toEqual(whole(null));
      // Serials that the server never had, or that are newer than its own.
      expect(await readWith({ etag: 'serial 3' })).toEqual(whole('answered with the whole zone'));
      expect(await readWith({ etag: 'serial 900' })).toEqual(whole(null));
      // Only an addition: the name may be listed by this record already.
      update(UNFIT, add(UNFIT, '*.n5.example'));
      const places = withoutRecords(all.list.places);
      const added = await read(UNFIT, { ...all, list: { ...all.list, places } });
      expect(added.transfer).toEqual(unknown);
      expectSame(added, await read(UNFIT, null));
    });

    it('takes the whole zone when the server sends no changes, or wrong ones', async () => {
      const before = await first(LARGE);
      const many = Array.from({ length: 3_000 }, (_, i) => add(LARGE, `more${i}.example`));
      for (let at = 0; at < many.length; at += 500) update(LARGE, ...many.slice(at, at + 500));
      const all = await read(LARGE, null);
      /** Behind a proxy that changes the messages of the first transfer. */
      const readBehind = async (change: Parameters<typeof startProxy>[1]) => {
        let connections = 0;
        const proxy = await startProxy(named.port, (message, number) => {
          if (number === 0) connections++;
          return connections === 1 ? change(message, number) : [message];
        });
        proxies.push(proxy);
        const outcome = await read(LARGE, before, (proxy.address() as AddressInfo).port);
        expectSame(outcome, all);
        return outcome.transfer;
      };
      expect(await readBehind((message) => [message])).toEqual(CHANGED);
      const refused = (message: Buffer) => {
        const answer = Buffer.concat([message.subarray(0, 4), Buffer.alloc(8)]);
        answer[3] = 5;
        return [answer];
      };
      expect(await readBehind(refused)).toEqual(whole('answered REFUSED'));
      expect(await readBehind(() => null)).toEqual(
        whole('closed the connection before the end of the zone'),
      );
      expect(await readBehind((message, n) => (n === 0 ? [message] : null))).toEqual(
        whole('closed the connection before the end of the zone'),
      );
      const wrong = (message: Buffer, n: number) => {
        const other = Buffer.from(message);
        if (n === 1) other[other.length >> 1] ^= 1;
        return [other];
      };
      expect((await readBehind(wrong))?.problem).toMatch(/wrong signature|malformed/);
    });
  },
);
