import { spawnSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from '../objects/testing/kubernetes-object.js';
import { CHART_FOLDER } from '../paths.js';
import { type HelmVersion, helmProgram } from '@weir/tools/release/helm-program';
import { ChartError, type Values } from './values.js';

const MAX_OUTPUT_BYTES = 2 ** 26;

/** Neither a cluster nor settings of the user have a part in what Helm answers. */
export const HELM_ENVIRONMENT: Readonly<Record<string, string>> = {
  HOME: '/nonexistent',
  KUBECONFIG: '/dev/null',
};

/**
 * What Helm prints. Values come from standard input with `--values=-`.
 * @throws ChartError with the message of Helm.
 */
export function runHelm(version: HelmVersion, args: readonly string[], values?: object): string {
  const { status, stdout, stderr, error } = spawnSync(helmProgram(version), args, {
    input: JSON.stringify(values ?? {}),
    encoding: 'utf8',
    env: HELM_ENVIRONMENT,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  if (error) throw error;
  // `helm lint` prints what it finds to the standard output.
  if (status !== 0) throw new ChartError(`${stdout}${stderr}`.trim());
  return stdout;
}

export interface RenderOptions {
  /** They override values.yaml. */
  readonly values: Values;
  readonly name?: string;
  readonly namespace?: string;
  readonly isUpgrade?: boolean;
}

const NEWEST_HELM: HelmVersion = 4;

/** The objects of a release. @throws ChartError when the schema or the chart refuses the values. */
export function render(
  options: RenderOptions,
  version: HelmVersion = NEWEST_HELM,
): readonly KubernetesObject[] {
  return parseObjects(renderText(options, version));
}

/** The objects of a release as Helm writes them. @throws ChartError */
export function renderText(options: RenderOptions, version: HelmVersion = NEWEST_HELM): string {
  return runHelm(version, templateArguments(options), options.values);
}

/** The arguments of `helm template`; the values come from standard input. */
export function templateArguments(options: RenderOptions): string[] {
  const { name = 'weir', namespace = 'dns', isUpgrade = false } = options;
  const flags = [`--namespace=${namespace}`, '--values=-', ...(isUpgrade ? ['--is-upgrade'] : [])];
  return ['template', name, CHART_FOLDER, ...flags];
}

/** The text that Helm prints after an install. @throws ChartError */
export function renderNotes(values: Values): string {
  const flags = ['--namespace=dns', '--values=-', '--dry-run=client', '--output=json'];
  const release = runHelm(NEWEST_HELM, ['install', 'weir', CHART_FOLDER, ...flags], values);
  return (JSON.parse(release) as { readonly info: { readonly notes: string } }).info.notes;
}

export function parseObjects(text: string): KubernetesObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(error.message);
    const object = document.toJS() as KubernetesObject | null;
    return object === null ? [] : [object];
  });
}
