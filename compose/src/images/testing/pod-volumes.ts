import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { docker } from './docker.js';
import type { ReportedPod, PodReport, Volume } from '../../../../k8s/src/pods/testing/report.js';

/** What a pod's volumes are made of: the chart's objects, and those that an operator makes. */
export type VolumeSources = Pick<PodReport, 'secrets' | 'configMaps'>;

/**
 * Makes a pod's volumes as the kubelet does, with the rights of `fsGroup`.
 * @param prefix begins the names of the engine's volumes; the same prefix gives the same volumes.
 * @param folder where Secrets and ConfigMaps become files.
 * @returns `--mount` options of `docker run`.
 */
export async function mountsOf(
  pod: ReportedPod,
  sources: VolumeSources,
  prefix: string,
  folder: string,
): Promise<string[]> {
  const options: string[] = [];
  for (const { name, mountPath, readOnly = false } of pod.volumeMounts) {
    const volume = pod.volumes.find((one) => one.name === name);
    const data = volume && dataOf(volume, sources);
    if (data) {
      const source = join(folder, name);
      writeFiles(source, data, pod.podSecurityContext.fsGroup ?? 0);
      options.push(`--mount=type=bind,src=${source},dst=${mountPath},readonly`);
    } else {
      const source = `${prefix}-${name}`;
      const fsGroup = volume?.hostPath ? 0 : (pod.podSecurityContext.fsGroup ?? 0);
      await makeEmptyVolume(source, fsGroup);
      // volume-nocopy: a claimed volume is empty, whatever the image has at that place.
      const mode = readOnly ? ',readonly' : '';
      options.push(`--mount=type=volume,src=${source},dst=${mountPath},volume-nocopy${mode}`);
    }
  }
  return options;
}

/** Path → text. @throws Error when the object is missing: the kubelet would not start the pod. */
function dataOf(volume: Volume, sources: VolumeSources): Record<string, string> | undefined {
  const { secret, configMap } = volume;
  if (secret) return filesOf(sources.secrets[secret.secretName], secret.items);
  if (configMap) return filesOf(sources.configMaps[configMap.name], configMap.items);
  return undefined;
}

type Items = readonly { readonly key: string; readonly path: string }[];

function filesOf(
  data: Readonly<Record<string, string>> | undefined,
  items: Items = Object.keys(data ?? {}).map((key) => ({ key, path: key })),
): Record<string, string> {
  if (data === undefined)
    throw new Error('a volume refers to a Secret or ConfigMap that is missing');
  return Object.fromEntries(items.map(({ key, path }) => [path, data[key]]));
}

function writeFiles(folder: string, data: Readonly<Record<string, string>>, group: number): void {
  for (const [path, text] of Object.entries(data)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o440 });
    chownSync(file, 0, group);
  }
}

async function makeEmptyVolume(name: string, group: number): Promise<void> {
  await docker('volume', 'create', name);
  const folder = await docker('volume', 'inspect', '--format={{.Mountpoint}}', name);
  chownSync(folder, 0, group);
  chmodSync(folder, group === 0 ? 0o755 : 0o2775);
}
