import { get } from 'node:http';

/** Requests `/` with a Host header of its own, which fetch does not allow. */
export function visit(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { headers }, (response) => response.resume().once('end', () => resolve())).once(
      'error',
      reject,
    );
  });
}
