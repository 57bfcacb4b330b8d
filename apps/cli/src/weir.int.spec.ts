import { ClientAddress, IncidentSeal } from '@weir/clients';
import type { Json } from '@weir/control-plane/http/validation/dto';
import type { OrderStateDto } from '@weir/control-plane/resources/orders/order.dto';
import { freePort, makeCertificate } from '@weir/ops/testing';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Terminal } from '../../weir-e2e/src/testing/terminal.js';
import { holdList } from '../../control-plane/src/testing/hold-list.js';
import { type Harness, startHarness, TOKEN } from '../../control-plane/src/testing/harness.js';
import { Api, Unreachable } from './api/api.js';
import { runWeir } from './testing/run-weir.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const INCIDENT_KEYS = '000102030405060708090a0b0c0d0e0f';
const WAIT_MS = 120_000;
const BODY = {
  blockpages: [{ id: 1, type: 0 }],
  profiles: [{ profile: { id: 1, page_id: 1 }, cat_ids: [12], apps: [] }],
  bw_lists: [],
  napts: [],
  nets: [{ ip: '192.0.2.0', prefix_len: 24, profile_id: 1 }],
  nets6: [],
};

/** Where the last column of a line of `weir changes` begins. */
const columnOfWhat = (line: string) =>
  /^ *\d+ {2}\S+ {2}\S+ +(?:-|[A-Z]+ \S+) +/.exec(line)?.[0].length;

