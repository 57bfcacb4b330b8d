/*
 * Loaded into a resolver before its program (`--import`): a sandbox that refuses the system calls recvmmsg and sendmmsg
 * to this thread, and to those that it starts, with the errno REFUSED_WITH (seccomp(2)).
 */
import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const PR_SET_SECCOMP = 22;
const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_MODE_FILTER = 2;
const SECCOMP_RET_ALLOW = 0x7fff0000;
const SECCOMP_RET_ERRNO = 0x00050000;
const LOAD_WORD = 0x20;
const SKIP_UNLESS_EQUAL = 0x15;
const RETURN = 0x06;

const CALLS = { x64: [299, 307], arm64: [243, 269] }[process.arch];
const { REFUSED_WITH } = process.env;

if (isMainThread) {
  const require = createRequire(
    new URL('../../../../libs/udp-batch/package.json', import.meta.url),
  );
  const koffi = require('koffi');
  const prctl = koffi
    .load(null)
    .func('int prctl(int, unsigned long, uintptr_t, unsigned long, unsigned long)');
  const instructions = [
    [LOAD_WORD, 0, 0],
    ...CALLS.flatMap((call) => [
      [SKIP_UNLESS_EQUAL, 1, call],
      [RETURN, 0, SECCOMP_RET_ERRNO | Number(REFUSED_WITH)],
    ]),
    [RETURN, 0, SECCOMP_RET_ALLOW],
  ];
  const filter = Buffer.alloc(instructions.length * 8);
  for (const [i, [code, skip, value]] of instructions.entries()) {
    filter.writeUInt16LE(code, i * 8);
    filter.writeUInt8(skip, i * 8 + 3);
    filter.writeUInt32LE(value, i * 8 + 4);
  }
  const program = Buffer.alloc(16);
  program.writeUInt16LE(instructions.length, 0);
  program.writeBigUInt64LE(BigInt(koffi.address(filter)), 8);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) !== 0) throw new Error('no_new_privs is refused');
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, Number(koffi.address(program)), 0, 0) !== 0) {
    throw new Error('seccomp is refused');
  }
}
