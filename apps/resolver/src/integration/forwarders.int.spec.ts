import { CatalogueImage, compileCatalogue, NameList } from '@weir/catalogue';
import { type Operation, type PutOperation, RuleVerdict } from '@weir/config-model';
import { hashDomain, parseHashKey } from '@weir/dns-name';
import { needs } from '@weir/ops/testing';
import {
  domainRule,
  HASH_KEY_HEX,
  loopback,
  policyOf,
  profile,
  put,
} from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  forwardTo,
  makeKey,
  type NameServer,
  signZone,
  startNamedForwarder,
  startNsd,
  startUnbound,
  writeZone,
} from '../testing/name-servers.js';
import { run } from '../testing/programs.js';
import { startService } from '../testing/service.js';
import { inSharedMemory, SharedSource } from '../testing/shared-source.js';
import { TestClock } from '../testing/test-clock.js';

const key = parseHashKey(HASH_KEY_HEX);
const NOW = Date.UTC(2026, 10, 24, 12) / 1000;
const PAGE = '192.0.2.80';
const OPEN = '198.51.100.1';
/** How long what ends soon still holds. */
const SOON = 3;
/** A forwarder counts in whole seconds, and so does the resolver. */
const ROUNDING_S = 2;
const BLOCK_TTL = 600;
const { image } = compileCatalogue(
  {
    categories: [
      { id: 2, name: 'Gambling', lists: [NameList.of(['bet.example'], key)] },
      { id: 3, name: 'Malware', purpose: 'security', lists: [NameList.of(['evil.example'], key)] },
      ...[
        { id: 5, name: 'Court list', purpose: 'legal', mandatory: true } as const,
        { id: 6, name: 'Botnets', purpose: 'security', mandatory: true } as const,
        { id: 7, name: 'Hidden', purpose: 'legal', mandatory: true, secret: true } as const,
      ].map((group) => ({
        ...group,
        lists: [NameList.of([`mandatory${group.id}.example`], key)],
      })),
    ],
    applications: [],
  },
  key,
);

function order(domain: string, until: number | null = null, id = 1): PutOperation {
  const texts = { authority: 'District Court', reference: '1 A 23' };
  return put('order', { id, domainHash: hashDomain(domain, key), until, ...texts });
}

function grant(domain: string, verdict: RuleVerdict, until: number): PutOperation {
  return put('grant', { profileId: 1, domainHash: hashDomain(domain, key), verdict, until });
}

/** The names that are blocked, and the only code that their error may have. */
const BLOCKED = {
  'www.ordered.example': 16,
  'mandatory5.example': 16,
  'mandatory6.example': 15,
  'mandatory7.example': 16,
  'www.bet.example': 17,
  'evil.example': 15,
  'denied.example': 17,
  'granted.example': 17,
};
/** What a client may send besides its question. */
const OPTIONS = [
  ['+ednsopt=65001:00', '+ednsopt=65002'],
  ['+nsid', '+cookie', '+subnet=192.0.2.0/24'],
  ['+dnssec', '+cdflag', '+adflag'],
  ['+padding=128', '+ednsopt=15:0010'],
  ['+tcp', '+bufsize=512'],
  ['+noedns'],
];

const dig = (at: readonly string[], ...args: string[]) => run('dig', [...at, ...args]);
/** The TTL, the type and the data of the first record of the answer. */
async function firstOf(printed: Promise<string>) {
  const [, ttl, , type, ...data] = (await printed).trim().split('\n')[0].split(/\s+/);
  return { ttl: Number(ttl), type, data: data.join(' ') };
}

/** Asks until the answer is another one: no later than the one before it has expired. */
async function isNotKept(askedMs: number, isAsBefore: () => Promise<boolean>): Promise<void> {
  for (;;) {
    const seconds = (performance.now() - askedMs) / 1000;
    if (!(await isAsBefore())) return;
    expect(seconds).toBeLessThan(SOON + ROUNDING_S);
  }
}