describe('weir beside a control plane', () => {
  let harness: Harness;
  let folder: string;
  let environment: Record<string, string>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weir-cli-'));
    harness = await startHarness({ INCIDENT_KEYS });
    environment = { WEIR_URL: `${harness.baseUrl}/`, WEIR_TOKEN: TOKEN };
    await harness.call('POST', '/blockpage/', { id: 1, type: 0 });
    await harness.call('POST', '/profiles/', { profile: { id: 1, page_id: 1 }, cat_ids: [12] });
    await harness.call('POST', '/profiles/', { profile: { id: 2 } });
    await harness.call('POST', '/net/', { ip: '192.0.2.0', prefix_len: 24, profile_id: 1 });
    await harness.call('POST', '/profile/1/bw_list', { type: 'deny', domain: 'example.com' });
  });
  afterAll(async () => {
    await harness.stop();
    rmSync(folder, { recursive: true });
  });

  const run = (...argv: string[]) => runWeir(argv, environment);
  const json = async <T>(...argv: string[]) => {
    const { code, out, errors } = await run(...argv, '--json');
    expect([code, errors, out.length]).toEqual([0, [], 1]);
    return JSON.parse(out[0]) as T;
  };
  it('says what its token may do', async () => {
    const own = { name: 'env-1', scope: 'replace', sources: null, expires: null };
    expect(await json('token', 'show')).toEqual(own);
    for (const argv of [['token'], ['token', 'show']]) {
      expect(await run(...argv)).toEqual({
        code: 0,
        out: ['name     env-1', 'scope    replace', 'sources  -', 'expires  -'],
        errors: [],
      });
    }
  });

  it.each([
    [
      'why a name is blocked',
      ['192.0.2.7:4000', 'www.example.com', '--type', 'AAAA'],
      [/^client +192\.0\.2\.7 port 4000$/, /^subscriber +net: ip 192\.0\.2\.0, /],
      [
        /^=> +domain_rule +deny +example\.com/,
        /^verdict +deny$/,
        /^flip +POST \/profile\/1\/bw_list \{/,
      ],
    ],
    [
      'by which category',
      ['192.0.2.7', 'casino.example.com'],
      [/^domain +casino\.example\.com A$/],
      [/^ +category +deny +casino\.example\.com +cat_id 12, name Gambling/],
    ],
    [
      'that nobody knows the client',
      ['[2001:db8::7]:53', 'www.example.com'],
      [/^client +2001:db8::7 port 53$/, /^subscriber +none$/],
      [/^profile +none$/, /^verdict +refused$/, /^flip +-$/],
    ],
  ])('explains %s', async (_what, argv, ...patterns) => {
    const { code, out, errors } = await run('explain', ...argv);
    expect([code, errors]).toEqual([0, []]);
    for (const pattern of patterns.flat()) {
      expect(out).toContainEqual(expect.stringMatching(pattern));
    }
  });

  it('prints the explanation of the API as it is', async () => {
    const at = '2026-11-24T12:00:00Z';
    const said = await json('explain', '192.0.2.7', 'www.example.com', '--at', at);
    const path = `/explain/?client=192.0.2.7&domain=www.example.com&at=${at}`;
    expect(said).toEqual((await harness.call('GET', path)).body);
  });

  it('explains what a block page has shown, by its incident number alone', async () => {
    const client = new ClientAddress();
    client.set('192.0.2.7', 4000);
    const incident = new IncidentSeal([INCIDENT_KEYS]).seal({
      ...{ client, domain: 'www.example.com', atMs: Date.now() },
    });
    const { code, out } = await run('explain', '--incident', incident);
    expect(code).toBe(0);
    expect(out[0]).toMatch(/^client +192\.0\.2\.7 port 4000$/);
    const ofTarget = new IncidentSeal([INCIDENT_KEYS]).seal({
      ...{ client, domain: 'shop.example', target: 'www.example.com', atMs: Date.now() },
    });
    expect((await run('explain', '--incident', ofTarget)).out).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^domain +shop\.example A$/),
        expect.stringMatching(/^target +www\.example\.com, which its answer leads to, decided$/),
        expect.stringMatching(/^verdict +deny$/),
      ]),
    );
    const wrong = [
      [],
      ['192.0.2.7'],
      ['192.0.2.7', '--incident', incident],
      ['192.0.2.7', 'www.example.com', '--incident', incident],
      ['--incident', incident, '--at', '2026-11-24T12:00:00Z'],
    ];
    for (const argv of wrong) {
      expect(await run('explain', ...argv)).toEqual({
        code: 2,
        out: [],
        errors: ['weir: explain needs an address and a domain, or an incident number alone'],
      });
    }
    const { code: refused, errors } = await run('explain', '--incident', '-x');
    expect([refused, errors]).toEqual([
      1,
      [expect.stringMatching(/incident: Must be an incident number/)],
    ]);
  });

  it('adds an order, lists it with the proof of when it was in force, and ends it', async () => {
    const texts = ['--authority', 'District Court of Exampleton', '--reference', '12 O 345/26'];
    const added = await run('orders', 'add', '7', 'example.org', ...texts);
    expect(added).toEqual({
      code: 0,
      out: [expect.stringMatching(/^order 7 is in force on 0\/0 resolvers, revision \d+, .+ GMT$/)],
      errors: [],
    });
    const until = '2099-12-31T23:00:00Z';
    const other = await json('orders', 'add', '8', 'example.org', ...texts, '--until', until);
    expect(other).toMatchObject({ id: 8, authority: texts[1], reference: texts[3], until });
    expect((await run('orders', 'list')).out).toEqual([
      expect.stringMatching(/^id +state +until +in force at +on +authority +reference$/),
      expect.stringMatching(
        /^7 +pending +- +20\S+Z +0\/0 +District Court of Exampleton +12 O 345\/26$/,
      ),
      expect.stringMatching(/^8 +pending +2099-12-31T23:00:00Z +20\S+Z +0\/0 /),
    ]);
    const listed = await json<unknown[]>('orders', 'list');
    expect(listed).toEqual((await harness.call('GET', '/orders/')).body);
    const idsOf = async (...options: string[]) =>
      (await json<{ id: number }[]>('orders', 'list', ...options)).map(({ id }) => id);
    expect(await idsOf('--search', '12 o 345/26', '--state', 'pending')).toEqual([7, 8]);
    expect(await idsOf('--search', '8')).toEqual([8]);
    expect(await idsOf('--state', 'ended')).toEqual([]);
    expect((await run('orders', 'end', '7')).out).toEqual([
      expect.stringMatching(
        /^the end of order 7 is in force on 0\/0 resolvers, revision \d+, .+ GMT$/,
      ),
    ]);
    expect(await json('orders', 'end', '8')).toEqual({
      revision: expect.any(Number),
      applied: '0/0',
    });
    expect(await json('orders', 'list')).toEqual([]);
    const again = await run('orders', 'end', '7');
    expect([again.code, again.errors]).toEqual([1, ['weir: order 7 not found']]);
    const without = await run('orders', 'add', '7', 'example.org');
    expect([without.code, without.errors[0]]).toEqual([2, expect.stringContaining('--authority')]);
  });

  it('puts an order for a public suffix in force only when that is said', async () => {
    const texts = ['--authority', 'District Court', '--reference', '12 O 345/26'];
    const errors = [expect.stringMatching(/^weir: co\.uk is a public suffix: .+ --public-suffix$/)];
    const refused = { code: 2, out: [], errors };
    expect(await run('orders', 'add', '11', 'CO.UK', ...texts)).toEqual(refused);
    await run('orders', 'add', '11', 'example.co.uk', ...texts);
    expect(await run('orders', 'change', '11', '--domain', 'co.uk')).toEqual(refused);
    const meant = ['--domain', 'co.uk', '--public-suffix'];
    expect((await run('orders', 'change', '11', ...meant)).code).toBe(0);
    await run('orders', 'end', '11');
    expect((await run('orders', 'add', '11', 'com', '--public-suffix', ...texts)).code).toBe(0);
    await run('orders', 'end', '11');
  });

  it('changes of an order what is named, or nothing, for a new proof', async () => {
    const texts = ['--authority', 'District Court', '--reference', '12 O 345/26'];
    await run('orders', 'add', '9', 'example.org', ...texts, '--until', '2099-12-31T23:00:00Z');
    const listed = () => json<readonly Json<OrderStateDto>[]>('orders', 'list');
    const [before] = await listed();
    const changed = await run('orders', 'change', '9', '--reference', '7 C 11/26');
    expect(changed).toEqual({
      code: 0,
      out: [expect.stringMatching(/^order 9 is in force on 0\/0 resolvers, revision \d+, .+ GMT$/)],
      errors: [],
    });
    const reference = '7 C 11/26';
    const proof = { in_force: expect.any(Object) as object };
    expect(await listed()).toEqual([{ ...before, reference, ...proof }]);
    const authority = 'High Court';
    await run('orders', 'change', '9', '--no-until', '--authority', authority);
    expect(await listed()).toEqual([{ ...before, reference, authority, until: null, ...proof }]);
    const until = '2098-12-31T23:00:00Z';
    const moved = await json<Json<OrderStateDto>>(
      ...['orders', 'change', '9', '--domain', 'example.net', '--until', until],
    );
    expect(moved).toMatchObject({ id: 9, authority, reference, until });
    expect(moved.domain_hash).not.toBe(before.domain_hash);
    const again = await json<Json<OrderStateDto>>('orders', 'change', '9');
    expect(again).toEqual({ ...moved, ...proof });
    expect(again.in_force!.revision).toBeGreaterThan(moved.in_force!.revision);
    await run('orders', 'end', '9');
    const missing = await run('orders', 'change', '9');
    expect([missing.code, missing.errors]).toEqual([1, ['weir: order 9 not found']]);
  });

  it.each([
    ['orders', 'change', 'x'],
    ['orders', 'add', '', 'example.org', '--authority', 'a', '--reference', 'b'],
    ['orders', 'add', '0x10', 'example.org', '--authority', 'a', '--reference', 'b'],
    ['orders', 'end', '7.0'],
    ['grants', 'list', '1e1'],
    ['grants', 'add', '1', 'allow', 'example.org', '--minutes', '-5'],
    ['grants', 'delete', '1', '2147483648x'],
    ['changes', '--after', ' 1'],
    ['changes', '--profile', '2147483648'],
    ['profile', 'one', 'week'],
    ['profile', '1', 'week', '--days', '32'],
  ])('%s %s: of %j something is no number that it can be', async (...argv) => {
    expect(await run(...argv)).toMatchObject({
      code: 2,
      errors: [
        expect.stringMatching(/It must be an integer from \d+ to \d+\.$/),
        expect.any(String),
      ],
    });
  });

  it('adds a grant, for minutes or until a time, lists those that hold, and ends one', async () => {
    const added = await run('grants', 'add', '1', 'allow', 'example.org', '--minutes', '30');
    expect(added).toEqual({
      code: 0,
      out: [
        expect.stringMatching(
          /^grant \d+ until 20\S+Z is in force on 0\/0 resolvers, revision \d+, .+ GMT$/,
        ),
      ],
      errors: [],
    });
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const other = await json<{ id: number }>(
      ...['grants', 'add', '1', 'deny', 'example.net', '--until', until],
    );
    expect(other).toMatchObject({ profile_id: 1, verdict: 'deny' });
    expect((await run('grants', 'list', '1')).out).toEqual([
      expect.stringMatching(/^id +verdict +until$/),
      expect.stringMatching(/^\d+ +allow +20\S+Z$/),
      expect.stringMatching(new RegExp(`^${other.id} +deny +20\\S+Z$`)),
    ]);
    const listed = await json<unknown[]>('grants', 'list', '1');
    expect(listed).toEqual((await harness.call('GET', '/profile/1/grants')).body);
    expect((await run('grants', 'delete', '1', String(other.id))).out).toEqual([
      expect.stringMatching(/^the end of grant \d+ is in force on 0\/0 resolvers, revision \d+, /),
    ]);
    expect(await json('grants', 'list', '1')).toHaveLength(1);
    const again = await run('grants', 'delete', '1', String(other.id));
    expect([again.code, again.errors]).toEqual([
      1,
      [`weir: grant ${other.id} of profile 1 not found`],
    ]);
    const endless = await run('grants', 'add', '1', 'allow', 'example.org');
    expect([endless.code, endless.errors]).toEqual([1, ['weir: minutes: Field is required']]);
  });

  it('lists resolvers, and none', async () => {
    expect(await json('resolvers')).toEqual([]);
    expect((await run('resolvers')).out).toEqual([expect.stringMatching(/^name +state +address/)]);
  });

  it('lists the newest changes, those after a revision, and those of a profile', async () => {
    await harness.call('POST', '/profile/1/bw_list', { type: 'deny', domain: 'gone.example' });
    await harness.call('DELETE', '/profile/1/bw_list/gone.example');
    const { code, out } = await run('changes');
    expect(code).toBe(0);
    expect(out.at(-1)).toContain(' deleted bw_list profile_id 1 domain_hash ');
    expect(out.at(-2)).toMatch(
      /^ +\d+ {2}2\S+Z {2}env-1 +POST \/profile\/\S+ +bw_list profile_id 1 domain_hash \d+/,
    );
    expect(new Set(out.map(columnOfWhat)).size).toBe(1);
    interface Page {
      readonly changes: { revision: number }[];
      readonly next: number;
    }
    const { changes } = await json<Page>('changes');
    const [first] = changes;
    const after = String(first.revision);
    const page = await json<Page>('changes', '--after', after, '--limit', '2');
    expect(page.changes.map(({ revision }) => revision)).toEqual(
      [2, 3].map((i) => first.revision + i - 1),
    );
    const ofTwo = await json<Page>('changes', '--profile', '2');
    expect(ofTwo.changes).toHaveLength(1);
    expect((await json<Page>('changes', '--token', 'nobody')).changes).toEqual([]);
    for (const limit of ['0', '1001', 'x']) {
      expect(await run('changes', '--limit', limit)).toMatchObject({
        code: 2,
        errors: [
          expect.stringMatching(/--limit.*It must be an integer from 1 to 1000/),
          expect.any(String),
        ],
      });
    }
  });

  it('shows a week of a profile, in local time', async () => {
    await harness.call('POST', '/profile/1/schedule', {
      target_profile_id: 2,
      periods: [
        { start: { day: 'monday', time: '20:00' }, end: { day: 'tuesday', time: '06:00' } },
      ],
    });
    const argv = ['profile', '1', 'week', '--from', '2026-11-23T12:00:00Z', '--days', '3'];
    const { out } = await run(...argv);
    expect(out[0]).toMatch(/^from +until +active profile$/);
    expect(out[2]).toMatch(/^Mon 2026-11-23T20:00:00\S+ +Tue 2026-11-24T06:00:00\S+ +2$/);
    const week = await json<{ active_id: number }[]>(...argv);
    expect(week.map(({ active_id }) => active_id)).toEqual([1, 2, 1]);
    expect(await run('profile', '9', 'week')).toMatchObject({
      code: 1,
      errors: ['weir: profile 9 not found'],
    });
  });

  it('tells what a catalogue would change of the one in force', async () => {
    const candidate = join(folder, 'candidate');
    mkdirSync(candidate);
    const domains = '[casino.example.com, bet.example.com]';
    const yaml = `categories: [{ id: 12, name: Gambling, domains: ${domains} }]\n`;
    writeFileSync(join(candidate, 'catalogue.yaml'), yaml);
    const diff = (...argv: string[]) =>
      runWeir(['catalogue', 'diff', ...argv], harness.environment);
    const { CATALOGUE } = harness.environment;
    expect(await diff(candidate, '--catalogue', CATALOGUE)).toEqual({
      code: 0,
      errors: [],
      out: [
        'category 12, Gambling: +1 -0',
        '  + bet.example.com',
        'application 3, Video (gone): +0 -1',
        '  - video.example.com',
        'application 4, Chat (gone): +0 -1',
        '  - chat.example.com',
        'application 10, Games (gone): +0 -1',
        '  - games.example.com',
      ],
    });
    const [[version]] = await harness.sql('SELECT catalogue_version FROM config_head');
    expect((await diff(String(version))).out).toEqual([
      'the same names in the same categories and applications',
    ]);
    expect(await diff('4711')).toMatchObject({
      code: 1,
      errors: ['weir: the database has no catalogue 4711'],
    });
  });

  it('lists categories and sources of the catalogue, and accepts a held list', async () => {
    expect((await run('categories')).out).toContainEqual(expect.stringMatching(/^12 +Gambling /));
    const source = 'https://lists.example/held.txt';
    await holdList(harness, 12, source);
    const { out } = await run('catalogue', 'sources');
    expect(out[0]).toMatch(/^version \d+, in force since 2/);
    expect(out).toContainEqual(
      expect.stringMatching(/^category 12 +https:\/\/lists\.example\/held\.txt +domains +held /),
    );
    expect(await run('catalogue', 'accept', source)).toEqual({
      code: 0,
      out: [`${source}: a list of 5 names is taken`],
      errors: [],
    });
    expect(await run('catalogue', 'accept', source)).toMatchObject({
      code: 1,
      errors: [`weir: no list of ${source} is held`],
    });
  });

  it('finds the lists that hold a name', async () => {
    const found = await json<object[]>('catalogue', 'search', 'www.casino.example.com');
    const path = '/catalogue/search/?domain=www.casino.example.com';
    expect(found).toEqual((await harness.call('GET', path)).body);
    expect((await run('catalogue', 'search', 'www.casino.example.com')).out).toEqual([
      expect.stringMatching(/^of +name +source +matched +since +line$/),
      expect.stringMatching(/^category 12 +Gambling +inline +casino\.example\.com +2\S+Z +\d+$/),
    ]);
    expect((await run('catalogue', 'search', 'nowhere.example')).out).toHaveLength(1);
    expect(await run('catalogue', 'search', '*.example')).toMatchObject({
      code: 1,
      errors: [expect.stringMatching(/^weir: domain: /)],
    });
  });

  it('says what an init would change, makes it, and lists every fault of a body', async () => {
    const file = join(folder, 'body.json');
    writeFileSync(file, JSON.stringify(BODY));
    const dry = await run('init', '--dry-run', file);
    expect([dry.code, dry.errors]).toEqual([0, []]);
    expect(dry.out[0].split(/ +/)).toEqual(['', 'added', 'changed', 'removed', 'unchanged']);
    expect(dry.out).toContainEqual(expect.stringMatching(/^profiles +0 +0 +1 +1$/));
    expect(dry.out).toContain('profiles removed: 2');
    expect(dry.out.at(-1)).toMatch(/^\d+ subscribers would be affected, at revision \d+; nothing/);
    const { revision } = await json<{ revision: number }>('init', '--dry-run', file);

    const text = JSON.stringify(BODY);
    const made = await runWeir(['init', '-', '--json'], environment, [
      text.slice(0, 9),
      text.slice(9),
    ]);
    expect(JSON.parse(made.out[0])).toEqual({ revision: revision + 1, applied: '0/0' });
    expect((await run('init', '--dry-run', file)).out).toContainEqual(
      expect.stringMatching(/^0 subscribers would be affected/),
    );
    // As `weir init <(zcat body.json.gz)` has it.
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const [piped] = await Promise.all([run('init', '--dry-run', pipe), writeFile(pipe, text)]);
    expect(piped).toMatchObject({ code: 0, errors: [] });
    writeFileSync(file, '{"nets":[]}');
    const refused = await run('init', file);
    expect([refused.code, refused.out]).toEqual([1, []]);
    expect(refused.errors).toContain('weir: profiles: Field is required');
    writeFileSync(file, 'nets');
    expect(await run('init', file)).toMatchObject({ code: 1, errors: ['weir: Not JSON'] });
    expect(await run('init', folder)).toMatchObject({ errors: [`weir: ${folder} is a folder`] });
    expect(await run('init', join(folder, 'absent'))).toMatchObject({
      code: 1,
      errors: [expect.stringContaining('ENOENT')],
    });
  });

  it('gives the changes of a profile as before when a backup is restored', async () => {
    const file = join(folder, 'weir.backup');
    const database = { DATABASE_URL: harness.environment['DATABASE_URL'] };
    const ofTwo = async () =>
      ((await harness.call('GET', '/changes/?profile_id=2')).body as { changes: object[] }).changes;
    const before = await ofTwo();
    // It was made, and the body above has it no more.
    expect(before).toHaveLength(2);
    expect(await runWeir(['backup', file], database)).toMatchObject({ code: 0 });
    await harness.call('POST', '/profiles/', { profile: { id: 2 } });
    expect(await ofTwo()).toHaveLength(3);
    // Whoever reads its output may stop before it is done.
    const restored = await runWeir(['restore', '--replace', file], database);
    expect(restored).toMatchObject({
      code: 0,
      out: [expect.stringMatching(/^the database is at revision \d+ again, /)],
      errors: [expect.stringMatching(/^restoring revision /), expect.any(String)],
    });
    expect(await ofTwo()).toEqual(before);
  });

  it('counts all that a change has changed, also beyond the keys of its record', async () => {
    const nets = Array.from({ length: 300 }, (_, i) => ({
      ...{ ip: `198.51.${100 + (i >> 8)}.${i & 255}`, prefix_len: 32, profile_id: 1 },
    }));
    const body = JSON.stringify({ ...BODY, nets: [...BODY.nets, ...nets] });
    await runWeir(['init', '-'], environment, [body]);
    expect((await run('changes', '--limit', '1')).out[0]).toContain(', 295 more (');
  });
});

