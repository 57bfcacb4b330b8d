import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server of lists for tests. */
export interface ListServer {
  readonly url: string;
  /** The requests so far, in order. */
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** Sets the response of a path: a list with its ETag, or a handler. */
  serve(path: string, answer: readonly string[] | RequestListener): void;
  stop(): Promise<void>;
}

export async function startListServer(): Promise<ListServer> {
  const handlers = new Map<string, RequestListener>();
  const requests: ListServer['requests'] = [];
  const server = createServer((request, response) => {
    const { url: path = '', headers } = request;
    requests.push({ path, headers });
    const handler = handlers.get(path);
    if (handler) handler(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    serve: (path, answer) => {
      handlers.set(path, typeof answer === 'function' ? answer : listed(answer));
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function listed(domains: readonly string[]): RequestListener {
  const body = domains.map((domain) => `${domain}\n`).join('');
  const etag = `"${Buffer.from(body).toString('base64url').slice(0, 40)}-${body.length}"`;
  return (request, response) => {
    if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
    else response.writeHead(200, { ETag: etag }).end(body);
  };
}
