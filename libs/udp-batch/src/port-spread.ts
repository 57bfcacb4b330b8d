import { SO_ATTACH_REUSEPORT_CBPF, SOL_SOCKET } from './linux.js';
import { SystemError, type SystemCalls } from './system-calls.js';

/** `struct sock_filter { u16 code; u8 jt; u8 jf; u32 k }` of classic BPF. */
const INSTRUCTION_BYTES = 8;
/** `struct sock_fprog { u16 len; struct sock_filter *filter }` */
const PROGRAM_BYTES = 16;
const PROGRAM_FILTER = 8;

const LOAD_WORD = 0x20;
const MODULO = 0x94;
const SKIP_UNLESS_EQUAL = 0x15;
const RETURN = 0x06;
/** `SKF_AD_OFF + SKF_AD_RANDOM`: a load from there gives a random number. */
const RANDOM = 0xffff_f038;

/**
 * Has the kernel spread the datagrams of a port at random over some of the sockets that share it
 * (`SO_ATTACH_REUSEPORT_CBPF`, socket(7)). Otherwise it chooses by a hash of the addresses and ports, which are always
 * the same behind a balancer that asks from one socket. No privilege is needed.
 *
 * The kernel numbers the sockets of a group in the order in which they were bound. When one is closed, the last one
 * gets its number; so all of them must stay open.
 */
export class PortSpread {
  /** @param fds a socket of each group: the sockets of one address share its port */
  constructor(
    private readonly calls: SystemCalls,
    private readonly fds: readonly number[],
  ) {}

  /**
   * From now on, these sockets get the datagrams. What has arrived before stays where it is.
   * @param numbers of the sockets in their groups, at least one
   * @throws SystemError where the kernel has no such option
   */
  over(numbers: readonly number[]): void {
    const { calls, fds } = this;
    const program = compile(numbers);
    const header = new Uint8Array(PROGRAM_BYTES);
    const view = new DataView(header.buffer);
    view.setUint16(0, program.length / INSTRUCTION_BYTES, true);
    view.setBigUint64(PROGRAM_FILTER, BigInt(calls.addressOf(program)), true);
    for (const fd of fds) {
      if (calls.setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, header, header.length) < 0) {
        throw new SystemError('setsockopt(SO_ATTACH_REUSEPORT_CBPF)', calls.errno());
      }
    }
  }
}

/** A random number modulo the count; then the socket with that place in the list. */
function compile(numbers: readonly number[]): Uint8Array {
  const instructions = [
    [LOAD_WORD, 0, RANDOM],
    [MODULO, 0, numbers.length],
    ...numbers.flatMap((number, place) => [
      [SKIP_UNLESS_EQUAL, 1, place],
      [RETURN, 0, number],
    ]),
    [RETURN, 0, numbers[0]],
  ];
  const program = new Uint8Array(instructions.length * INSTRUCTION_BYTES);
  const view = new DataView(program.buffer);
  for (const [i, [code, skip, value]] of instructions.entries()) {
    view.setUint16(i * INSTRUCTION_BYTES, code, true);
    view.setUint8(i * INSTRUCTION_BYTES + 3, skip);
    view.setUint32(i * INSTRUCTION_BYTES + 4, value, true);
  }
  return program;
}
