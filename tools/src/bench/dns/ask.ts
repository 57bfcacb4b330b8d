import { once } from 'node:events';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { join } from 'node:path';
import { encodeQuery, readAnswer } from '../../deployment/dns-message.js';
import { load as runDnsperf, type LoadResult } from '../../services/dnsperf.js';
import { loadHttps } from '../../services/h2load.js';
import { BLOCK_ADDRESS, type Job, type PhaseName } from './jobs.js';
import type { ServerSetup } from './servers/server.js';

/** What a load generator saw. */
export interface Asked {
  readonly sent: number;
  readonly answered: number;
  readonly perSecond: number;
  /** Answers with an RCODE other than NOERROR. Over HTTPS: as many as make the size of all answers a wrong one. */
  readonly errors: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Queries a second of the steady phase. */
const STEADY_RATE = 20_000;

/** Asks the names of a phase. */
export type Ask = (phase: PhaseName, seconds: number) => Promise<Asked>;

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
    return async (phase, seconds) => {
      const target = { port: tlsPort, paths: queries[phase], log: join(folder, 'h2load') };
      const result = await loadHttps({ ...target, ...load, seconds, rate: rateOf(phase) });
      const { answered, bodyBytes } = result;
      return { ...result, errors: Math.ceil(Math.abs(bodyBytes / answerBytes - answered)) };
    };
  }
  const { transport } = load;
  const target = {
    port: transport === 'dot' ? tlsPort : port,
    transport,
    clients: transport === 'udp' ? clients : load.connections,
  };
  return async (phase, seconds) => {
    const pace = { kind: 'timed', seconds, rate: rateOf(phase) } as const;
    const result = await runDnsperf({ ...target, queries: queries[phase], pace });
    return { ...result, errors: errorsOf(result) };
  };
}

export function errorsOf({ rcodes, answered }: LoadResult): number {
  return answered - (rcodes['NOERROR'] ?? 0);
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
