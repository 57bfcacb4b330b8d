import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { describeRenderer } from '../testing/engine.js';
import { runGoRenderer } from './go-renderer.js';
import { hasHelm } from './helm.js';
import { render } from './render.js';
import { ciValues } from './values.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Renders a chart with these files and a Chart.yaml. */
function renderFiles(
  files: Readonly<Record<string, string>>,
  request: object = {},
): Record<string, string> {
  const chart = mkdtempSync(join(tmpdir(), 'weir-renderer-'));
  folders.push(chart);
  const all = { 'Chart.yaml': 'name: example\nversion: 1.2.3\nappVersion: "4"\n', ...files };
  for (const [name, text] of Object.entries({ 'values.yaml': '{}', ...all })) {
    mkdirSync(dirname(join(chart, name)), { recursive: true });
    writeFileSync(join(chart, name), text);
  }
  const release = { name: 'one', namespace: 'here', isUpgrade: false, revision: 1 };
  return runGoRenderer({
    chart,
    values: [],
    release,
    kubeVersion: 'v1.31.0',
    objects: [],
    ...request,
  });
}

/** Renders one template. */
const renderOne = (template: string, values = '{}', request: object = {}): string =>
  renderFiles({ 'templates/one.yaml': template, 'values.yaml': values }, request)[
    'templates/one.yaml'
  ];

describeRenderer('the renderer', () => {
  it.each<[what: string, template: string, values: string, text: string]>([
    ['values', '{{ .Values.a.b }}', 'a: { b: text }', 'text'],
    ['an empty text for a value that does not exist', '[{{ .Values.a }}]', '{}', '[]'],
    [
      'the chart',
      '{{ .Chart.Name }} {{ .Chart.Version }} {{ .Chart.AppVersion }}',
      '{}',
      'example 1.2.3 4',
    ],
    [
      'the release',
      '{{ .Release.Name }} {{ .Release.Namespace }} {{ .Release.IsInstall }}',
      '{}',
      'one here true',
    ],
    ['functions of sprig', '{{ "A b" | lower | replace " " "-" | quote }}', '{}', '"a-b"'],
    [
      'YAML with sorted keys',
      '{{ toYaml .Values }}',
      'b: [1, two]\na: {}',
      'a: {}\nb:\n  - 1\n  - two',
    ],
    ['a string that looks like a number, with quotes', '{{ toYaml .Values.a }}', 'a: "7"', '"7"'],
    ['values parsed from YAML', '{{ (fromYaml "a: { b: 7 }").a.b }}', '{}', '7'],
    [
      'values parsed from JSON',
      '{{ (fromJson "{\\"a\\":[7]}").a }} {{ index (fromJsonArray "[8]") 0 }}',
      '{}',
      '[7] 8',
    ],
    ['templates in values', '{{ tpl .Values.a . }}', 'a: "{{ .Release.Name }}"', 'one'],
    [
      'named templates',
      '{{ define "x" }}<{{ . }}>{{ end }}{{ include "x" 7 | indent 1 }}',
      '{}',
      ' <7>',
    ],
    ['large numbers of values.yaml in digits', '{{ .Values.a }}', 'a: 2147483647', '2147483647'],
  ])('renders %s', (_what, template, values, text) => {
    expect(renderOne(template, values)).toBe(text);
  });

  it('renders large numbers of values files in exponential notation, as Helm does', () => {
    const request = { values: [{ a: 2147483647 }] };
    expect(renderOne('{{ .Values.a }}', '{}', request)).toBe('2.147483647e+09');
    expect(renderOne('{{ toJson .Values.a }}', '{}', request)).toBe('2147483647');
  });

  it('merges values over those of the chart', () => {
    const request = { values: [{ a: { b: 2, c: null } }, { d: [3] }] };
    const values = 'a: { a: 1, b: 1, c: 1 }\nd: [1, 2]';
    expect(renderOne('{{ toJson .Values }}', values, request)).toBe('{"a":{"a":1,"b":2},"d":[3]}');
  });

  it('gives the text of a file, and an empty text if the file does not exist', () => {
    const files = renderFiles({
      'files/a.txt': 'text',
      'templates/one.yaml': '{{ .Files.Get "files/a.txt" }}[{{ .Files.Get "no" }}]',
    });
    expect(files['templates/one.yaml']).toBe('text[]');
  });

  it('renders NOTES.txt, but no partials', () => {
    const files = renderFiles({
      'templates/_a.tpl': '{{ define "a" }}{{ end }}',
      'templates/NOTES.txt': 'Hello {{ .Release.Name }}',
    });
    expect(files).toEqual({ 'templates/NOTES.txt': 'Hello one' });
  });

  it('finds objects of the cluster with lookup', () => {
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace: 'here' } };
    const template = '{{ (lookup "v1" "Secret" "here" .Values.name).kind }}';
    const request = { objects: [object] };
    expect(renderOne(template, 'name: a', request)).toBe('Secret');
    expect(renderOne(template, 'name: b', request)).toBe('');
  });

  it.each([
    ['{{ required "say a" .Values.a }}', 'say a'],
    ['{{ fail "no" }}', 'no'],
    ['{{ include "nowhere" . }}', 'nowhere'],
    ['{{ .Values.a.b.c }}', 'nil pointer'],
    ['{{ end }}', 'unexpected {{end}}'],
  ])('fails at %s with a message', (template, message) => {
    expect(() => renderOne(template)).toThrow(message);
  });

  it('fails with a message when the chart is missing or malformed', () => {
    expect(() => runGoRenderer({ chart: tmpdir() + '/nowhere' })).toThrow('no such file');
    expect(() => renderFiles({ 'values.yaml': 'a: [' })).toThrow('values.yaml');
  });

  const helm = hasHelm();
  if (!helm)
    process.stderr.write('SKIPPED: the renderer compared with Helm, which is not on PATH\n');

  describe.skipIf(!helm)('compared with Helm', () => {
    it.each(['minimal', 'full', 'daemonset'])('makes the same objects with %s values', (name) => {
      const values = ciValues(name);
      const byTitle = (one: object, other: object) =>
        JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
      expect([...render({ values }, 'go')].sort(byTitle)).toEqual(
        [...render({ values }, 'helm')].sort(byTitle),
      );
    });
  });
});
