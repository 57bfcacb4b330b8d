import { once } from 'node:events';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { join } from 'node:path';
import { encodeQuery, readAnswer } from '../../deployment/dns-message.js';
import { BLOCK_ADDRESS, type Job, type PhaseName } from './jobs.js';
import { loadDns, loadHttps, type LoadResult } from './load-generators.js';
import type { ServerSetup } from './servers.js';

/** Queries a second of the steady phase. */
export const STEADY_RATE = 20_000;

/** Asks the names of a phase. */
export type Ask = (phase: PhaseName, seconds: number) => Promise<LoadResult>;

export interface AskOptions {
  readonly job: Job;
  /** Sockets of the load generator, over UDP. */
  readonly clients: number;
  /** Files of dnsperf, or of h2load. */
  readonly queries: Readonly<Record<PhaseName, string>>;
}

/** The load of a job on a server that answers. */
export async function asker(options: AskOptions, setup: ServerSetup): Promise<Ask> {
  const { queries, clients, job } = options;
  const { port, tlsPort, folder } = setup;
  const { load } = job;
  const rateOf = (phase: PhaseName): number | null => (phase === 'steady' ? STEADY_RATE : null);
  if (load.transport === 'doh') {
    const [name = ''] = job.names('warm');
    const answerBytes = await checkHttps(tlsPort, name);
    const target = { port: tlsPort, log: join(folder, 'h2load'), answerBytes, ...load };
    return (phase, seconds) =>
      loadHttps({ ...target, paths: queries[phase], seconds, rate: rateOf(phase) });
  }
  const { transport } = load;
  const target = {
    port: transport === 'dot' ? tlsPort : port,
    transport,
    clients: transport === 'udp' ? clients : load.connections,
  };
  return (phase, seconds) => {
    const pace = { kind: 'timed', seconds, rate: rateOf(phase) } as const;
    return loadDns({ ...target, queries: queries[phase], pace });
  };
}

/** Asks for a blocked name over HTTPS. @returns the size of the answer @throws Error when it is wrong */
async function checkHttps(port: number, name: string): Promise<number> {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  // The request has the same error.
  session.on('error', () => undefined);
  try {
    const request = session.request({ ':path': pathOf(name) });
    const [headers] = (await once(request, 'response')) as [IncomingHttpHeaders];
    const answer = Buffer.concat((await request.toArray()) as Buffer[]);
    const status = Number(headers[':status']);
    const seen = status === 200 ? readAnswer(answer) : `status ${status}`;
    if (seen === BLOCK_ADDRESS) return answer.length;
    throw new Error(`it answers ${name} over HTTPS with ${seen}, not ${BLOCK_ADDRESS}`);
  } finally {
    session.destroy();
  }
}

/** A line of dnsperf. */
export const queryOf = (name: string): string => `${name} A`;

/** A line of h2load. */
export const pathOf = (name: string): string =>
  `/dns-query?dns=${encodeQuery(0, name).toString('base64url')}`;
