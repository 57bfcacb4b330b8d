// `npm run test:images [-- <vitest arguments>]` builds the images and runs them with docker-compose.yml. It starts a
// Docker Engine of its own in its own network and process namespaces. Nothing else on the machine sees it, and it ends
// with this process.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Command → Debian package that contains it. */
const NEEDED = {
  containerd: 'containerd',
  curl: 'curl',
  debootstrap: 'debootstrap',
  dig: 'bind9-dnsutils',
  docker: 'docker.io',
  dockerd: 'docker.io',
  ip: 'iproute2',
  iptables: 'iptables',
  podman: 'podman',
  runc: 'runc',
  slirp4netns: 'slirp4netns',
};

/** Device that the network namespace needs to reach other networks. */
const TUN = '/dev/net/tun';

/** First process in the new namespaces. It waits for the network interface, then runs the tests. */
const FIRST_PROCESS = `
ip link set lo up && echo unshared >&3
for i in $(seq 300); do ip link show tap0 >/dev/null 2>&1 && break; sleep 0.1; done
flock --nonblock --conflict-exit-code 75 "$CACHE/lock" vitest run --project images "$@"
status=$?
[ $status = 75 ] && echo "test:images: another run holds $CACHE/lock" >&2
exit $status`;

function fail(reason) {
  process.stderr.write(`test:images: nothing was tested. ${reason}\n`);
  process.exit(1);
}

const missing = Object.keys(NEEDED).filter((command) => spawnSync('which', [command]).status !== 0);
if (process.getuid?.() !== 0) fail('Running containers needs root.');
if (missing.length > 0) {
  const packages = [...new Set(missing.map((command) => NEEDED[command]))].join(' ');
  fail(`Missing: ${missing.join(', ')}. On Debian: apt-get install ${packages}`);
}

const namespaces = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
if (spawnSync('unshare', [...namespaces, 'true']).status !== 0 || !existsSync(TUN)) {
  fail(`This machine does not allow a network namespace (unshare, ${TUN}).`);
}

const cache = join(tmpdir(), 'weir-image-cache');
mkdirSync(cache, { recursive: true });
const tests = spawn(
  'unshare',
  [...namespaces, 'sh', '-c', FIRST_PROCESS, 'sh', ...process.argv.slice(2)],
  { stdio: ['inherit', 'inherit', 'inherit', 'pipe'], env: { ...process.env, CACHE: cache } },
);
// Ctrl-C in a terminal reaches this process and the tests. The tests then end by themselves.
process.on('SIGINT', () => undefined);
// unshare does not pass SIGTERM on. With --kill-child all of it ends with unshare.
process.on('SIGTERM', () => tests.kill('SIGKILL'));
const ended = once(tests, 'exit');
await Promise.race([once(tests.stdio[3], 'data'), ended]);
const network = spawn('slirp4netns', ['--configure', '--mtu=65520', String(tests.pid), 'tap0'], {
  stdio: 'ignore',
});
const [status] = await ended;
network.kill();
process.exitCode = status ?? 1;
