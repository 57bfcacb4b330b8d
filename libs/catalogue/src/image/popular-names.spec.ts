import { normaliseDomain, parseHashKey } from '@weir/dns-name';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readDefinition } from '../definition/read-definition.js';
import { compileCatalogue } from './compile.js';
import { isPublicSuffix } from '../lists/never-block.js';
import { NameList } from '../names/name-list.js';
import { POPULAR_DOMAINS } from './popular-names.js';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');

describe('the well-known domains', () => {
  it('are a thousand different domains in normal form, and no public suffixes', () => {
    expect(new Set(POPULAR_DOMAINS).size).toBe(1000);
    expect(POPULAR_DOMAINS.map((domain) => normaliseDomain(domain))).toEqual(POPULAR_DOMAINS);
    expect(POPULAR_DOMAINS.filter(isPublicSuffix)).toEqual([]);
  });
});

describe('a compiled catalogue', () => {
  it('tells which threat and mandatory categories block well-known domains', () => {
    const lists = [NameList.of(['wikipedia.org', 'com.br', 'x.example', 'a.github.com'], KEY)];
    const { popular } = compileCatalogue(
      {
        categories: [
          { id: 1, name: 'Threats', purpose: 'security', lists },
          { id: 2, name: 'Orders', purpose: 'legal', mandatory: true, lists },
          { id: 3, name: 'Social', purpose: 'productivity', lists },
          { id: 6, name: 'Hidden', mandatory: true, secret: true, lists },
          { id: 4, name: 'Clean', purpose: 'security', lists: [NameList.of(['x.example'], KEY)] },
        ],
        applications: [{ id: 5, name: 'Wikipedia', lists }],
      },
      KEY,
    );
    expect(popular.map(({ categoryId }) => categoryId)).toEqual([1, 2, 6]);
    expect(popular[0].domains).toContain('wikipedia.org');
    expect(popular[0].domains).toContain('amazon.com.br');
    expect(popular[0].domains).not.toContain('github.com');
    expect(popular[1].domains).toEqual(popular[0].domains);
    // What a secret category lists is stored nowhere but as hashes.
    expect(popular[2]).toEqual({ categoryId: 6, count: popular[0].domains.length, domains: [] });
  });

  it('finds none in the threats of the default catalogue', async () => {
    const folder = fileURLToPath(new URL('../../../../catalogue', import.meta.url));
    const { categories } = await readDefinition(folder);
    const listed = categories.map((one) => ({ ...one, lists: [NameList.of(one.domains, KEY)] }));
    expect(compileCatalogue({ categories: listed, applications: [] }, KEY).popular).toEqual([]);
  });
});
