import type { JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { allows, type Applied, CallError, changeBy, type Schemas, send, session } from '../api.js';
import { ResourceKey } from '../changes-table.js';
import { Button, Failure, InForce, Table } from '../components.js';
import { type Key, number, percent, t } from '../i18n/index.js';
import { hrefOf } from '../router.js';
import { uploadOf } from '../files.js';

type DryRun = Schemas['DryRun'];
type Difference = Schemas['Difference'];
type Sample = Schemas['Samples']['added'][number];

const DIFFERENCES = ['added', 'changed', 'removed'] as const;
const COLUMNS = [...DIFFERENCES, 'unchanged'] as const;
/** The lists of a body of POST /init/, and what the keys of their samples lead to. */
const LISTS = {
  blockpages: 'blockpage',
  profiles: 'profile',
  bw_lists: 'bw_list',
  napts: 'napt',
  nets: 'net',
  nets6: 'net6',
} as const;
type List = keyof typeof LISTS;
const NAMES = Object.keys(LISTS) as List[];

const MESSAGES: Readonly<Record<number, Key>> = { 413: 'init.tooLarge', 422: 'init.invalid' };

interface Work {
  readonly kind: 'checking' | 'applying';
  /** 0 to 1 */
  readonly sent: number;
}

/** What was applied, and the revision that it was compared with. */
interface Outcome {
  readonly change: Applied;
  readonly checkedRevision: number;
}

export function Init(): JSX.Element {
  const [file, setFile] = useState<File | null>(null);
  const [work, setWork] = useState<Work | null>(null);
  const [dryRun, setDryRun] = useState<DryRun | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [error, setError] = useState<unknown>(null);
  const running = useRef<AbortController | null>(null);
  // A replacement goes on when somebody leaves the page; a check does not.
  useEffect(() => () => running.current?.abort(), []);

  const run = async (kind: Work['kind'], sent: File, query: string): Promise<Response | null> => {
    const abort = new AbortController();
    if (kind === 'checking') running.current = abort;
    setError(null);
    setWork({ kind, sent: 0 });
    try {
      const headers = { 'Content-Type': 'application/json' };
      const request = new Request(`/init/${query}`, {
        ...{ method: 'POST', headers, signal: abort.signal },
      });
      return await send(
        request,
        uploadOf(sent, (ratio) => setWork({ kind, sent: ratio })),
      );
    } catch (caught) {
      if (!abort.signal.aborted) setError(caught);
      return null;
    } finally {
      setWork(null);
    }
  };
  const check = async (chosen: File): Promise<void> => {
    setFile(chosen);
    const response = await run('checking', chosen, '?dry_run=true');
    if (response !== null) setDryRun((await response.json()) as DryRun);
  };
  const choose = (chosen: File): void => {
    setDryRun(null);
    setOutcome(null);
    setError(null);
    setWork({ kind: 'checking', sent: 0 });
    copyOf(chosen).then(check, (caught: unknown) => {
      setFile(null);
      setWork(null);
      setError(caught);
    });
  };
  const apply = async (chosen: File, { revision }: DryRun): Promise<void> => {
    const response = await run('applying', chosen, '');
    if (response === null) return;
    const change = await changeBy(Promise.resolve({ response }));
    setDryRun(null);
    setOutcome({ change, checkedRevision: revision });
  };
  const canRetry = file !== null && dryRun === null && error instanceof CallError;
  return (
    <>
      <p>{t('init.about')}</p>
      <Chooser isBusy={work !== null} onFile={choose} />
      <Progress work={work} file={file} stop={() => running.current?.abort()} />
      <Failure
        error={error}
        messages={MESSAGES}
        retry={canRetry ? () => void check(file) : undefined}
      />
      {outcome !== null && <Done outcome={outcome} file={file?.name ?? ''} />}
      {dryRun !== null && file !== null && (
        <Comparison
          dryRun={dryRun}
          file={file.name}
          isBusy={work !== null}
          apply={() => void apply(file, dryRun)}
        />
      )}
    </>
  );
}

/**
 * What is in a file now: what is applied later is what was checked, also when the file has been written meanwhile.
 * @throws Error when it cannot be read
 */
async function copyOf(file: File): Promise<File> {
  try {
    return new File([await file.arrayBuffer()], file.name);
  } catch {
    throw new Error(t('init.unreadable', { file: file.name }));
  }
}

interface ChooserProperties {
  readonly isBusy: boolean;
  readonly onFile: (file: File) => void;
}

/** Takes a file that is dropped anywhere on the page: beside a small area, the browser would open it. */
function Chooser({ isBusy, onFile }: ChooserProperties): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const [isRefused, setRefused] = useState(false);
  const take = (files: FileList | null | undefined): void => {
    if (isBusy) return;
    const isOne = files?.length === 1;
    setRefused(!isOne);
    if (isOne) onFile(files[0]);
  };
  // The browser opens a file that is dropped before there are listeners.
  useLayoutEffect(() => {
    const over = (event: DragEvent): void => {
      event.preventDefault();
      setOver(true);
    };
    const leave = ({ relatedTarget }: DragEvent): void => setOver(relatedTarget !== null);
    const drop = (event: DragEvent): void => {
      event.preventDefault();
      setOver(false);
      take(event.dataTransfer?.files);
    };
    const listeners = new AbortController();
    const { signal } = listeners;
    document.addEventListener('dragover', over, { signal });
    document.addEventListener('dragleave', leave, { signal });
    document.addEventListener('drop', drop, { signal });
    return () => listeners.abort();
  });
  return (
    <section class={`card drop ${isOver ? 'over' : ''}`}>
      <p>{t('init.drop')}</p>
      <Button class="main" isOff={isBusy} onClick={() => input.current?.click()}>
        {t('init.choose')}
      </Button>
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        hidden
        onChange={({ currentTarget }) => {
          if (currentTarget.files?.length === 1) take(currentTarget.files);
          // The same file can be chosen again.
          currentTarget.value = '';
        }}
      />
      <div role="status">{isRefused && <p>{t('init.oneFile')}</p>}</div>
    </section>
  );
}

