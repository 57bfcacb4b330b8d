import { parseVariables } from '@weir/ops';
import { expect, it } from 'vitest';
import { STACK_SCHEMA } from './configuration.js';
import { renderWelcome } from './welcome.js';

const secrets = {
  managementTokens: ['the-token'],
  feedTokens: ['f'],
  opsTokens: ['the-ops-token'],
  dnsCookieSecrets: ['c'],
  incidentKeys: ['i'],
  domainHashKey: '00',
};
const welcome = (variables: Record<string, string>) =>
  renderWelcome(parseVariables(STACK_SCHEMA, variables), secrets, '/data');

it('the welcome names the URL of the API with its scheme, and passes the certificate to curl', () => {
  expect(welcome({})).toContain('http://127.0.0.1:8080/docs');
  expect(welcome({})).not.toContain('--cacert');
  const secure = welcome({ MANAGEMENT_TLS_CERT: 'api.crt' });
  expect(secure).toContain('https://127.0.0.1:8080/docs');
  expect(secure.match(/curl --cacert api\.crt /g)).toHaveLength(3);
  expect(secure).not.toContain('http://127.0.0.1:8080');
});

it('the welcome names the addresses and the port of each resolver', () => {
  expect(welcome({ DNS_HOST: '0.0.0.0,::' })).toContain(
    'Resolvers       127.0.0.1 and ::1 port 5300, 127.0.0.1 and ::1 port 5301 (UDP and TCP)',
  );
  const apart = welcome({ DNS_HOST: '192.0.2.53,2001:db8::53;192.0.2.54', DNS_PORT: '53' });
  expect(apart).toContain('192.0.2.53 and 2001:db8::53 port 53, 192.0.2.54 port 53 (UDP and TCP)');
  expect(apart).toContain('  dig @192.0.2.53 -p 53 www.example.com\n');
});

it('the welcome says where the secrets are, and contains no other than the token', () => {
  expect(welcome({})).toContain('/data/secrets.json');
  expect(welcome({})).not.toContain('the-ops-token');
});

it('the welcome tells what is degraded', () => {
  expect(welcome({})).not.toContain('Degraded');
  const degraded = ['only sample names'];
  const told = renderWelcome(parseVariables(STACK_SCHEMA, {}), secrets, '/data', { degraded });
  expect(told).toContain('/data/secrets.json\n  Degraded        only sample names\n');
});

it('the welcome does not contain the token when it goes to a log', () => {
  const logged = renderWelcome(parseVariables(STACK_SCHEMA, {}), secrets, '/data', {
    isLogged: true,
  });
  expect(logged).not.toContain('the-token');
  expect(logged).toContain('/data/secrets.json');
  expect(logged).toContain('http://127.0.0.1:8080/docs');
});
