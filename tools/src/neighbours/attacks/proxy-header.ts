/** Header of the PROXY protocol, version 2: signature, PROXY, family, length, addresses, ports. */
const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const PROXY = 0x21;
const ADDRESS_BYTES = 12;
const FAMILY = { stream: 0x11, datagram: 0x12 } as const;

/** The header by which a load balancer names an IPv4 client. */
export function proxyHeader(source: string, port: number, kind: keyof typeof FAMILY): Buffer {
  const address = Buffer.from(source.split('.').map(Number));
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(port, 0);
  ports.writeUInt16BE(53, 2);
  const head = Buffer.of(PROXY, FAMILY[kind], 0, ADDRESS_BYTES);
  return Buffer.concat([SIGNATURE, head, address, address, ports]);
}
