// Starts from the snapshot in a folder, and prints what that took as JSON.
import { SnapshotDisk } from '@weir/change-feed';
import { PolicyTarget } from '@weir/policy-feed';
import { NO_CATALOGUES } from '../policy/no-catalogues.mjs';
import { threadMs } from '../policy/thread-clock.mjs';

const [folder] = process.argv.slice(2);
const quiet = () => undefined;
const disk = new SnapshotDisk({
  folder,
  log: { info: quiet, warn: console.error, error: console.error },
});
const target = new PolicyTarget({ timeZone: 'UTC' }, NO_CATALOGUES);

let longestTurnMs = 0;
let turnMs = performance.now();
const watch = () => {
  const nowMs = performance.now();
  longestTurnMs = Math.max(longestTurnMs, nowMs - turnMs);
  turnMs = nowMs;
  watching = setImmediate(watch);
};
let watching = setImmediate(watch);

const [wallMs, thread, cpu] = [performance.now(), threadMs(), process.cpuUsage()];
const state = await disk.read();
if (state === null) throw new Error('the disk is empty');
const { parts } = state;
/** @type {{ digest: string } | undefined} */
let head;
async function* noticeHead() {
  for await (const part of parts) {
    if (part.type === 'head') head = part;
    yield part;
  }
}
const built = await target.build(noticeHead());
if (built.digest !== head?.digest) throw new Error('another digest');
await built.swapIn();
const { user, system } = process.cpuUsage(cpu);
clearImmediate(watching);
process.stdout.write(
  JSON.stringify({
    wallMs: performance.now() - wallMs,
    processMs: (user + system) / 1_000,
    threadMs: threadMs() - thread,
    longestTurnMs,
    residentMiB: process.memoryUsage.rss() / 2 ** 20,
    counts: target.policy?.counts(),
  }),
);
await disk.close();