/** nsd has the zones, the resolver asks it, and a program forwards to the resolver. */
describe('in front of the resolver', needs('nsd', 'ldns-signzone', 'ldns-keygen', 'dig'), () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-forwarders-'));
  let nsd: NameServer;
  let signed: string;
  beforeAll(async () => {
    const names = ['free', 'ordered', 'ends', 'later', ...Object.keys(BLOCKED)];
    const labels = names.map((name) => name.replace(/\.example$/, ''));
    const records = labels.flatMap((name) => [`${name} 1 A ${OPEN}`, `${name} 1 HTTPS 1 .`]);
    writeZone(folder, { origin: 'example', records: [...records, `lasting 3600 A ${OPEN}`] });
    const inZone = [`www A ${OPEN}`, `ordered A ${OPEN}`];
    writeZone(folder, { origin: 'signed.example', records: inZone });
    signed = makeKey(folder, 'signed.example');
    signZone(folder, 'signed.example', signed);
    nsd = await startNsd(folder);
  });
  afterAll(async () => {
    await nsd.stop();
    rmSync(folder, { recursive: true });
  });

  /** The resolver. `skip` moves its wall clock, and no other. */
  async function serve(...more: PutOperation[]) {
    const clock = new TestClock({ wallMs: NOW * 1000 });
    const policy = policyOf(
      profile(1, { categoryIds: [2, 3] }),
      loopback(1),
      domainRule(1, 'deny', 'denied.example'),
      domainRule(1, 'deny', 'lasting.example'),
      order('ordered.example'),
      grant('granted.example', RuleVerdict.deny, NOW + 86_400),
      ...more,
    );
    policy.setCatalogue(CatalogueImage.open(inSharedMemory(image), key));
    const source = new SharedSource(policy);
    const { port } = await startService(
      { BLOCK_PAGE_IPV4: [PAGE], BLOCK_TTL, BLOCK_RESOLVER_DISCOVERY: false },
      { upstreams: [nsd.endpoint], source, times: clock.times },
    );
    const apply = (...operations: Operation[]): void => {
      source.change(() => {
        policy.apply({ revision: policy.revision + 1, digest: '', operations });
      });
    };
    const skip = (seconds: number): void => {
      clock.times[0] += seconds * 1000;
    };
    const endpoint = { address: '127.0.0.1', port };
    return { endpoint, stop: () => Promise.resolve(), apply, skip };
  }

  /** A folder of its own, until the end of the test. */
  function makeFolder(): string {
    const own = mkdtempSync(join(tmpdir(), 'weir-forwarder-'));
    onTestFinished(() => {
      rmSync(own, { recursive: true });
    });
    return own;
  }

  describe.each([
    [
      'unbound',
      needs('unbound'),
      (resolver: NameServer) => startUnbound(makeFolder(), resolver, []),
    ],
    ['BIND', needs('named'), (resolver: NameServer) => startNamedForwarder(makeFolder(), resolver)],
  ])('%s', (_, programs, start) => {
    const forward = async (...more: PutOperation[]) => {
      const resolver = await serve(...more);
      const forwarder = await start(resolver);
      onTestFinished(() => forwarder.stop());
      const at = ['@127.0.0.1', '-p', String(forwarder.endpoint.port)];
      const ask = (name: string, type = 'A') =>
        firstOf(dig(at, '+noall', '+answer', '+authority', name, type));
      return { ...resolver, at, ask };
    };

    it(
      'passes on what is blocked, whatever the reason, and no reason that is wrong',
      programs,
      async () => {
        const { at, ask } = await forward();
        expect(await ask('free.example')).toMatchObject({ type: 'A', data: OPEN });
        for (const [name, code] of Object.entries(BLOCKED)) {
          const types = ['A', 'AAAA', 'HTTPS', 'MX'].flatMap((type) => [name, type]);
          const printed = await dig(at, ...types);
          expect(printed.match(/status: NOERROR/g)).toHaveLength(4);
          expect(printed.match(/\sIN\s+(?:A|AAAA)\s+\S+$/gm)).toEqual([
            expect.stringMatching(/\sA\s+192\.0\.2\.80$/),
            expect.stringMatching(/\sAAAA\s+2001:db8::80$/),
          ]);
          expect(printed.match(/ANSWER: 0, AUTHORITY: 1/g)).toHaveLength(2);
          // Neither of them passes errors on: unbound 1.17, BIND 9.18.
          const codes = [...printed.matchAll(/EDE: (\d+)/g)].map(([, one]) => Number(one));
          expect(codes.filter((one) => one !== code)).toEqual([]);
        }
      },
    );

    it('passes it on to clients that send options which nobody knows', programs, async () => {
      const { at } = await forward();
      const names = Object.keys(BLOCKED);
      for (const options of OPTIONS) {
        const printed = await dig(at, ...options, ...names);
        expect(printed.match(/status: NOERROR/g)).toHaveLength(names.length);
        const blocks = printed.match(/^\S+\.example\.\s+\d+\s+IN\s+A\s+192\.0\.2\.80$/gm);
        expect(blocks).toHaveLength(names.length);
      }
      // A version of EDNS that nobody has: the forwarder says so, and goes on.
      expect(await dig(at, '+edns=1', '+noednsnegotiation', 'evil.example')).toContain('BADVERS');
      expect(await dig(at, '+short', 'evil.example')).toBe(`${PAGE}\n`);
    });

    it('keeps the block of an order no longer than to its end', programs, async () => {
      const { ask, skip } = await forward(order('ends.example', NOW + SOON, 2));
      const [block, service] = [await ask('ends.example'), await ask('ends.example', 'HTTPS')];
      const askedMs = performance.now();
      expect(block).toMatchObject({ type: 'A', data: PAGE });
      expect(service.type).toBe('SOA');
      for (const { ttl } of [block, service]) expect(ttl).toBeLessThanOrEqual(SOON);
      expect((await ask('www.ordered.example')).ttl).toBeGreaterThan(SOON);
      skip(SOON);
      await isNotKept(askedMs, async () => (await ask('ends.example')).data === PAGE);
      await isNotKept(askedMs, async () => (await ask('ends.example', 'HTTPS')).type === 'SOA');
      expect(await ask('www.ordered.example')).toMatchObject({ type: 'A', data: PAGE });
    });

    it('keeps what a grant allows no longer than the grant', programs, async () => {
      const { ask, skip } = await forward(grant('lasting.example', RuleVerdict.allow, NOW + SOON));
      const allowed = await ask('lasting.example');
      const askedMs = performance.now();
      expect(allowed).toMatchObject({ type: 'A', data: OPEN });
      expect(allowed.ttl).toBeLessThanOrEqual(SOON);
      skip(SOON);
      await isNotKept(askedMs, async () => (await ask('lasting.example')).data !== PAGE);
    });

    it('passes an order on as soon as the answer before it has expired', programs, async () => {
      const { ask, apply } = await forward();
      expect(await ask('later.example')).toMatchObject({ type: 'A', data: OPEN });
      apply(order('later.example', null, 3));
      await expect.poll(async () => (await ask('later.example')).data).toBe(PAGE);
    });
  });

  it(
    'unbound that validates answers for a name of a signed zone with SERVFAIL',
    needs('unbound'),
    async () => {
      const resolver = await serve(order('ordered.signed.example', null, 4));
      const forwarder = await startUnbound(folder, resolver, [signed]);
      onTestFinished(() => forwarder.stop());
      const at = ['@127.0.0.1', '-p', String(forwarder.endpoint.port)];
      expect(await dig(at, 'www.signed.example')).toMatch(/flags: qr rd ra ad;[^]*198\.51\.100\.1/);
      const blocked = await dig(at, 'ordered.signed.example');
      expect(blocked).toContain('status: SERVFAIL');
      expect(blocked).not.toContain(OPEN);
      // Its neighbours stay valid, and names of zones that are not signed have the block page.
      expect(await dig(at, '+short', 'www.signed.example')).toBe(`${OPEN}\n`);
      expect(await dig(at, '+short', 'www.ordered.example')).toBe(`${PAGE}\n`);
    },
  );

  it('unbound-host is told each block as an answer', needs('unbound-host'), async () => {
    const resolver = await serve(order('ordered.signed.example', null, 4));
    const file = join(makeFolder(), 'host.conf');
    const settings = forwardTo(folder, resolver, [signed]);
    writeFileSync(file, `${['server:', ...settings].join('\n')}\n`);
    const ask = (name: string) => run('unbound-host', ['-C', file, '-v', '-t', 'A', name]);
    for (const name of Object.keys(BLOCKED)) {
      expect(await ask(name)).toBe(`${name} has address ${PAGE} (insecure)\n`);
    }
    expect(await ask('free.example')).toBe(`free.example has address ${OPEN} (insecure)\n`);
    expect(await ask('www.signed.example')).toContain(`has address ${OPEN} (secure)`);
    expect(await ask('ordered.signed.example')).toContain(`has address ${PAGE} (BOGUS`);
  });
});
