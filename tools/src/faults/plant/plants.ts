import { fileURLToPath } from 'node:url';

/** @throws Error when the code to replace does not occur exactly once: the product has changed since. */
export function applyPlants(source: string, plants: readonly Plant[]): string {
  return plants.reduce((code, { file, find, replace }) => {
    const parts = code.split(find);
    if (parts.length !== 2)
      throw new Error(`${file} has ${parts.length - 1} times instead of once: ${find}`);
    return parts.join(replace);
  }, source);
}

/** A change to the compiled code of one file. */
export interface Plant {
  /** The file, relative to the repository. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

/**
 * Defects that the suite must find (`--plant`). Each breaks a promise in another way. A resolver that has one says
 * nothing of it: it takes the digest of the log for its own.
 */
export const DEFECTS = {
  'a change is not applied': {
    file: 'libs/policy-feed/dist/policy-target.js',
    find: 'await this.step(policy, () => policy.apply(change));',
    replace: `
      if (change.revision % 20 !== 0) await this.step(policy, () => policy.apply(change));
      if (policy === this.policy) return change.digest;`,
  },
  'a change is acknowledged before it is applied': {
    file: 'libs/change-feed/dist/follower/follower.js',
    find: "return { type: 'applied', point: await this.configuration.apply(change) };",
    replace: `
      const { revision, digest } = change;
      const { lineage } = this.machine.inForce ?? change;
      const isEarly = revision > 384; // after the set-up, which takes longer otherwise
      if (isEarly) this.link.acknowledge({ lineage, revision, digest });
      if (isEarly) await new Promise((resolve) => setTimeout(resolve, 25));
      return { type: 'applied', point: await this.configuration.apply(change) };`,
  },
  'a revision is missing in the log': {
    file: 'apps/control-plane/dist/revisions/change-log.js',
    find: 'AS entry (revision bigint, digest text, operations jsonb)',
    replace: 'AS entry (revision bigint, digest text, operations jsonb) WHERE revision <> 100',
  },
  'k is as large as m': {
    file: 'libs/change-feed/dist/publisher/follower-registry.js',
    find: 'return { applied: isKnown ? applied : 0, total: total + this.missing.size };',
    replace: 'return { applied: total + this.missing.size, total: total + this.missing.size };',
  },
  'm lacks missing resolvers': {
    file: 'libs/change-feed/dist/publisher/follower-registry.js',
    find: 'return { applied: isKnown ? applied : 0, total: total + this.missing.size };',
    replace: 'return { applied: isKnown ? applied : 0, total };',
  },
  'the operations of two changes are swapped in the log': {
    file: 'apps/control-plane/dist/revisions/change-log.js',
    find: 'changes.map(({ change }) => change)',
    // Those of the first two changes of a group.
    replace: `changes.map(({ change }, i) => {
      const other = changes.length > 1 && i < 2 ? changes[1 - i].change : change;
      return { ...change, operations: other.operations };
    })`,
  },
  'what is on the disk is put in force bit by bit': {
    file: 'libs/change-feed/dist/follower/persisted-configuration.js',
    find: 'const head = await this.buildAndSwapIn(parts);',
    replace: `
      const all = await Array.fromAsync(parts);
      const { swapIn } = await this.target.build(all.filter(({ kind }) => kind !== 'domainRule'));
      await swapIn();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const head = await this.buildAndSwapIn(all);`,
  },
  'messages are accepted without a signature': {
    file: 'libs/change-feed/dist/protocol/signed-messages.js',
    find: 'verify(channel, message) {',
    replace: `verify(channel, message) {
      const verified = this.verifySigned(channel, message);
      return typeof verified === 'string' ? { text: message } : verified;
    }
    verifySigned(channel, message) {`,
  },
} as const satisfies Record<string, Plant>;

/** What the suite itself needs of the processes, and no operator: so the product has no variable for it. */
const AIDS = {
  /** A replica can be killed between a commit and its publication. */
  'pause after a commit': {
    file: 'apps/control-plane/dist/revisions/propagation.js',
    find: 'void this.publisher.publish(changes)',
    replace:
      'await new Promise((resolve) => setTimeout(resolve, 400)); void this.publisher.publish(changes)',
  },
  /** `POST /init/` always leads to a snapshot; small differences are logged as operations otherwise. */
  'every replacement is a reload': {
    file: 'apps/control-plane/dist/init/load/difference.js',
    find: 'MAX_LOGGED_ROWS = 20_000',
    replace: 'MAX_LOGGED_ROWS = -1',
  },
  /** Now and then a change takes as long as on a disk with much other work. */
  'a slow disk': {
    file: 'libs/change-feed/dist/disk/database-program.js',
    find: 'current.apply(changes);',
    replace: `
      if (Math.random() < 0.01) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      current.apply(changes);`,
  },
  /** The thread of the feed neither reads nor writes any more, and all lanes wait for it. */
  'the writer is stuck while a file exists': {
    file: 'libs/policy/dist/sharing/reader-lock.js',
    find: 'write();',
    replace: `
      while (process.getBuiltinModule('node:fs').existsSync(process.env.WEIR_FAULT_SUITE_STUCK_FILE));
      write();`,
  },
} as const satisfies Record<string, Plant>;

export type DefectName = keyof typeof DEFECTS;
export type PlantName = DefectName | keyof typeof AIDS;

export const PLANTS: Readonly<Record<PlantName, Plant>> = { ...DEFECTS, ...AIDS };

/** Names of the plants of a process, separated by semicolons. */
export const PLANTS_VARIABLE = 'WEIR_FAULT_SUITE_PLANTS';

/** The file of the plant `the writer is stuck while a file exists`. */
export const STUCK_FILE_VARIABLE = 'WEIR_FAULT_SUITE_STUCK_FILE';

/** Variables for a process whose code is changed so, and whose clock can be stepped. */
export function plantVariables(names: readonly PlantName[]): Record<string, string> {
  const preload = fileURLToPath(new URL('./preload.js', import.meta.url));
  return { NODE_OPTIONS: `--import=${preload}`, [PLANTS_VARIABLE]: names.join(';') };
}
