import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness, TOKEN } from '../../testing/harness.js';
import { READING } from '../routing/endpoint.js';
import { openApiChecker } from '../../testing/openapi-checker.js';

/** Method, path and success status of every endpoint in the contract, and of decisions §14 and §15. */
const ENDPOINTS = `
POST /init/ 200 204
GET /profiles/ 200
POST /profiles/ 201
GET /profiles/{profile_id} 200
PATCH /profiles/{profile_id} 200
GET /app_aware/application/ 200
GET /profile/{profile_id}/app_aware 200
POST /profile/{profile_id}/app_aware 201
POST /profile/{profile_id}/app_aware/batch 201
DELETE /profile/{profile_id}/app_aware/{app_aware_id} 204
GET /blockpage/ 200
POST /blockpage/ 201
GET /blockpage/{page_id} 200
PATCH /blockpage/{page_id} 200
DELETE /blockpage/{page_id} 204
POST /profile/{profile_id}/bw_list 201
POST /profile/{profile_id}/bw_list/batch 201
PATCH /profile/{profile_id}/bw_list/{domain} 200
DELETE /profile/{profile_id}/bw_list/{domain} 204
GET /net/ 200
POST /net/ 201
GET /net/{int_ip} 200
PATCH /net/{int_ip} 200
DELETE /net/{int_ip} 204
GET /net6/ 200
POST /net6/ 201
GET /net6/{ipv6} 200
PATCH /net6/{ipv6} 200
DELETE /net6/{ipv6} 204
POST /napt/ 201
POST /napt/batch 201
GET /napt/{int_ip} 200
GET /napt/{int_ip}/{lower_port_bound}/{upper_port_bound} 200
PATCH /napt/{int_ip}/{lower_port_bound}/{upper_port_bound} 200
DELETE /napt/{int_ip}/{lower_port_bound}/{upper_port_bound} 204
DELETE /napt/batch 204
GET /profile/{profile_id}/schedule 200
POST /profile/{profile_id}/schedule 201
PATCH /profile/{profile_id}/schedule 200
DELETE /profile/{profile_id}/schedule 204
GET /orders/ 200
POST /orders/ 201
GET /orders/{id} 200
PATCH /orders/{id} 200
DELETE /orders/{id} 204
GET /profile/{profile_id}/grants 200
POST /profile/{profile_id}/grants 201
GET /profile/{profile_id}/grants/{id} 200
DELETE /profile/{profile_id}/grants/{id} 204`
  .trim()
  .split('\n');
/** Those of decisions §12, under their own tag. */
const READING_ENDPOINTS = `
GET /explain/ 200
GET /changes/ 200
GET /profile/{profile_id}/subscribers 200
GET /profile/{profile_id}/switches 200
GET /resolvers/ 200
GET /token/ 200
GET /categories/ 200
GET /catalogue/ 200
GET /catalogue/search/ 200
POST /catalogue/accept 201`
  .trim()
  .split('\n');

const authorization = { Authorization: `Bearer ${TOKEN}` };

