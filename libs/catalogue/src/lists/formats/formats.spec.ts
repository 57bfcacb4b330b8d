import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { expectNames, read, tarArchive, tarEntry } from '../testing/lists.js';

const LETTERS = expect.stringContaining('letters, digits');

describe('format domains', () => {
  it('lists one domain a line and reports invalid lines', async () => {
    const list =
      '# gambling\n\npoker.example # cards\nno domain\n  CASINO.example\r\n*.x\nbücher.example.';
    const listed = ['poker.example', 'casino.example', 'xn--bcher-kva.example'];
    const report = await expectNames(list, 'domains', listed);
    expect(report).toMatchObject({ lines: 7, domains: 3, skipped: 0, invalidLines: 2 });
    expect(report.examples).toEqual([
      { line: 4, problem: LETTERS },
      { line: 6, problem: LETTERS },
    ]);
  });

  it('reports the first ten invalid lines only', async () => {
    const { report } = await read(`a.example\n${'!\n'.repeat(25)}`, 'domains');
    expect(report).toMatchObject({ domains: 1, invalidLines: 25 });
    expect(report.examples.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });
});

describe('format hosts', () => {
  it('lists every name after an address such as 0.0.0.0', async () => {
    const list = [
      '# Title: hosts',
      '0.0.0.0 a.example',
      '127.0.0.1\tb.example  c.example # both',
      '  :: d.example',
      '::1 BÜCHER.example\r',
      '0 e.example#f.example',
    ].join('\n');
    const report = await expectNames(list, 'hosts', [
      ...['a', 'b', 'c', 'd', 'e'].map((label) => `${label}.example`),
      'xn--bcher-kva.example',
    ]);
    expect(report).toMatchObject({ lines: 6, domains: 6, skipped: 0, invalidLines: 0 });
  });

  it('skips the names of the machine itself, and hosts at real addresses', async () => {
    const list = [
      '127.0.0.1 localhost localhost.localdomain local',
      '127.0.0.1 LOCALHOST.localdomain. localhost4.localdomain4',
      '::1 ip6-loopback',
      'fe80::1%lo0 localhost',
      '255.255.255.255 broadcasthost',
      '0.0.0.0 0.0.0.0',
      '192.0.2.7 printer.example',
    ].join('\n');
    expect(await expectNames(list, 'hosts', [])).toMatchObject({ skipped: 10, invalidLines: 0 });
  });

  it('reports lines without an address, without a name, or with a bad one', async () => {
    const list = 'a.example\n0.0.0.0\n0.0.0.0 b..example c.example -d.example\n999.1.1.1 e.example';
    const report = await expectNames(list, 'hosts', ['c.example']);
    expect(report.examples).toEqual([
      { line: 1, problem: 'does not begin with an IP address' },
      { line: 2, problem: 'has no name behind its address' },
      { line: 3, problem: 'has an empty label' },
      { line: 4, problem: 'does not begin with an IP address' },
    ]);
    expect(report.invalidLines).toBe(4);
  });
});

describe('format adblock', () => {
  it('lists names that a rule blocks completely', async () => {
    const list = [
      '[Adblock Plus 2.0]',
      '! Title: a list',
      '# a comment',
      '#',
      '||a.example^',
      '||B.example^$important\r',
      '||c.example^$all,important',
    ].join('\n');
    const report = await expectNames(list, 'adblock', ['a.example', 'b.example', 'c.example']);
    expect(report).toMatchObject({ domains: 3, skipped: 0, invalidLines: 0 });
  });

  it.each([
    '@@||a.example^',
    '||a.example',
    '||a.example/path^',
    '||a.example^path',
    '||a.example^$third-party',
    '||a.example^$important,script',
    '||a.example^$',
    '||a.example^|',
    '||ads*.example^',
    '||*.a.example^',
    '|https://a.example^',
    'a.example##.banner',
    '##.banner',
    '/banner/',
    'a.example',
  ])('skips the rule %s, which has another scope', async (rule) => {
    expect(await expectNames(rule, 'adblock', [])).toMatchObject({ skipped: 1, invalidLines: 0 });
  });

  it('reports names that are not domains', async () => {
    const report = await expectNames('||^\n||a b^\n||192.0.2.1^', 'adblock', []);
    expect(report.examples.map(({ line }) => line)).toEqual([1, 2, 3]);
  });
});

describe('format rpz', () => {
  const ZONE = `$TTL 300
$ORIGIN rpz.example.
@ IN SOA ns.rpz.example. hostmaster.rpz.example. (
      2026112101 ; serial
      3600 600 ; refresh, retry
      86400 60 )
  IN NS ns.rpz.example.
`;

  it('lists the owners of CNAME . and CNAME *., relative to the zone', async () => {
    const list = `${ZONE}
a.example            CNAME .
*.a.example          CNAME .      ; below it
B.example     600 IN CNAME *.
c.example     IN 1h  CNAME .
d.example.rpz.example. CNAME .
                     CNAME .      ; again
e.example ( IN
  CNAME ; the target follows
  . )
$ORIGIN f.example.rpz.example.
www                  CNAME .
@                    CNAME .
$ORIGIN sub
deep                 CNAME .
`;
    const report = await expectNames(list, 'rpz', [
      ...['a', 'b', 'c', 'd', 'e', 'f', 'www.f', 'deep.sub.f'].map((name) => `${name}.example`),
    ]);
    expect(report).toMatchObject({ domains: 10, skipped: 0, invalidLines: 0 });
  });

  it('reads a zone that does not have its own name in it', async () => {
    const list =
      '@ SOA a. b. 1 2 3 4 5\n@ NS localhost.\na.example CNAME .\n*.b.example CNAME .\r\n';
    await expectNames(list, 'rpz', ['a.example', 'b.example']);
    await expectNames('a.example CNAME .', 'rpz', ['a.example']);
    // A relative origin is below the zone.
    const below = '@ SOA a. b. 1 2 3 4 5\n$ORIGIN co.uk\nwww.bank CNAME .\n';
    await expectNames(below, 'rpz', ['www.bank.co.uk']);
  });

  it('takes relative owners as names in the zone that the SOA record names', async () => {
    const list = 'rpz.example. 60 IN SOA a. b. 1 2 3 4 5\n IN NS a.\na.example CNAME .\n@ NS a.';
    await expectNames(list, 'rpz', ['a.example']);
    // All names are whole, but without their last dots.
    const whole = 'rpz.example IN SOA a. b. 1 2 3 4 5\na.example.rpz.example CNAME .';
    await expectNames(whole, 'rpz', ['a.example']);
  });

  it('takes the name of the zone from the SOA record', async () => {
    const list = 'rpz.example. 60 IN SOA a. b. 1 2 3 4 5\na.example.rpz.example. CNAME .';
    await expectNames(list, 'rpz', ['a.example']);
  });

  it('reads zones one after the other, and counts the faults of each', async () => {
    const list = `${ZONE}a.example CNAME .\n${ZONE}b.example CNAME .\nwrong\n$INCLUDE more.zone\n`;
    const report = await expectNames(list, 'rpz', ['a.example', 'b.example']);
    expect(report).toMatchObject({ domains: 2, invalidLines: 2 });
    expect(report.examples.map(({ line }) => line)).toEqual([17, 18]);
  });

  it('lists names that are to get no answer', async () => {
    await expectNames(`${ZONE}a.example CNAME rpz-drop.`, 'rpz', ['a.example']);
  });

  it.each([
    'a.example CNAME rpz-passthru.',
    'a.example CNAME walled.garden.example.',
    'a.example A 192.0.2.1',
    'a.example TXT "v=spf1 ; ( not a comment"',
    '24.0.2.0.192.rpz-ip CNAME .',
    'ns.example.rpz-nsdname CNAME .',
    '32.1.2.0.192.rpz-client-ip CNAME .',
    '@ CNAME .',
    '* CNAME .',
  ])('skips the policy or trigger %s', async (record) => {
    const report = await expectNames(`${ZONE}${record}`, 'rpz', []);
    expect(report).toMatchObject({ skipped: 1, invalidLines: 0 });
  });

  it.each([
    ['a.example.other.example. CNAME .', 'an owner outside of the zone'],
    ['$INCLUDE more.zone', 'a directive other than $ORIGIN and $TTL'],
    ['$GENERATE 1-9 a$ CNAME .', 'a directive other than $ORIGIN and $TTL'],
    ['a.example', 'a record without a type'],
    ['a\\.b.example CNAME .', LETTERS],
    ['a_ü\ufffd.example CNAME .', expect.stringContaining('internationalised')],
    ['a.example ( CNAME .', 'a parenthesis before it is never closed'],
  ])('reports %s', async (record, problem) => {
    const report = await expectNames(`${ZONE}${record}`, 'rpz', []);
    expect(report.examples).toEqual([{ line: 8, problem }]);
  });

  it('reports a record without an owner', async () => {
    const report = await expectNames('  CNAME .', 'rpz', []);
    expect(report.examples).toEqual([{ line: 1, problem: 'a record without an owner' }]);
  });

  it('ends a parenthesis that is never closed after a thousand lines', async () => {
    const list = `a.example (\n${'x\n'.repeat(999)}b.example CNAME .\n`;
    const report = await expectNames(list, 'rpz', ['b.example']);
    expect(report.examples).toEqual([
      { line: 1000, problem: 'a parenthesis before it is never closed' },
    ]);
  });
});

describe('format ut1', () => {
  const archive = tarArchive(
    tarEntry('adult/', '', '5'),
    tarEntry('adult/urls', 'u.example/path\n'),
    tarEntry('adult/domains', 'a.example\nb.example'),
    tarEntry('adult/usage', 'black'),
    tarEntry('more/domains', 'c.example\n'),
    tarEntry('link/domains', '', '2'),
    tarEntry('mydomains', 'd.example\n'),
  );

  it('reads the domains files of an archive, packed or not', async () => {
    const names = ['a.example', 'b.example', 'c.example'];
    await expectNames(archive, 'ut1', names);
    await expectNames(gzipSync(archive), 'ut1', names);
  });

  it('reads the text of one such file', async () => {
    await expectNames('a.example\nb.example', 'ut1', ['a.example', 'b.example']);
  });

  it('refuses an archive that is incomplete or invalid', async () => {
    await expect(read(archive.subarray(0, 2600), 'ut1')).rejects.toThrow(
      /^is an incomplete tar archive$/,
    );
    await expect(read(archive.subarray(0, 600), 'ut1')).rejects.toThrow(/incomplete/);
    const broken = Buffer.from(archive);
    broken[512] ^= 1;
    await expect(read(broken, 'ut1')).rejects.toThrow(/^is not a valid tar archive$/);
  });

  it('skips other files of any size', async () => {
    const entry = tarEntry('x', 'x'.repeat(100_000), 'x');
    await expectNames(tarArchive(entry, tarEntry('./domains', 'a.example')), 'ut1', ['a.example']);
  });

  it('reads what tar writes, in each of its formats, and passes over long paths', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-tar-'));
    try {
      const long = 'x'.repeat(180);
      for (const [path, domain] of [
        ['adult', 'a.example'],
        [long, 'b.example'],
      ]) {
        await mkdir(join(folder, path));
        await writeFile(join(folder, path, 'domains'), `${domain}\n`);
        await writeFile(join(folder, path, 'urls'), 'u.example/path\n');
      }
      const ofAll = ['adult', long];
      for (const [format, folders] of Object.entries({
        v7: ['adult'],
        ustar: ['adult'],
        gnu: ofAll,
        pax: ofAll,
      })) {
        const args = [`--format=${format}`, '-cz', '-C', folder, ...folders];
        await expectNames(spawnSync('tar', args).stdout, 'ut1', ['a.example']);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
