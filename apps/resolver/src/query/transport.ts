/** How a query came in. Transports from `tls` on are encrypted. */
export const Transport = { udp: 0, tcp: 1, tls: 2, https: 3 } as const;
export type Transport = (typeof Transport)[keyof typeof Transport];
