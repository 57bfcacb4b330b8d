import type { ExplanationDto } from '@weir/control-plane/explain/explain.dto';
import { isIP } from 'node:net';
import { Api } from '../api/api.js';
import { type Context, type JsonOption, UsageError } from '../context.js';
import { table, type Terminal, textOf } from '../terminal.js';

/** `192.0.2.1`, `192.0.2.1:4000`, `2001:db8::1` or `[2001:db8::1]:4000`; null: none of these. */
export function parseClient(text: string): { client: string; port?: number } | null {
  if (isIP(text) !== 0) return { client: text };
  const [, bracketed, plain, digits] =
    /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const client = bracketed ?? plain ?? '';
  const port = digits === undefined ? undefined : Number(digits);
  const isValid = isIP(client) === (bracketed === undefined ? 4 : 6) && (port ?? 0) <= 65535;
  if (!isValid) return null;
  return port === undefined ? { client } : { client, port };
}

interface Options extends JsonOption {
  readonly type?: string;
  readonly at?: string;
  readonly incident?: string;
}

const COLOURS: Readonly<Record<string, 'green' | 'red' | 'dim'>> = {
  ...{ allow: 'green', unfiltered: 'green', deny: 'red', refused: 'red', none: 'dim' },
};

/** Prints why a name is blocked for a client, or why it is not. */
export async function explain(
  { environment, terminal }: Context,
  address: string | undefined,
  domain: string | undefined,
  { type, at, incident, json }: Options,
): Promise<void> {
  if (incident === undefined ? domain === undefined : (address ?? at) !== undefined) {
    throw new UsageError('explain needs an address and a domain, or an incident number alone');
  }
  const client = address === undefined ? {} : parseClient(address);
  if (client === null) {
    throw new UsageError(`${textOf(address)} is no address: 192.0.2.1:4000 or [2001:db8::1]:4000`);
  }
  const query = { ...client, domain, type, at, incident };
  const answer = await new Api(environment).get<ExplanationDto>('/explain/', 'steps', query);
  terminal.print(...(json ? [JSON.stringify(answer)] : render(answer, terminal)));
}

function render(explanation: ExplanationDto, terminal: Terminal): string[] {
  const { client, domain, type, at, revision, steps, verdict, target } = explanation;
  const coloured = (text: string): string => terminal.style(COLOURS[text] ?? 'none', textOf(text));
  const from = client.port === null ? client.address : `${client.address} port ${client.port}`;
  const rows = steps.map((step) => {
    const { step: name, verdict: said, matched, decided, ...more } = step;
    const cells = [decided ? '=>' : '', name, coloured(said), textOf(matched), detailsOf(more)];
    return decided ? cells.map((cell) => terminal.style('bold', cell)) : cells;
  });
  const facts = [
    ['client', textOf(from)],
    ['domain', `${textOf(domain)} ${textOf(type)}`],
    ['at', `${textOf(at)}, revision ${revision}`],
    ['subscriber', subscriberOf(explanation)],
    ['profile', profileOf(explanation)],
  ];
  const results = [
    ...(target === null
      ? []
      : [['target', `${textOf(target)}, which its answer leads to, decided`]]),
    ['verdict', terminal.style('bold', coloured(verdict))],
    ['answer', answerOf(explanation)],
    ['since', sinceOf(explanation)],
    ['flip', flipOf(explanation)],
  ];
  return [
    ...table(facts, 2),
    '',
    ...table([['', 'step', 'says', 'matched', ''], ...rows], 5),
    '',
    ...table(results, 2),
  ];
}

function detailsOf(more: object): string {
  const given = Object.entries<unknown>(more as Record<string, unknown>).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return given.map(([name, value]) => `${name} ${textOf(value)}`).join(', ');
}

function subscriberOf({ subscriber }: ExplanationDto): string {
  if (subscriber === null) return 'none';
  const { kind, ...fields } = subscriber;
  return `${textOf(kind)}: ${detailsOf(fields)}`;
}

function profileOf({ profile }: ExplanationDto): string {
  if (profile === null) return 'none';
  const { id, active_id, schedule, next_switch } = profile;
  const active =
    schedule === null
      ? ''
      : `, by its schedule ${active_id} from ${textOf(schedule.since)} to ${textOf(schedule.until)}`;
  return `${id}${active}${next_switch === null ? '' : `; next switch ${textOf(next_switch)}`}`;
}

function answerOf({ answer, rewrite, targets_judged }: ExplanationDto): string {
  if (answer === null) {
    const from = rewrite === null ? 'from an upstream' : `that of ${textOf(rewrite)} (safe search)`;
    return targets_judged ? `${from}; a target in it may still be denied` : from;
  }
  const { rcode, records, ede } = answer;
  const shown = records.map(({ type, ttl, data }) => `${type} ${data} (${ttl} s)`).join(', ');
  const error = ede === null ? '' : `, EDE ${ede.code}${ede.text === '' ? '' : ` ${ede.text}`}`;
  return textOf(`${rcode} ${shown === '' ? 'without records' : shown}${error}`);
}

function sinceOf({ since }: ExplanationDto): string {
  if (since === null) return '-';
  const { revision, time, token, request_id } = since;
  return `${textOf(time)}, revision ${revision}, token ${textOf(token)}, request ${textOf(request_id)}`;
}

function flipOf({ flip }: ExplanationDto): string {
  if (flip === null) return '-';
  return textOf(
    `${flip.method} ${flip.path} ${flip.body === null ? '' : JSON.stringify(flip.body)}`.trimEnd(),
  );
}