describe('weir --follow and --watch', () => {
  let harness: Harness;
  const opened: Terminal[] = [];
  beforeAll(async () => {
    // Still free when it starts again: none of those that the kernel gives away.
    harness = await startHarness({ MANAGEMENT_PORT: String(await freePort()) });
    await harness.call('POST', '/profiles/', { profile: { id: 1 } });
  });
  afterAll(async () => {
    await Promise.all(opened.map((one) => one.interrupt()));
    await harness.stop();
  });

  /** The program in a process of its own. */
  const open = (...argv: string[]) => {
    const env = { PATH: process.env['PATH'] ?? '', WEIR_URL: harness.baseUrl, WEIR_TOKEN: TOKEN };
    const terminal = new Terminal('apps/cli/weir', argv, { cwd: ROOT, env });
    opened.push(terminal);
    return terminal;
  };

  it('goes on with changes and resolvers while the control plane restarts, and ends with 0', async () => {
    const following = open('changes', '--follow', '--json', '--limit', '1');
    const watching = open('resolvers', '--watch', '--json');
    const revisions = () =>
      following.output
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => (JSON.parse(line) as { revision: number }).revision);
    await expect.poll(revisions, { timeout: WAIT_MS }).toHaveLength(1);
    await watching.waitFor('[]', WAIT_MS);
    const one = { type: 'deny', domain: 'one.example' };
    const made = await harness.call('POST', '/profile/1/bw_list', one);
    await expect.poll(revisions, { timeout: WAIT_MS }).toHaveLength(2);

    const other = await harness.startReplica({ MANAGEMENT_PORT: '0' });
    await harness.controlPlane.stop();
    for (const terminal of [following, watching]) await terminal.waitFor('trying again', WAIT_MS);
    const before = watching.output.length;
    const call = (domain: string) =>
      fetch(`http://127.0.0.1:${other.managementPort}/profile/1/bw_list`, {
        method: 'POST',
        headers: { ...harness.authorization, 'Content-Type': 'application/json' },
        body: JSON.stringify({ type: 'deny', domain }),
      });
    // Nobody follows while these are made.
    for (const domain of ['two.example', 'three.example']) {
      expect((await call(domain)).status).toBe(201);
    }
    const again = await harness.startReplica();
    await expect.poll(revisions, { timeout: WAIT_MS }).toHaveLength(4);
    await expect.poll(() => watching.output.slice(before), { timeout: WAIT_MS }).toContain('[]');
    const first = Number(made.headers.get('x-config-revision'));
    expect(revisions()).toEqual([first - 1, first, first + 1, first + 2]);
    for (const terminal of [following, watching]) expect(await terminal.interrupt()).toBe(0);
    expect(following.output + watching.output).not.toContain(TOKEN);
    await other.stop();
    await again.stop();
  }, 600_000);
});

