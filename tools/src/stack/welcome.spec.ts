import { parseVariables } from '@weir/ops';
import { expect, it } from 'vitest';
import { STACK_SCHEMA } from './configuration.js';
import { renderWelcome } from './welcome.js';

const secrets = { managementTokens: ['the-token'], feedToken: 'f', domainHashKey: '00' };
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

it('the welcome does not contain the token when it goes to a log', () => {
  const logged = renderWelcome(parseVariables(STACK_SCHEMA, {}), secrets, '/data', true);
  expect(logged).not.toContain('the-token');
  expect(logged).toContain('/data/secrets.json');
  expect(logged).toContain('http://127.0.0.1:8080/docs');
});
