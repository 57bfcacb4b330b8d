import { describe, expect, it } from 'vitest';
import { isPageRequest } from './page-handler.js';

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36';
const CHROME_PAGE = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

describe('isPageRequest', () => {
  it.each([
    ['GET', { accept: CHROME_PAGE, 'user-agent': BROWSER }, true],
    ['HEAD', { accept: CHROME_PAGE }, true],
    ['GET', { accept: 'application/xhtml+xml' }, true],
    ['GET', { accept: '*/*', 'user-agent': 'curl/8.5.0' }, true],
    ['GET', { accept: '*/*' }, true],
    ['GET', { accept: '*/*', 'sec-fetch-dest': 'document', 'user-agent': BROWSER }, true],
    ['GET', { accept: '*/*', 'user-agent': BROWSER }, false],
    ['GET', { accept: CHROME_PAGE, 'sec-fetch-dest': 'iframe' }, false],
    ['GET', { accept: 'image/avif,image/webp,*/*;q=0.8' }, false],
    ['GET', { accept: 'text/css,*/*;q=0.1' }, false],
    ['GET', { accept: 'application/json' }, false],
    ['GET', { accept: 'text/htmlx' }, false],
    ['GET', {}, true],
    ['GET', { 'user-agent': BROWSER }, false],
    ['POST', { accept: CHROME_PAGE }, false],
    [undefined, { accept: CHROME_PAGE }, false],
  ])('%s with %j: %s', (method, headers, isPage) => {
    expect(isPageRequest(method, headers)).toBe(isPage);
  });
});
