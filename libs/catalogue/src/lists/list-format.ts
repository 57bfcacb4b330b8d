/** Formats of public lists that can be read. */
export const LIST_FORMATS = ['domains', 'hosts', 'adblock', 'rpz', 'ut1'] as const;
export type ListFormat = (typeof LIST_FORMATS)[number];
