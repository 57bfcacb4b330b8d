import { speakerOf } from '@weir/change-feed/testing';
import { ClientAddress, IncidentSeal, UNKNOWN_PORT } from '@weir/clients';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Harness, startHarness } from '../../testing/harness.js';
import { holdList } from '../../testing/hold-list.js';
import { openApiChecker } from '../../testing/openapi-checker.js';

const INCIDENT_KEYS = '000102030405060708090a0b0c0d0e0f';
const EXPLAIN_INCIDENT = 'GET /explain/?incident=';

/** All endpoints, in an order in which each example finds what it needs. */
const STORY = [
  'POST /blockpage/',
  'GET /blockpage/',
  'GET /blockpage/{page_id}',
  'POST /profiles/',
  'GET /profiles/',
  'GET /profiles/{profile_id}',
  'GET /app_aware/application/',
  'POST /profile/{profile_id}/app_aware',
  'POST /profile/{profile_id}/app_aware/batch',
  'GET /profile/{profile_id}/app_aware',
  'DELETE /profile/{profile_id}/app_aware/{app_aware_id}',
  'POST /profile/{profile_id}/bw_list',
  'POST /profile/{profile_id}/bw_list/batch',
  'PATCH /profile/{profile_id}/bw_list/{domain}',
  'DELETE /profile/{profile_id}/bw_list/{domain}',
  'POST /net/',
  'GET /net/',
  'GET /explain/',
  EXPLAIN_INCIDENT,
  'GET /net/{int_ip}',
  'PATCH /net/{int_ip}',
  'DELETE /net/{int_ip}',
  'POST /net6/',
  'GET /net6/',
  'GET /net6/{ipv6}',
  'PATCH /net6/{ipv6}',
  'DELETE /net6/{ipv6}',
  'POST /napt/',
  'GET /napt/{int_ip}',
  'GET /napt/{int_ip}/{lower_port_bound}/{upper_port_bound}',
  'PATCH /napt/{int_ip}/{lower_port_bound}/{upper_port_bound}',
  'DELETE /napt/{int_ip}/{lower_port_bound}/{upper_port_bound}',
  'POST /napt/batch',
  'DELETE /napt/batch',
  'POST /profile/{profile_id}/schedule',
  'GET /profile/{profile_id}/schedule',
  'GET /profile/{profile_id}/switches',
  'GET /profile/{profile_id}/subscribers',
  'PATCH /profile/{profile_id}/schedule',
  'DELETE /profile/{profile_id}/schedule',
  'POST /profile/{profile_id}/grants',
  'GET /profile/{profile_id}/grants',
  'GET /profile/{profile_id}/grants/{id}',
  'DELETE /profile/{profile_id}/grants/{id}',
  'POST /orders/',
  'GET /orders/',
  'GET /orders/{id}',
  'PATCH /orders/{id}',
  'DELETE /orders/{id}',
  'PATCH /profiles/{profile_id}',
  'PATCH /blockpage/{page_id}',
  'DELETE /blockpage/{page_id}',
  'GET /token/',
  'GET /changes/',
  'GET /categories/',
  'GET /catalogue/',
  'GET /catalogue/search/?domain=www.casino.example.com',
  'POST /catalogue/accept',
  'POST /init/',
  'POST /init/?dry_run=false',
  'GET /resolvers/',
];

let harness: Harness;

/** What the block page would show for the example of GET /explain/. */
function incidentNumber(): string {
  const client = new ClientAddress();
  client.set('192.0.2.1', UNKNOWN_PORT);
  const incident = { client, domain: 'www.example.com', atMs: Date.now() };
  return new IncidentSeal([INCIDENT_KEYS]).seal(incident);
}

/** Without the query. */
const endpointOf = (call: string): string => call.replace(/\?.*/, '');

beforeAll(async () => {
  // The resolver that says nothing more stays in the list.
  harness = await startHarness({ INCIDENT_KEYS, MISSING_RESOLVER_S: '86400' });
  // The examples move subscribers and schedules to a second profile.
  await harness.call('POST', '/profiles/', { profile: { id: 2 } });
  await announceResolver();
  await holdList(harness, 2, 'https://lists.example/gambling.txt');
});
afterAll(() => harness.stop());

/** Of another log: no change waits for what it acknowledges. */
async function announceResolver(): Promise<void> {
  const redis = new Redis(harness.environment['REDIS_URL']);
  const inForce = {
    lineage: '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01',
    revision: 1,
    digest: 'f'.repeat(16),
  };
  const state = { id: 'a', kind: 'resolver', name: 'a', inForce, feedVersion: 1 };
  await vi.waitFor(
    async () => {
      await speakerOf(harness.deployment)(redis, 'follower', JSON.stringify(state));
      expect((await harness.call('GET', '/resolvers/')).body).toHaveLength(1);
    },
    { timeout: 60_000 },
  );
  redis.disconnect();
}

it('the sequence of the examples has every endpoint', () => {
  const documented = openApiChecker()!
    .operations()
    .map(({ method, path }) => `${method} ${path}`);
  expect([...new Set(STORY.map(endpointOf))].sort()).toEqual(documented.sort());
});

it.each(STORY)('%s succeeds with its example, and responds as documented', async (call) => {
  const contract = openApiChecker()!;
  const { method, operation } = contract
    .operations()
    .find((one) => `${one.method} ${one.path}` === endpointOf(call))!;
  const filled = (operation.parameters ?? [])
    .filter(
      ({ in: place, example }) =>
        place === 'path' || (example !== undefined && !call.includes('?')),
    )
    .reduce(
      (url, { name, in: place, example }) => {
        const value = encodeURIComponent(String(example));
        if (place === 'path') return url.replace(`{${name}}`, value);
        return `${url}${url.includes('?') ? '&' : '?'}${name}=${value}`;
      },
      call.replace(`${method} `, '') + (call === EXPLAIN_INCIDENT ? incidentNumber() : ''),
    );
  const answer = await harness.call(method, filled, contract.exampleOf(operation.requestBody));
  expect([call, String(answer.status)]).toEqual([call, expect.stringMatching(/^2/)]);
  const success = operation.responses[answer.status];
  contract.checkValue(`the example of ${call}`, success.content, contract.exampleOf(success));
  if (Array.isArray(answer.body)) expect(answer.body.length).toBeGreaterThan(0);
});
