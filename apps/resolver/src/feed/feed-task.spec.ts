import { FEED_VARIABLES } from '@weir/policy-feed/state';
import { parseVariables } from '@weir/ops';
import { HASH_KEY_HEX } from '@weir/policy-feed/testing';
import { expect, it } from 'vitest';
import { SCHEMA } from '../configuration.js';
import { feedThreadConfiguration } from './feed-task.js';

it('all that the feed needs of the configuration can be sent to its thread', () => {
  const configuration = parseVariables(SCHEMA, {
    DOMAIN_HASH_KEY: HASH_KEY_HEX,
    REDIS_URL: 'redis://127.0.0.1:6379',
    FEED_URL: 'https://127.0.0.1:8090',
    FEED_CA: '/etc/ca.pem',
    FEED_PINS: `sha256/${Buffer.alloc(32).toString('base64')}`,
    FEED_TOKENS: 'a-token-of-the-feed,another-token-of-it',
    DATA_DIR: '/var/lib/weir',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
  });
  const sent = structuredClone(feedThreadConfiguration(configuration));
  expect(sent).toEqual(feedThreadConfiguration(configuration));
  expect(Object.keys(sent)).toEqual(expect.arrayContaining(Object.keys(FEED_VARIABLES)));
  expect(sent).toMatchObject({ LOG_LEVEL: 'info', OTEL_EXPORTER_OTLP_ENDPOINT: expect.anything() });
});
