import { get } from 'node:http';

/** Asks for the front page of a site, by another name than the one that it is reached by, which fetch cannot. */
export function visit(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { headers }, (response) => response.resume().once('end', () => resolve())).once(
      'error',
      reject,
    );
  });
}
