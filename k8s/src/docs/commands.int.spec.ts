import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { KubernetesObject } from '../objects/testing/kubernetes-object.js';
import { REPOSITORY_FOLDER } from '../paths.js';
import { podsOf } from '../pods/testing/pod.js';
import { HELM_VERSIONS } from '@weir/tools/release/helm-program';
import { runHelm, render } from '../testing/render.js';
import { ciValues, overlay, type Values } from '../testing/values.js';
import { parseCommandLine } from './testing/command-line.js';
import { CHART_PAGES, codeBlocks, commandsOf, PAGES, readPage } from './testing/markdown.js';

const found = (program: string) =>
  PAGES.flatMap((path) => commandsOf(program, readPage(path)).map((command) => [path, command]));

/** Options of Helm that take no value. */
const HELM_FLAGS = ['create-namespace', 'wait', 'logs'];

const KUBECTL_FLAGS = ['previous', 'current'];
/** As kubectl takes them, one or many of them. */
const KINDS: Readonly<Record<string, string>> = {
  deployment: 'Deployment',
  job: 'Job',
  secret: 'Secret',
  service: 'Service',
  statefulset: 'StatefulSet',
};

/** What `--set` says, such as `resolver.env.UPSTREAMS={192.0.2.1,192.0.2.2}`, as values. */
function valuesOfSet(text: string): Values {
  const [, path, value] = /^([\w.]+)=(.*)$/s.exec(text) ?? [];
  const list = /^\{(.*)\}$/.exec(value);
  const given: unknown = list ? list[1].split(',') : parse(value);
  const keys = path.split('.').toReversed();
  return keys.reduce<unknown>((inner, key) => ({ [key]: inner }), given) as Values;
}

/** The file `values.yaml` that the installation shows. */
const valuesFile = (): Values => parse(codeBlocks('yaml', readPage(CHART_PAGES[0]))[0]) as Values;

describe('helm in the documents', () => {
  it('is found', () => {
    expect(found('helm').length).toBeGreaterThan(6);
  });

  it.each(found('helm'))('%s has a command of Helm: %s', (_, command) => {
    const { words, options } = parseCommandLine(command, HELM_FLAGS);
    for (const version of HELM_VERSIONS) {
      const help = runHelm(version, [words[1], '--help']);
      expect(help).toContain(`\n  helm ${words[1]} `);
      for (const [name] of options) expect(help).toMatch(new RegExp(`--${name}[ =\\[]`));
    }
    for (const word of words.filter((one) => one.startsWith('k8s'))) {
      expect(existsSync(join(REPOSITORY_FOLDER, word, 'Chart.yaml'))).toBe(true);
    }
  });
});

describe('helm install and upgrade in the documents', () => {
  const commands = found('helm').filter(([, command]) =>
    /^helm (install|upgrade) \S/.test(command),
  );

  it.each(commands)('%s has values that the chart takes: %s', (_, command) => {
    const { options } = parseCommandLine(command, HELM_FLAGS);
    const given = options.flatMap(([name, value]): Values[] => {
      if (name === 'set') return [valuesOfSet(value ?? '')];
      return name === 'values' ? [valuesFile()] : [];
    });
    const isUpgrade = command.startsWith('helm upgrade');
    for (const version of HELM_VERSIONS) {
      const objects = render({ values: given.reduce(overlay, {}), isUpgrade }, version);
      expect(objects.length).toBeGreaterThan(10);
    }
  });
});

describe('kubectl in the documents', () => {
  const objects = render({ values: ciValues('trial') });
  const commands = found('kubectl');
  const has = (kind: string, name: string) =>
    objects.some((object) => object.kind === kind && object.metadata.name === name);

  it('is found', () => {
    expect(commands.length).toBeGreaterThan(8);
  });

  it.each(commands)('%s names objects of the chart: %s', (_, command) => {
    // What follows is a command in the pod.
    const [ours] = command.split(' -- ');
    const { words } = parseCommandLine(ours, KUBECTL_FLAGS);
    let kind: string | undefined;
    for (const word of words) {
      const [, prefix, name] = /^([a-z]+)\/(.+)$/.exec(word) ?? [];
      if (prefix !== undefined) expect(has(KINDS[prefix], name), word).toBe(true);
      else if (/^(.*-)?weir-[a-z-]+-\d+$/.test(word)) expect(podsAndClaims()).toContain(word);
      else if (kind !== undefined && word.startsWith('weir'))
        expect(has(kind, word), word).toBe(true);
      else kind = KINDS[word] ?? kind;
    }
  });

  it('is told labels that the pods have', () => {
    const selectors = commands.flatMap(([, command]) => [...command.matchAll(/ -l (\S+)=(\S+)/g)]);
    expect(selectors.length).toBeGreaterThan(0);
    for (const [, name, value] of selectors) {
      for (const { labels } of podsOf(objects)) expect(labels[name]).toBe(value);
    }
  });

  it('makes a Secret with the keys that the pods read', () => {
    const [, create] = commands.find(([, command]) => command.includes('create secret')) ?? [];
    const { options } = parseCommandLine(create ?? '', KUBECTL_FLAGS);
    const given = options
      .filter(([name]) => name === 'from-literal')
      .map(([, value]) => value?.split('=')[0]);
    // Few have keys of threat feeds.
    const needed = keysThatPodsRead().filter((key) => key !== 'CATALOGUE_TSIG_KEYS');
    expect(given.toSorted()).toEqual(needed.toSorted());
  });

  function podsAndClaims(): string[] {
    const isStateful = ({ kind }: KubernetesObject) => kind === 'StatefulSet';
    const pods = objects.filter(isStateful).map(({ metadata }) => `${metadata.name}-0`);
    return [...pods, ...pods.map((pod) => `data-${pod}`)];
  }

  /** Of a Secret that the operator made, where PostgreSQL and Redis run elsewhere. */
  function keysThatPodsRead(): string[] {
    const env = podsOf(render({ values: ciValues('minimal') })).flatMap(
      ({ container }) => container.env ?? [],
    );
    const keys = env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.key);
    // Few collectors need headers.
    const optional = ['OTEL_EXPORTER_OTLP_HEADERS'];
    const needed = keys.filter((key) => key !== undefined).filter((key) => !optional.includes(key));
    return [...new Set(needed)];
  }
});