interface ProgressProperties {
  readonly work: Work | null;
  readonly file: File | null;
  readonly stop: () => void;
}

/** How much was sent. After that nobody knows how much is left. */
function Progress({ work, file, stop }: ProgressProperties): JSX.Element {
  const id = useId();
  const isSending = work !== null && work.sent < 1;
  const text =
    work && t(isSending ? 'init.sending' : `init.${work.kind}`, { file: file?.name ?? '' });
  return (
    <>
      <p role="status" id={id}>
        {text}
      </p>
      {work !== null && (
        <p class="row progress">
          <progress key={isSending} aria-labelledby={id} {...(isSending && { value: work.sent })} />
          {isSending && <span>{percent(work.sent)}</span>}
          {work.kind === 'checking' && (
            <button type="button" onClick={stop}>
              {t('init.stop')}
            </button>
          )}
        </p>
      )}
    </>
  );
}

function Done({ outcome, file }: { outcome: Outcome; file: string }): JSX.Element {
  const { change, checkedRevision } = outcome;
  const isNext = change.revision === checkedRevision + 1;
  return (
    <section>
      <h2>{t('init.done', { file })}</h2>
      <InForce change={change} />
      {!isNext && (
        <p class="notice doubtful">
          {t('init.others', {
            checked: number(checkedRevision),
            revision: number(change.revision),
          })}
        </p>
      )}
      <p>
        <a href={hrefOf('changes', { token: session.value?.name })}>{t('init.changes')}</a>
      </p>
    </section>
  );
}

interface ComparisonProperties {
  readonly dryRun: DryRun;
  readonly file: string;
  readonly isBusy: boolean;
  readonly apply: () => void;
}

