/** Each block page has its own address, so a blocked answer identifies the page: page n has 192.0.2.n. */
export const pageAddress = (page: number): string => `192.0.2.${page}`;

export const MAX_PAGE_ID = 254;

/** Address of the default page. No profile of the suite uses it. */
export const DEFAULT_PAGE_ADDRESS = '192.0.2.255';

/** The variable BLOCK_PAGE_ADDRESSES. */
export function renderPageAddresses(): string {
  const pages = Array.from({ length: MAX_PAGE_ID }, (_, i) => [i + 1, [pageAddress(i + 1)]]);
  return JSON.stringify(Object.fromEntries(pages));
}
