// What `helm test` runs: every pod of the release is ready, and every resolver answers.
// OPS and DNS: comma-separated HOST:PORT of the ops ports and of the resolvers. A HOST may have many addresses: one for
// each pod. QUERY_NAME: the name that resolvers are asked for.
import { lookup, Resolver } from 'node:dns/promises';
import { isIPv6 } from 'node:net';

const TIMEOUT_MS = 5000;
/** A resolver that answers these has done its work: it serves this client nothing, or the name has no address. */
const ANSWERS = ['EREFUSED', 'ENODATA', 'ENOTFOUND'];

const { OPS = '', DNS = '', QUERY_NAME = 'example.com' } = process.env;
const bracketed = (address) => (isIPv6(address) ? `[${address}]` : address);

/** `HOST:PORT` → `ADDRESS:PORT` of each pod. */
async function endpointsOf(place) {
  const [, host, port] = /^\[?(.+?)\]?:(\d+)$/.exec(place);
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => `${bracketed(address)}:${port}`);
}

async function checkReady(endpoint) {
  const response = await fetch(`http://${endpoint}/readyz`, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error((await response.text()).trim());
  return 'ready';
}

async function checkAnswer(endpoint) {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  resolver.setServers([endpoint]);
  try {
    return `${QUERY_NAME} is at ${(await resolver.resolve4(QUERY_NAME)).join(', ')}`;
  } catch (error) {
    if (ANSWERS.includes(error.code)) return `${QUERY_NAME}: ${error.code.slice(1)}`;
    throw error;
  }
}

async function run(check, places) {
  for (const place of places) {
    try {
      for (const endpoint of await endpointsOf(place)) {
        const text = await check(endpoint).then(
          (result) => `ok    ${place} ${endpoint}: ${result}`,
          (error) => {
            process.exitCode = 1;
            return `FAIL  ${place} ${endpoint}: ${error.cause?.message ?? error.message}`;
          },
        );
        console.log(text);
      }
    } catch (error) {
      process.exitCode = 1;
      console.log(`FAIL  ${place}: ${error.message}`);
    }
  }
}

await run(checkReady, OPS.split(',').filter(Boolean));
await run(checkAnswer, DNS.split(',').filter(Boolean));