describe('the OpenAPI document', () => {
  let harness: Harness;
  // oxlint-disable-next-line typescript/no-explicit-any -- a document is looked into here and there
  let document: any;

  beforeAll(async () => {
    harness = await startHarness();
    document = await (
      await fetch(`${harness.baseUrl}/openapi.json`, { headers: authorization })
    ).json();
  });
  afterAll(() => harness.stop());

  it('is docs/openapi.json', async () => {
    const text = `${JSON.stringify(document, null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('../../../../../docs/openapi.json');
  });

  it('has exactly the endpoints of the contract and of decisions §12, §14 and §15, with their success statuses', () => {
    const documented = openApiChecker()!
      .operations()
      .map(({ method, path, operation }) => {
        const success = Object.keys(operation.responses).filter((status) => status.startsWith('2'));
        return {
          endpoint: `${method} ${path} ${success.join(' ')}`,
          isReading: operation.tags[0] === READING,
        };
      });
    const endpoints = (isReading: boolean) =>
      documented.filter((one) => one.isReading === isReading).map(({ endpoint }) => endpoint);
    expect(endpoints(false).sort()).toEqual(ENDPOINTS.toSorted());
    expect(endpoints(true).sort()).toEqual(READING_ENDPOINTS.toSorted());
  });

  it('describes every error response of an endpoint', () => {
    for (const { operation, path } of openApiChecker()!.operations()) {
      const statuses = Object.keys(operation.responses);
      expect(statuses).toEqual(expect.arrayContaining(['401', '403', '429']));
      if (path !== '/token/') expect(statuses).toEqual(expect.arrayContaining(['500', '503']));
      const isChecked =
        path.includes('{') || operation.requestBody || operation.tags[0] === READING;
      if (isChecked) expect(statuses).toContain('422');
      if (operation.requestBody) expect(statuses).toEqual(expect.arrayContaining(['413', '415']));
    }
  });

  it('has the bounds and defaults of the contract', () => {
    const { schemas } = document.components;
    expect(schemas.Ipv4Network.properties.prefix_len).toEqual({
      type: 'integer',
      minimum: 10,
      maximum: 32,
      default: 32,
    });
    expect(schemas.Ipv6Network.properties.prefix_len).toMatchObject({
      minimum: 16,
      maximum: 128,
      default: 128,
    });
    expect(schemas.Napt.properties.lower_port_bound).toMatchObject({ minimum: 0, default: 0 });
    expect(schemas.Napt.properties.upper_port_bound).toMatchObject({
      maximum: 65535,
      default: 65535,
    });
    expect(schemas.BlockPage.properties.type.enum).toEqual([0, 1]);
    expect(schemas.ApplicationRule.properties.status).toMatchObject({ default: 'deny' });
    expect(schemas.ProfileSettings.properties).toMatchObject({
      page_id: { type: 'integer', nullable: true, default: null },
      white_list_only: { default: false },
      empty_dns_answer: { default: false },
      appaware_priority_over_bwlists: { default: false },
    });
    expect(new Set(schemas.Init.required as string[])).toEqual(
      new Set(['blockpages', 'bw_lists', 'napts', 'nets', 'nets6', 'profiles']),
    );
    expect(schemas.ProfileAnswer.required).toEqual(['profile', 'cat_ids', 'apps']);
  });

  it('requires a bearer token, and names the parameter of the application app_aware_id', () => {
    expect(document.security).toEqual([{ bearer: [] }]);
    expect(document.components.securitySchemes.bearer).toEqual({ type: 'http', scheme: 'bearer' });
    const path = '/profile/{profile_id}/app_aware/{app_aware_id}';
    expect(document.paths[path].delete.parameters).toMatchObject([
      { name: 'profile_id', in: 'path', required: true },
      { name: 'app_aware_id', in: 'path', required: true },
    ]);
  });

  it('has no dangling reference and no duplicate operation id', () => {
    const references = JSON.stringify(document).match(/#\/components\/schemas\/\w+/g)!;
    expect(references.length).toBeGreaterThan(100);
    for (const reference of references) {
      expect(document.components.schemas).toHaveProperty([reference.split('/').at(-1)!]);
    }
    const ids = JSON.stringify(document).match(/"operationId":"\w+"/g)!;
    expect(new Set(ids).size).toBe(ENDPOINTS.length + READING_ENDPOINTS.length);
  });
});

describe('/openapi.json and /docs', () => {
  const PAGES = ['/openapi.json', '/docs', '/docs/', '/docs/swagger-ui.css', '/docs/start.js'];
  const open = async (docs: string | undefined): Promise<Harness> =>
    startHarness(docs === undefined ? {} : { MANAGEMENT_DOCS: docs });
  const statuses = async (harness: Harness, headers: Record<string, string>): Promise<number[]> =>
    Promise.all(
      PAGES.map(async (path) => (await fetch(`${harness.baseUrl}${path}`, { headers })).status),
    );

  it.each([
    [undefined, 401, 200],
    ['token', 401, 200],
    ['public', 200, 200],
    ['off', 401, 404],
  ])('MANAGEMENT_DOCS %s: %i without a token, %i with one', async (docs, without, withToken) => {
    const harness = await open(docs);
    expect(await statuses(harness, {})).toEqual(PAGES.map(() => without));
    expect(await statuses(harness, authorization)).toEqual(PAGES.map(() => withToken));
    await harness.stop();
  });

  it('serve everything that the page needs, so that the browser loads nothing from other servers', async () => {
    const harness = await open('public');
    const page = await fetch(`${harness.baseUrl}/docs`);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    const html = await page.text();
    const references = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path);
    expect(references).toHaveLength(4);
    for (const path of references) {
      expect(path).toMatch(/^\/docs\//);
      const response = await fetch(`${harness.baseUrl}${path}`);
      expect(response.status).toBe(200);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(50);
    }
    const start = await (await fetch(`${harness.baseUrl}/docs/start.js`)).text();
    expect(start).toContain('validatorUrl: null');
    const head = await fetch(`${harness.baseUrl}/docs`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const wrong = await fetch(`${harness.baseUrl}/docs`, { method: 'POST' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    await harness.stop();
  });
});