describe('weir', () => {
  it('watches on after an answer that broke off', async () => {
    let answers = 0;
    const server = createServer((_request, response) => {
      response.setHeader('Content-Type', 'application/json').setHeader('X-Request-Id', '1');
      if (++answers !== 2) response.end('[]');
      else response.write('[', () => response.destroy());
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const WEIR_URL = `http://127.0.0.1:${port}`;
    const env = { PATH: process.env['PATH'] ?? '', WEIR_URL, WEIR_TOKEN: TOKEN };
    const argv = ['resolvers', '--watch', '--json'];
    const watching = new Terminal('apps/cli/weir', argv, { cwd: ROOT, env });
    await watching.waitFor('trying again', WAIT_MS);
    await expect.poll(() => watching.output, { timeout: WAIT_MS }).toMatch(/again\n\[\]/);
    expect(await watching.interrupt()).toBe(0);
    server.close();
  });

  it('waits for an answer no longer than its deadline', async () => {
    const server = createServer((request, response) => {
      response.setHeader('Content-Type', 'application/json').setHeader('X-Request-Id', '1');
      if (request.url === '/half') response.write('[');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const api = new Api({ WEIR_URL: `http://127.0.0.1:${port}`, WEIR_TOKEN: TOKEN }, 100);
    await expect(api.get<{ name: string }[]>('/none', ['name'])).rejects.toThrow(Unreachable);
    await expect(api.get<{ name: string }[]>('/half', ['name'])).rejects.toThrow(Unreachable);
    server.closeAllConnections();
    server.close();
  });

  it('takes no answer for one of a control plane that another server gives', async () => {
    // Its answer does not end.
    const server = createServer((_request, response) => response.write('<p>Welcome'));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const WEIR_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const unknown = ', so it is not known what it has done';
    for (const [argv, doubt] of [
      ['token', ''],
      ['resolvers --json', ''],
      ['changes --follow', ''],
      ['orders end 7', unknown],
      ['init -', unknown],
    ]) {
      const ended = await runWeir(argv.split(' '), { WEIR_URL, WEIR_TOKEN: TOKEN }, ['{}']);
      const errors = [`weir: ${WEIR_URL} does not answer as a control plane${doubt}: see WEIR_URL`];
      expect(ended, argv).toEqual({ code: 1, out: [], errors });
    }
    server.close();
  });

  it.each(['{}', '[{"a":1}]', '["a"]', 'null', '5', '{'])(
    'takes no other JSON for what it has asked for: %s',
    async (body) => {
      const server = createServer((_request, response) => {
        // Other servers have that header too.
        response.writeHead(200, { 'Content-Type': 'application/json', 'X-Request-Id': '1' });
        response.end(body);
      });
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      const WEIR_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const errors = [`weir: ${WEIR_URL} does not answer as a control plane: see WEIR_URL`];
      for (const command of [
        ...['token', 'resolvers', 'categories', 'changes', 'orders list', 'grants list 1'],
        ...['profile 1 week', 'explain 192.0.2.1 a', 'explain 192.0.2.1 a --json'],
        ...['catalogue sources', 'catalogue search a', 'catalogue accept a'],
      ]) {
        const ended = await runWeir(command.split(' '), { WEIR_URL, WEIR_TOKEN: TOKEN });
        expect(ended, command).toEqual({ code: 1, out: [], errors });
      }
      server.close();
    },
  );

  it('lists secret categories, of which the API tells the id only', async () => {
    const categories = [
      { id: 2, name: 'Gambling', group: null, purpose: 'other', mandatory: false, domains: 1200 },
      { id: 32, secret: true },
    ];
    const server = createServer((_request, response) => {
      response.setHeader('Content-Type', 'application/json').setHeader('X-Request-Id', '1');
      response.end(JSON.stringify(categories));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const WEIR_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { out, errors } = await runWeir(['categories'], { WEIR_URL, WEIR_TOKEN: TOKEN });
    server.close();
    expect(errors).toEqual([]);
    expect(out.slice(1)).toEqual([
      expect.stringMatching(/^2 +Gambling .* 1,200$/),
      expect.stringMatching(/^32 .* secret$/),
    ]);
  });

  it('keeps the columns of changes, also of those that it follows', async () => {
    const change = {
      revision: 7,
      time: '2026-11-24T12:00:00.000Z',
      token: 'env-1',
      request_id: null,
    };
    const changed = [{ resource: 'napt', key: 'a', action: 'deleted', count: 1 }];
    const routes = ['/net/', '/napt/:int_ip/:lower_port_bound/:upper_port_bound'];
    const changes = routes.map((route) => ({ ...change, method: 'DELETE', route, changed }));
    let isFollowing = false;
    const server = createServer((_request, response) => {
      if (isFollowing) return void response.writeHead(401).end('{}');
      isFollowing = true;
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Request-Id': '1' });
      response.end(changes.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const WEIR_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { out } = await runWeir(['changes', '--follow'], { WEIR_URL, WEIR_TOKEN: TOKEN });
    const [first, second] = out.map(columnOfWhat);
    expect([out.length, first]).toEqual([2, second]);
    server.close();
  });

  it('says why its output cannot be written', () => {
    const { status, stderr } = spawnSync('apps/cli/weir --help >/dev/full', {
      ...{ cwd: ROOT, shell: true, encoding: 'utf8' },
    });
    expect([status, stderr]).toEqual([1, 'weir: ENOSPC: no space left on device, write\n']);
  });

  it('says in one line that a server refuses in words of its own', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(403, 'Forbidden').end('{"detail":{"reason":"no"}}');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const WEIR_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ended = await runWeir(['token'], { WEIR_URL, WEIR_TOKEN: TOKEN });
    expect(ended).toEqual({ code: 1, out: [], errors: ['weir: 403 Forbidden'] });
    server.close();
  });

  it.each([200, 422])(
    'says that an answer to a change broke off, with status %i',
    async (status) => {
      const server = createServer((_request, response) => {
        response.statusCode = status;
        response.setHeader('X-Config-Revision', '7');
        response.write('{', () => response.destroy());
      });
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      const WEIR_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { code, errors } = await runWeir(['orders', 'end', '7'], {
        WEIR_URL,
        WEIR_TOKEN: TOKEN,
      });
      expect([code, errors]).toEqual([1, [`weir: the answer of ${WEIR_URL} broke off: aborted`]]);
      server.close();
    },
  );

  it('finds the stack of its folder, and trusts the certificate of its control plane', async () => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), 'weir-cli-stack-'));
    const [cert, key] = ['api.crt', 'api.key'].map((name) => join(DATA_DIR, name));
    makeCertificate(cert, key);
    const harness = await startHarness();
    const tls = { MANAGEMENT_TLS_CERT: cert, MANAGEMENT_TLS_KEY: key };
    const secure = await harness.startReplica(tls);
    const own = {
      ...{ MANAGEMENT_HOST: '0.0.0.0', MANAGEMENT_PORT: String(secure.managementPort) },
      ...{ MANAGEMENT_TOKENS: `${TOKEN},another-token`, MANAGEMENT_TLS_CERT: cert },
    };
    writeFileSync(join(DATA_DIR, 'stack.json'), JSON.stringify({ 'control-plane': own }));
    for (const exported of [{}, { MANAGEMENT_PORT: '1' }, { MANAGEMENT_TOKENS: 'x' }]) {
      const environment = { DATA_DIR, ...exported };
      expect(await runWeir(['resolvers', '--json'], environment)).toMatchObject({
        out: ['[]'],
        errors: [],
      });
    }
    // Of another key than the control plane has.
    makeCertificate(join(DATA_DIR, 'other.crt'), join(DATA_DIR, 'other.key'));
    const wrong = { ...own, MANAGEMENT_TLS_CERT: join(DATA_DIR, 'other.crt') };
    writeFileSync(join(DATA_DIR, 'stack.json'), JSON.stringify({ 'control-plane': wrong }));
    expect(await runWeir(['resolvers', '--json'], { DATA_DIR })).toMatchObject({
      code: 1,
      errors: [expect.stringContaining('self-signed certificate')],
    });
    await secure.stop();
    await harness.stop();
    rmSync(DATA_DIR, { recursive: true });
  });

  it('says why it failed, and ends with 1', async () => {
    const WEIR_URL = 'http://127.0.0.1:1';
    const refused = { WEIR_URL, WEIR_TOKEN: 'x' };
    expect(await runWeir(['resolvers'], refused)).toMatchObject({
      code: 1,
      errors: [expect.stringContaining(`${WEIR_URL} cannot be reached: connect ECONNREFUSED`)],
    });
    expect(await runWeir(['resolvers', '--watch'], refused)).toMatchObject({ code: 1 });
    expect(await runWeir(['resolvers'], { WEIR_URL })).toMatchObject({
      code: 1,
      errors: ['weir: set WEIR_TOKEN to a token of the management API'],
    });
    expect(await runWeir(['resolvers'], { WEIR_URL, WEIR_TOKEN: 'one\ntwo' })).toMatchObject({
      code: 1,
      errors: ['weir: WEIR_TOKEN has a character that no token has'],
    });
    const faulty = { WEIR_URL: 'http://127.0.0.1:99999', WEIR_TOKEN: 'x' };
    expect(await runWeir(['resolvers'], faulty)).toMatchObject({
      code: 1,
      errors: ['weir: WEIR_URL is not a valid URL'],
    });
    expect(await runWeir(['resolvers'], { DATA_DIR: '/nowhere' })).toMatchObject({
      code: 1,
      errors: [expect.stringContaining('set WEIR_URL and WEIR_TOKEN')],
    });
  });
});
