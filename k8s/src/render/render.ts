import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from '../objects/kubernetes-object.js';
import { CHART_FOLDER } from '../paths.js';
import { runGoRenderer, whyNoGoRenderer } from './go-renderer.js';
import { hasHelm, runHelm } from './helm.js';
import type { Release } from './release.js';
import { chartValues, checkValues, overlay, type Values } from './values.js';

export interface RenderOptions {
  /** They override values.yaml. */
  readonly values: Values;
  readonly release?: Partial<Release>;
  /** Objects that are already in the cluster. Only the Go renderer supports them. */
  readonly objects?: readonly KubernetesObject[];
}

const RELEASE: Release = { name: 'weir', namespace: 'dns', isUpgrade: false, revision: 1 };
const KUBE_VERSION = 'v1.31.0';

/** Program that renders the chart. */
export type Engine = 'helm' | 'go';

/** Why nothing can render the chart on this machine, or null. */
export function whyNoEngine(): string | null {
  return hasHelm() ? null : whyNoGoRenderer();
}

/** The objects of a release. @throws ChartError when the schema or the chart refuses the values. */
export function render(
  options: RenderOptions,
  engine: Engine = hasHelm() && options.objects === undefined ? 'helm' : 'go',
): readonly KubernetesObject[] {
  checkValues(overlay(chartValues(), options.values));
  if (engine === 'helm') {
    const release = { ...RELEASE, ...options.release };
    return parseObjects(runHelm(CHART_FOLDER, [options.values], release, KUBE_VERSION));
  }
  const files = Object.entries(renderFiles(options));
  return files
    .filter(([name]) => name.endsWith('.yaml'))
    .flatMap(([name, text]) => parseObjects(text, name));
}

/** The text that Helm prints after an install. */
export function renderNotes(options: RenderOptions): string {
  return renderFiles(options)['templates/NOTES.txt'];
}

function renderFiles({ values, release, objects = [] }: RenderOptions): Record<string, string> {
  return runGoRenderer({
    chart: CHART_FOLDER,
    values: [values],
    release: { ...RELEASE, ...release },
    kubeVersion: KUBE_VERSION,
    objects,
  });
}

function parseObjects(text: string, name = 'helm'): KubernetesObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`${name}: ${error.message}`);
    const object = document.toJS() as KubernetesObject | null;
    return object === null ? [] : [object];
  });
}
