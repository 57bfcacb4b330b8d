import { CatalogueImage } from '@weir/catalogue';
import { parseHashKey } from '@weir/dns-name';
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runWeir } from '../testing/run-weir.js';

const KEY_HEX = '000102030405060708090a0b0c0d0e0f';
const YAML = `categories:
  - id: 7
    name: Gambling
    domains: [bet.example]
    sources:
      - { file: gambling.txt, format: domains }
  - { id: 8, name: Casinos, domains: [casino.bet.example, bet.example] }
applications:
  - id: 3
    name: Betting app
    domains:
      - api.bet.example
    sources:
      - { file: gambling.txt, format: domains }
`;
const LIST = 'poker.example\n# both\nbet.example\nno domain\npoker.example\n';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-catalogue-command-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function write(yaml: string, list: string): Promise<void> {
  await writeFile(join(folder, 'catalogue.yaml'), yaml);
  await writeFile(join(folder, 'gambling.txt'), list);
}

const run = (...argv: string[]) =>
  runWeir(['catalogue', ...argv], { CATALOGUE: folder, DOMAIN_HASH_KEY: KEY_HEX });

describe('catalogue check', () => {
  it('reports what each source lists', async () => {
    await write(YAML, LIST);
    const { code, out, errors } = await run('check');
    expect([code, errors]).toEqual([0, []]);
    expect(out[0]).toBe('2 categories and 1 applications, 3 domains in catalogue.yaml');
    expect(out[1].split(/ {2,}/)).toEqual([
      ...['source', 'format', 'names', 'skipped', 'invalid lines', 'protected', 'seconds'],
    ]);
    expect(out[2].split(/ {2,}/).slice(0, 6)).toEqual([
      ...['gambling.txt', 'domains', '2', '0', '1', '0'],
    ]);
    expect(out[4]).toMatch(/^ {2}gambling\.txt:4: may hold letters/);
    expect(out.at(-1)).toBe('1 of 1 sources can be used');
  });

  it('tells no names of a secret category', async () => {
    const flags = 'mandatory: true, secret: true, domains: [github.com, poker.example]';
    const source = 'sources: [{ file: gambling.txt, format: domains }]';
    await write(
      `categories: [{ id: 9, name: Hidden, ${flags}, ${source} }]\nnever_block: [poker.example]\n`,
      LIST,
    );
    const { code, out } = await run('check');
    expect(code).toBe(0);
    expect(out.join('\n')).not.toMatch(/poker|bet\.example|github/);
    expect(out).toContain('category 9, Hidden blocks 1 well-known domains');
    expect(out[2].split(/ {2,}/).slice(0, 6)).toEqual([
      ...['gambling.txt', 'domains', '2', '0', '1', '1'],
    ]);
  });

  it('tells which lines are not taken because of never_block, and which are in spite of it', async () => {
    const legal = YAML.replace('name: Gambling', 'name: Gambling\n    purpose: legal');
    for (const yaml of [YAML, legal]) {
      await write(`${yaml}never_block: [www.bet.example]\n`, LIST);
      const { code, out } = await run('check');
      expect([code, out[2].split(/ {2,}/)[5]]).toEqual([0, '1']);
      const taken = yaml === legal ? '; category 7 takes it, because its purpose is legal' : '';
      expect(out).toContain(`  gambling.txt:3: would block www.bet.example of never_block${taken}`);
      expect(out).toContainEqual(
        expect.stringMatching(
          /^catalogue\.yaml:\d: bet\.example blocks www\.bet\.example of never/,
        ),
      );
    }
  });

  it('tells which well-known domains a category of threats blocks', async () => {
    const threats = YAML.replace('name: Gambling', 'name: Threats\n    purpose: security');
    await write(threats, `${LIST}github.com\n`);
    const told = 'category 7, Threats blocks 1 well-known domains: github.com';
    expect((await run('check')).out).toContain(told);
    await write(`${threats}never_block: [github.com]\n`, `${LIST}github.com\n`);
    expect((await run('check')).out).not.toContain(told);
    await write(YAML, `${LIST}github.com\n`);
    expect((await run('check')).out.join()).not.toContain('well-known');
  });

  it('refuses a URL that others could change', async () => {
    const source = '{ url: "http://lists.example/a", format: domains }';
    await write(`categories: [{ id: 1, name: a, sources: [${source}] }]`, '');
    const { code, errors } = await run('check');
    expect([code, errors]).toEqual([
      1,
      [
        expect.stringMatching(
          /^weir: catalogue\.yaml:1: categories\[0\]\.sources\[0\]\.url: must be an https URL/,
        ),
      ],
    ]);
  });

  it('fails when a source cannot be used, with the reason', async () => {
    await write(YAML, '<html>\n<body>\n');
    const { code, out, errors } = await run('check');
    expect(code).toBe(1);
    expect(errors).toEqual([
      expect.stringMatching(
        /^weir: catalogue\.yaml:6: categories\[0\]\.sources\[0\]: gambling\.txt lists no domain \(2 lines, 0/,
      ),
    ]);
    expect(out.at(-1)).toBe('0 of 1 sources can be used');
    await rm(join(folder, 'gambling.txt'));
    expect((await run('check')).errors[0]).toContain('gambling.txt cannot be read: ENOENT');
  });

  it('reports every fault of the definition', async () => {
    await write('categories: [{ id: 1, name: a }, { id: 1, name: b }, { id: 2 }]', '');
    const { code, errors } = await run('check');
    expect(code).toBe(1);
    expect(errors).toEqual([
      'weir: catalogue.yaml:1: categories[1].id: id 1 stands in line 1 already',
      'weir: catalogue.yaml:1: categories[2]: name is missing',
    ]);
  });
});

describe('catalogue build', () => {
  it('writes an image for DOMAIN_HASH_KEY', async () => {
    await write(YAML, LIST);
    const file = join(folder, 'image');
    const { code, out } = await run('build', file);
    expect(code).toBe(0);
    const bytes = await readFile(file);
    const image = CatalogueImage.open(bytes, parseHashKey(KEY_HEX));
    expect(image.domainCount).toBe(4);
    expect(image.applications).toMatchObject([{ id: 3, name: 'Betting app', domains: 3 }]);
    expect(out).toEqual([
      `${file}: 4 domains`,
      expect.stringMatching(/^[\d,]+ bytes, [\d.]+ a domain$/),
      `sha256 ${createHash('sha256').update(bytes).digest('hex')}`,
    ]);
  });

  it('takes a list without what never_block protects, except for applications', async () => {
    await write(`${YAML}never_block: [www.poker.example]\n`, LIST);
    const file = join(folder, 'image');
    expect((await run('build', file)).code).toBe(0);
    const image = CatalogueImage.open(await readFile(file), parseHashKey(KEY_HEX));
    expect(image.categories.map(({ domains }) => domains)).toEqual([1, 2]);
    expect(image.applications.map(({ domains }) => domains)).toEqual([3]);
  });

  it('writes nothing when a source cannot be used, or the file cannot be written', async () => {
    await write(YAML, '');
    expect((await run('build', join(folder, 'image'))).code).toBe(1);
    await write(YAML, LIST);
    const { code, errors } = await run('build', join(folder, 'absent', 'image'));
    expect([code, errors[0]]).toEqual([1, expect.stringContaining('cannot be written: ENOENT')]);
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const refused = await run('build', pipe);
    expect([refused.code, refused.errors[0]]).toEqual([
      1,
      expect.stringContaining(`${pipe} is not a regular file`),
    ]);
    await rm(pipe);
    expect(await readdir(folder)).toEqual(['catalogue.yaml', 'gambling.txt']);
  });
});

describe('catalogue show', () => {
  it('prints which groups list a domain or its parents, and where', async () => {
    await write(YAML, LIST);
    const { code, out } = await run('show', 'WWW.Casino.bet.example.');
    expect(code).toBe(0);
    expect(out).toEqual([
      'category 7, Gambling',
      '  bet.example  catalogue.yaml:4',
      '  bet.example  gambling.txt:3',
      'category 8, Casinos',
      '  casino.bet.example  catalogue.yaml:7',
      '  bet.example         catalogue.yaml:7',
      'application 3, Betting app',
      '  bet.example  gambling.txt:3',
    ]);
  });

  it('prints what the mirror lists, when the list of the URL is refused', async () => {
    const server = createServer(({ url }, response) => {
      response.end(url === '/evil' ? 'evil.example\nno list' : 'poker.example\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const sha256 = createHash('sha256').update('poker.example\n').digest('hex');
      const pinned = `url: "${host}/evil", mirrors: ["${host}/good"], sha256: ${sha256}`;
      await write(
        `categories: [{ id: 7, name: A, sources: [{ ${pinned}, format: domains }] }]`,
        LIST,
      );
      expect((await run('show', 'poker.example')).out).toHaveLength(2);
      expect((await run('show', 'evil.example')).out).toEqual([
        'evil.example belongs to no category and no application',
      ]);
    } finally {
      server.close();
    }
  });

  it('prints which lines are not taken', async () => {
    await write(`${YAML}never_block: [www.poker.example]\n`, LIST);
    expect((await run('show', 'poker.example')).out).toEqual([
      'category 7, Gambling',
      '  poker.example  gambling.txt:1, not taken: never_block has www.poker.example',
      '  poker.example  gambling.txt:5, not taken: never_block has www.poker.example',
      'application 3, Betting app',
      '  poker.example  gambling.txt:1',
      '  poker.example  gambling.txt:5',
    ]);
  });

  it('prints nothing of a secret category', async () => {
    const secret = 'id: 9, name: Hidden, mandatory: true, secret: true, domains: [bet.example]';
    await write(`categories: [{ ${secret} }]`, LIST);
    expect((await run('show', 'bet.example')).out).toEqual([
      'bet.example belongs to no category and no application (secret categories are not shown)',
    ]);
  });

  it('prints that nothing lists the domain', async () => {
    await write(YAML, LIST);
    const { out } = await run('show', 'notbet.example');
    expect(out).toEqual(['notbet.example belongs to no category and no application']);
  });

  it('prints the rest and fails when a source cannot be read', async () => {
    await write(YAML, LIST);
    await rm(join(folder, 'gambling.txt'));
    const { code, out, errors } = await run('show', 'bet.example');
    expect([code, errors.length]).toEqual([1, 1]);
    expect(out[0]).toBe('category 7, Gambling');
  });
});

describe('catalogue diff', () => {
  const [before, after] = ['before.image', 'after.image'];
  const file = (name: string) => join(folder, name);
  beforeEach(async () => {
    await write(YAML, LIST);
    expect((await run('build', file(before))).code).toBe(0);
    const changed = YAML.replace(/ {2}- \{ id: 8.*\n/, '').replace('bet.example]', 'new.example]');
    await write(
      changed,
      `${LIST}${Array.from({ length: 12 }, (_, i) => `n${i}.example\n`).join('')}`,
    );
    expect((await run('build', file(after))).code).toBe(0);
  });

  it('counts what each group has gained and lost between two images', async () => {
    expect(await run('diff', file(before), file(after))).toEqual({
      code: 0,
      errors: [],
      out: [
        'category 7, Gambling: +13 -0',
        'category 8, Casinos (gone): +0 -2',
        'application 3, Betting app: +12 -0',
      ],
    });
    expect((await run('diff', file(after), file(after))).out).toEqual([
      'the same names in the same categories and applications',
    ]);
  });

  it('names some of them when it knows the lists', async () => {
    const told = await run('diff', file(before), folder);
    expect(told.code).toBe(0);
    expect(told.out).toHaveLength(3 + 10 + 1 + 10);
    expect(told.out).toContain('  + n7.example');
    const { out } = await run('diff', file(after), file(before), '--catalogue', folder, '--json');
    const [gambling, , app] = JSON.parse(out[0]) as Record<string, unknown>[];
    expect(gambling).toMatchObject({ cat_id: 7, app_id: null, name: 'Gambling', state: 'changed' });
    expect(gambling).toMatchObject({ added: 0, removed: 13, added_names: [] });
    expect(gambling['removed_names']).toHaveLength(10);
    expect(app).toMatchObject({ cat_id: null, app_id: 3, added: 0, removed: 12 });
  });

  it('reads a folder with the sets of CATALOGUE_SETS', async () => {
    await mkdir(file('sets'));
    const more = 'categories: [{ id: 7, domains: [of-a-set.example] }]';
    await writeFile(file('sets/extra.yaml'), more);
    const environment = {
      ...{ CATALOGUE: folder, DOMAIN_HASH_KEY: KEY_HEX },
      CATALOGUE_SETS: 'extra',
    };
    const built = await runWeir(['catalogue', 'build', file(before)], environment);
    expect([built.code, built.errors]).toEqual([0, []]);
    expect((await runWeir(['catalogue', 'diff', file(before), folder], environment)).out).toEqual([
      'the same names in the same categories and applications',
    ]);
  });

  it('does not name those of a secret category', async () => {
    const secret = 'id: 9, name: Hidden, mandatory: true, secret: true, domains: [secret.example]';
    await write(`categories: [{ ${secret} }]`, LIST);
    const { out } = await run('diff', file(before), folder);
    expect(out).toContain('category 9, - (new): +1 -0');
    expect(out.join()).not.toContain('secret.example');
  });

  it('refuses an image that was damaged', async () => {
    const bytes = await readFile(file(before));
    bytes[bytes.length >> 1] ^= 1;
    await writeFile(file('damaged'), bytes);
    expect((await run('diff', file('damaged'), file(after))).errors).toEqual([
      expect.stringMatching(/^weir: .*checksum/),
    ]);
  });

  it('refuses what is no image, and a file that is not there', async () => {
    const list = file('gambling.txt');
    expect(await run('diff', list, file(after))).toMatchObject({
      code: 1,
      errors: [expect.stringMatching(/^weir: /)],
    });
    expect((await run('diff', file('absent'), file(after))).errors).toEqual([
      `weir: ${file('absent')} cannot be read: ENOENT`,
    ]);
  });
});

describe('catalogue sets', () => {
  const source = (url: string, size: string) =>
    `      - { url: 'https://${url}', format: domains, licence: MIT, commercial_use: true, size: ${size} }\n`;
  const set = (about: string, ...sources: string[]) =>
    `# ${about}\ncategories:\n  - id: 7\n    sources:\n${sources.join('')}`;
  beforeEach(async () => {
    await write(YAML, LIST);
    await mkdir(join(folder, 'sets'));
    const sets = {
      both: set(
        'Two lists.',
        source('a.example/a', '188764 names on 2026-02-07'),
        source('a.example/b', '3476 names on 2025-12-31'),
      ),
      one: set(
        'One counted.',
        source('b.example/a', '4 names on 2026-03-01'),
        source('b.example/b', 'unknown'),
      ),
      none: set('None counted.', source('c.example/', 'unknown')),
    };
    for (const [name, text] of Object.entries(sets)) {
      await writeFile(join(folder, `sets/${name}.yaml`), text);
    }
  });

  it('prints what there is: names and when they were counted, licence, and what it is', async () => {
    const { code, out } = await run('sets');
    expect(code).toBe(0);
    expect(out.map((row) => row.split(/ {2,}/))).toEqual([
      ['set', 'on', 'names', 'licence', 'commercial use', 'what'],
      ['both', '-', '192,240 (2025-12)', 'MIT', 'true', 'Two lists.'],
      ['none', '-', 'unknown', 'MIT', 'true', 'None counted.'],
      ['one', '-', 'over 4 (2026-03)', 'MIT', 'true', 'One counted.'],
    ]);
  });

  it('prints each source as JSON', async () => {
    const { out } = await run('sets', '--json');
    expect(JSON.parse(out.join(''))).toMatchObject([
      {},
      {},
      {
        name: 'one',
        enabled: false,
        sources: [
          {
            source: 'https://b.example/a',
            format: 'domains',
            licence: 'MIT',
            commercial_use: 'true',
            size: { names: 4, on: '2026-03-01' },
          },
          { source: 'https://b.example/b', size: 'unknown' },
        ],
      },
    ]);
  });

  it('turns one on and off', async () => {
    const catalogue = () => readFile(join(folder, 'catalogue.yaml'), 'utf8');
    expect(await run('enable', 'none')).toMatchObject({
      code: 0,
      out: [`sets/none.yaml is included from now on in ${folder}/catalogue.yaml`],
    });
    expect(await catalogue()).toContain('include: [sets/none.yaml]');
    expect((await run('sets')).out[2]).toMatch(/^none +on /);
    expect(await run('disable', 'none')).toMatchObject({ code: 0 });
    expect(await catalogue()).toContain('include: []');
  });

  it('fails for a set that is not there', async () => {
    const { code, errors } = await run('enable', 'nothing');
    expect([code, errors]).toEqual([1, [expect.stringMatching(/sets has no set nothing$/)]]);
  });
});

describe('the catalogue command', () => {
  it.each([
    [['show'], "missing required argument 'domain'"],
    [['check', 'it'], 'too many arguments'],
    [['list'], "unknown command 'list'"],
    [['check', '--verbose'], "unknown option '--verbose'"],
    [['show', '*.example'], 'the domain may hold letters'],
    [['accept'], "missing required argument 'source'"],
  ])('rejects %j', async (argv, problem) => {
    const { code, errors } = await run(...argv);
    expect(code).toBe(2);
    expect(errors[0]).toMatch(/^weir: /);
    expect(errors[0]).toContain(problem);
  });

  it('reads the folder of --catalogue', async () => {
    const { code, errors } = await run('check', '--catalogue', join(folder, 'absent'));
    expect([code, errors[0]]).toEqual([1, expect.stringContaining('cannot be read: ENOENT')]);
  });
});
