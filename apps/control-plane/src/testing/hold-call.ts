import { connect } from 'node:net';

/** Begins a call whose body never comes, so that it stays in progress. @returns a function that ends it. */
export async function holdCall(port: number, token: string): Promise<() => void> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const head = [
    'POST /blockpage/ HTTP/1.1',
    'Host: weir',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'Content-Length: 10',
    // The answer to it shows that the call has begun.
    'Expect: 100-continue',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
  return () => socket.destroy();
}