function Comparison({ dryRun, file, isBusy, apply }: ComparisonProperties): JSX.Element {
  const { resources, revision, subscribers_affected: affected } = dryRun;
  const isSame = NAMES.every((name) => DIFFERENCES.every((kind) => resources[name][kind] === 0));
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <section>
      <h2>{t('init.comparison', { file })}</h2>
      <p role="status" class={`notice ${isSame ? 'good' : 'doubtful'}`}>
        {t(isSame ? 'init.same' : 'init.affected', {
          count: number(affected),
          revision: number(revision),
        })}
      </p>
      <Table
        caption={t('init.byResource')}
        wraps
        head={[t('init.resource'), ...COLUMNS.map((one) => [t(`init.${one}`)] as const)]}
      >
        {NAMES.map((name) => (
          <tr key={name}>
            <th scope="row">{t(`init.list.${name}`)}</th>
            {COLUMNS.map((kind) => {
              const count = resources[name][kind];
              const isLoss = kind === 'removed' && count > 0;
              return <td class={`number ${isLoss ? 'bad' : ''}`}>{number(count)}</td>;
            })}
          </tr>
        ))}
      </Table>
      {NAMES.flatMap((name) =>
        DIFFERENCES.filter((kind) => resources[name][kind] > 0).map((kind) => (
          <Samples key={`${name} ${kind}`} name={name} kind={kind} difference={resources[name]} />
        )),
      )}
      <p class="quiet">{t('common.hash')}</p>
      {!isSame && !allows('replace') && <p>{t('init.needsReplace')}</p>}
      {!isSame && allows('replace') && (
        <>
          <Button class="main" isOff={isBusy} onClick={() => dialog.current?.showModal()}>
            {t('init.apply')}
          </Button>
          <dialog ref={dialog} aria-labelledby="init-confirm">
            <Confirmation
              dryRun={dryRun}
              close={() => dialog.current?.close()}
              apply={() => {
                dialog.current?.close();
                apply();
              }}
            />
          </dialog>
        </>
      )}
    </section>
  );
}

interface SamplesProperties {
  readonly name: List;
  readonly kind: (typeof DIFFERENCES)[number];
  readonly difference: Difference;
}

function Samples({ name, kind, difference }: SamplesProperties): JSX.Element {
  const samples = difference.samples[kind];
  const texts = { list: t(`init.list.${name}`), kind: t(`init.${kind}`) };
  return (
    <details>
      <summary>{t('init.samples', { ...texts, count: number(difference[kind]) })}</summary>
      {samples.length < difference[kind] && (
        <p>{t('init.someOf', { shown: samples.length, all: number(difference[kind]) })}</p>
      )}
      <ul class="plain wide">
        {samples.map((sample) => (
          <li>
            {/* What is added has no page yet. */}
            {kind === 'added' ? (
              textOf(sample)
            ) : (
              <ResourceKey resource={LISTS[name]} value={sample} />
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

function textOf(sample: Sample): string {
  if (typeof sample !== 'object') return String(sample);
  const { profile_id: id, domain_hash: hash } = sample;
  return `${t('common.profile', { id })} ${t('common.hashOf', { hash })}`;
}

interface ConfirmationProperties {
  readonly dryRun: DryRun;
  readonly close: () => void;
  readonly apply: () => void;
}

/** Says what is lost before anything is. The first button does nothing. */
function Confirmation({ dryRun, close, apply }: ConfirmationProperties): JSX.Element {
  const losses = NAMES.flatMap((name) => {
    const { removed, changed, unchanged } = dryRun.resources[name];
    return removed > 0 ? [{ name, removed, stored: removed + changed + unchanged }] : [];
  });
  return (
    <>
      <h2 id="init-confirm">{t('init.confirm')}</h2>
      {losses.length === 0 ? (
        <p>{t('init.deletesNothing')}</p>
      ) : (
        <div class="notice bad">
          <p>{t('init.deletes')}</p>
          <ul>
            {losses.map(({ name, removed, stored }) => (
              <li>
                {t(removed === stored ? 'init.deletesAll' : 'init.deletesSome', {
                  list: t(`init.list.${name}`),
                  removed: number(removed),
                  stored: number(stored),
                })}
              </li>
            ))}
          </ul>
        </div>
      )}
      <p>{t('init.also', { revision: number(dryRun.revision) })}</p>
      <p class="row">
        <button type="button" onClick={close}>
          {t('common.cancel')}
        </button>
        <button type="button" class="main" onClick={apply}>
          {t('init.now')}
        </button>
      </p>
    </>
  );
}
