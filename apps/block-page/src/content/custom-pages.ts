import type { Logger } from '@weir/ops';
import type { Policy, PolicySource } from '@weir/policy';
import { readFile, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import send from 'send';
import { ASSET_HEADERS } from '../html/security-headers.js';
import { Template } from './template.js';

/** A change of the files is visible after this time. */
const CHECK_INTERVAL_MS = 1000;
/** Type of a block page (management API). */
const CUSTOM_PAGE = 1;
const MAX_PAGE_BYTES = 1024 * 1024;

interface CachedPage {
  readonly checkedMs: number;
  /** Identity of the file that was read (time, size and inode), or the reason why there is none. */
  readonly version: string;
  readonly template: Template | null;
}

export interface CustomPagesOptions {
  /** `BLOCK_PAGE_CONTENT`; undefined: there are no custom pages. */
  readonly folder: string | undefined;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** The configuration, which has the block pages. */
  readonly source: PolicySource<Policy>;
}

/** The custom pages: `<page id>/index.html` in a folder, read again when they change. */
export class CustomPages {
  private readonly pages = new Map<number, CachedPage>();
  /** Pages whose files are being checked, each once. */
  private readonly looks = new Map<number, Promise<Template | null>>();

  constructor(private readonly options: CustomPagesOptions) {}

  /** Ids of configured pages that were requested and have no content now. */
  get missing(): readonly number[] {
    for (const id of this.pages.keys()) if (!this.isConfigured(id)) this.pages.delete(id);
    return [...this.pages].filter(([, { template }]) => template === null).map(([id]) => id);
  }

  /** Whether the block page with this id is a custom one. */
  isConfigured(pageId: number): boolean {
    return this.options.source.policy?.blockPage(pageId)?.type === CUSTOM_PAGE;
  }

  /** Folder of a page's files; undefined: there are no custom pages. */
  folderOf(pageId: number): string | undefined {
    const { folder } = this.options;
    return folder === undefined ? undefined : join(folder, String(pageId));
  }

  /** The page; null: its content cannot be read. The log says why, once. */
  async find(pageId: number): Promise<Template | null> {
    const page = this.pages.get(pageId);
    const nowMs = performance.now();
    if (page !== undefined && nowMs < page.checkedMs + CHECK_INTERVAL_MS) return page.template;
    let look = this.looks.get(pageId);
    if (look === undefined) {
      look = this.look(pageId, page, nowMs).finally(() => this.looks.delete(pageId));
      this.looks.set(pageId, look);
    }
    return look;
  }

  /** Reads the page for the preview, without caching. */
  async preview(pageId: number): Promise<Template | null> {
    return (await this.read(pageId, undefined)).template;
  }

  private async look(
    pageId: number,
    before: CachedPage | undefined,
    checkedMs: number,
  ): Promise<Template | null> {
    const { version, template } = await this.read(pageId, before);
    this.pages.set(pageId, { checkedMs, version, template });
    if (version === before?.version) return template;
    const { log } = this.options;
    if (template === null) {
      log.warn(
        { pageId, reason: version },
        'no content for a block page: the built-in one is shown',
      );
      return null;
    }
    log.info({ pageId }, 'content of a block page was read');
    const placeholders = template.unknown.slice(0, 10);
    if (placeholders.length > 0) {
      log.warn({ pageId, placeholders }, 'a block page has unknown placeholders');
    }
    return template;
  }

  private async read(
    pageId: number,
    before: CachedPage | undefined,
  ): Promise<Omit<CachedPage, 'checkedMs'>> {
    const folder = this.folderOf(pageId);
    if (folder === undefined) return { version: 'BLOCK_PAGE_CONTENT is unset', template: null };
    const file = join(folder, 'index.html');
    try {
      const found = await stat(file);
      if (!found.isFile()) throw new Error(`${file} is no file`);
      const { mtimeMs, size, ino } = found;
      if (size > MAX_PAGE_BYTES) {
        throw new Error(`${file} has ${size} bytes: ${MAX_PAGE_BYTES} is the most`);
      }
      const version = `${mtimeMs} ${size} ${ino}`;
      if (version === before?.version) return before;
      return { version, template: new Template(await readFile(file, 'utf8')) };
    } catch (error) {
      return { version: (error as Error).message, template: null };
    }
  }
}

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
    .on('directory', () => response.writeHead(404).end())
    .on('stream', (file: NodeJS.ReadableStream & { destroy(): void }) => {
      // A response emits no event if its connection closed before the response started.
      request.socket.once('close', () => file.destroy());
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
