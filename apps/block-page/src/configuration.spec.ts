import { parseVariables } from '@weir/ops';
import { describe, expect, it } from 'vitest';
import { SCHEMA } from './configuration.js';

const NEEDED = {
  DOMAIN_HASH_KEY: '000102030405060708090a0b0c0d0e0f',
  REDIS_URL: 'redis://127.0.0.1',
  FEED_URL: 'http://127.0.0.1:8090',
  FEED_TOKENS: 'a-token-of-the-feed',
};

describe('the configuration of the block page', () => {
  it('has a default for everything except the feed and its keys', () => {
    const configuration = parseVariables(SCHEMA, NEEDED);
    expect(configuration).toMatchObject({
      BLOCK_PAGE_HOST: '127.0.0.1',
      BLOCK_PAGE_PORT: 8081,
      BLOCK_PAGE_CONTENT: undefined,
      BLOCK_PAGE_BRAND_COLOR: '#1f4e79',
      INSPECT_CNAME: true,
    });
  });

  it.each([
    ['BLOCK_PAGE_BRAND_COLOR', 'red;background:url(//evil.example)'],
    ['BLOCK_PAGE_BRAND_COLOR', '#12345'],
    ['BLOCK_PAGE_BRAND_LOGO', 'data:text/html,<script>alert(1)</script>'],
    ['BLOCK_PAGE_BRAND_LOGO', `data:image/png,${'x'.repeat(100_001)}`],
    ['BLOCK_PAGE_BRAND_NAME', 'a'.repeat(101)],
    ['BLOCK_PAGE_BRAND_SUPPORT', 'javascript:alert(1)'],
    ['BLOCK_PAGE_BRAND_SUPPORT', 'help at example.net'],
    ['BLOCK_PAGE_BRAND_PHONE', 'call me'],
    ['BLOCK_PAGE_BRAND_PHONE', '---'],
    ['BLOCK_PAGE_LANGUAGE', 'nl'],
    ['BLOCK_PAGE_TRUSTED_PROXIES', '10.0.0.0/33'],
    ['BLOCK_PAGE_CLIENT_CONNECTIONS', '0'],
  ])('refuses %s=%s', (name, value) => {
    expect(() => parseVariables(SCHEMA, { ...NEEDED, [name]: value })).toThrow(
      new RegExp(`^${name} must be `),
    );
  });
});
