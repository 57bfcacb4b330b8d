import type { IncomingMessage, ServerResponse } from 'node:http';
import send from 'send';
import { ASSET_HEADERS } from '../html/security-headers.js';
import type { CustomPages } from './custom-pages.js';

/** A page id without leading zeros, then the path of a file. */
const PATH = /^(0|[1-9]\d{0,9})(\/.+)$/;
/** The page itself is not served as a file, because its placeholders would not be filled in. */
const PAGE = /^\/index\.html$/i;

/**
 * Answers with a file of a custom page, or with 404.
 * @param path what follows `ASSETS_PATH`: page id and file
 */
export function sendAsset(
  request: IncomingMessage,
  response: ServerResponse,
  pages: CustomPages,
  path: string,
): void {
  for (const [name, value] of Object.entries(ASSET_HEADERS)) response.setHeader(name, value);
  const match = PATH.exec(path);
  const root = match === null ? undefined : pages.folderOf(Number(match[1]));
  if (match === null || root === undefined || PAGE.test(decoded(match[2]))) {
    response.writeHead(404).end();
    return;
  }
  const options = { root, dotfiles: 'ignore', index: false, cacheControl: false } as const;
  send(request, match[2], options)
    .on('error', () => {
      if (response.headersSent) response.destroy();
      else response.writeHead(404).end();
    })
    .on('directory', () => {
      response.writeHead(404).end();
    })
    .on('stream', (file: NodeJS.ReadableStream & { destroy(): void }) => {
      // A response emits no event if its connection closed before the response started.
      request.socket.once('close', () => {
        file.destroy();
      });
    })
    .pipe(response);
}

/** Decodes percent escapes. A path with invalid escapes is returned unchanged; no such file exists. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
